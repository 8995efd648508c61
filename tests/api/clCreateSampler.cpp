// clCreateSampler: OpenCL 3.0, section 5.7.1 (deprecated).
#include "images.hpp"

namespace clique::test::suite_clCreateSampler {

class clCreateSampler : public ImageTest {
 protected:
  cl_int create(cl_bool normalized, cl_addressing_mode addressing, cl_filter_mode filter) {
    cl_int err = CL_SUCCESS;
    made = Sampler(::clCreateSampler(context, normalized, addressing, filter, &err));
    EXPECT_EQ(err == CL_SUCCESS, made.get() != nullptr) << err;
    return err;
  }
  Sampler made;
};

TEST_F(clCreateSampler, GivenEachValidCombinationThenItIsReported) {
  for (const cl_bool normalized : {CL_FALSE, CL_TRUE}) {
    for (const cl_addressing_mode addressing : {CL_ADDRESS_NONE, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP,
                                                CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT}) {
      // Repeating addressing modes need normalised coordinates.
      if (!normalized && (addressing == CL_ADDRESS_REPEAT || addressing == CL_ADDRESS_MIRRORED_REPEAT))
        continue;
      for (const cl_filter_mode filter : {CL_FILTER_NEAREST, CL_FILTER_LINEAR}) {
        ASSERT_CL(create(normalized, addressing, filter)) << normalized << " " << addressing << " " << filter;
        EXPECT_EQ(normalized, info<cl_bool>(clGetSamplerInfo, made.get(), CL_SAMPLER_NORMALIZED_COORDS));
        EXPECT_EQ(addressing,
                  info<cl_addressing_mode>(clGetSamplerInfo, made.get(), CL_SAMPLER_ADDRESSING_MODE));
        EXPECT_EQ(filter, info<cl_filter_mode>(clGetSamplerInfo, made.get(), CL_SAMPLER_FILTER_MODE));
      }
    }
  }
}

TEST_F(clCreateSampler, GivenBadModesThenInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE, create(CL_TRUE, 0, CL_FILTER_NEAREST));
  EXPECT_EQ(CL_INVALID_VALUE, create(CL_TRUE, CL_FILTER_NEAREST, CL_FILTER_NEAREST));
  EXPECT_EQ(CL_INVALID_VALUE, create(CL_TRUE, CL_ADDRESS_CLAMP, 0));
  EXPECT_EQ(CL_INVALID_VALUE, create(CL_TRUE, CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP));
  EXPECT_EQ(CL_INVALID_VALUE, create(7, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST));
}

TEST_F(clCreateSampler, GivenNullContextThenInvalidContext) {
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateSampler(nullptr, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &err));
  EXPECT_EQ(CL_INVALID_CONTEXT, err);
}

TEST_F(clCreateSampler, GivenNoErrorPointerThenCreated) {
  made = Sampler(::clCreateSampler(context, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, nullptr));
  EXPECT_NE(nullptr, made.get());
}

}  // namespace clique::test::suite_clCreateSampler
