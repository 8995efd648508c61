// clRetainSampler: OpenCL 3.0, section 5.7.2.
#include "images.hpp"

namespace clique::test::suite_clRetainSampler {

class clRetainSampler : public ImageTest {};

TEST_F(clRetainSampler, GivenSamplerThenReferencesAreCounted) {
  cl_int err = CL_SUCCESS;
  const Sampler made(clCreateSampler(context, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  expect_counted_references(made.get(), ::clRetainSampler, ::clReleaseSampler, clGetSamplerInfo,
                            CL_SAMPLER_REFERENCE_COUNT);
}

TEST_F(clRetainSampler, GivenNullThenInvalidSampler) {
  EXPECT_EQ(CL_INVALID_SAMPLER, ::clRetainSampler(nullptr));
}

}  // namespace clique::test::suite_clRetainSampler
