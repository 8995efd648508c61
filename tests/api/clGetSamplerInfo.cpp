// clGetSamplerInfo: OpenCL 3.0, section 5.7.3.
#include "images.hpp"

namespace clique::test::suite_clGetSamplerInfo {

class clGetSamplerInfo : public ImageTest {
 protected:
  void SetUp() override {
    ImageTest::SetUp();
    if (IsSkipped()) return;
    cl_int err = CL_SUCCESS;
    made = Sampler(clCreateSampler(context, CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR, &err));
    ASSERT_EQ(CL_SUCCESS, err);
  }
  Sampler made;
};

TEST_F(clGetSamplerInfo, GivenSamplerThenWhatItWasMadeWith) {
  EXPECT_EQ(1U, info<cl_uint>(::clGetSamplerInfo, made.get(), CL_SAMPLER_REFERENCE_COUNT));
  EXPECT_EQ(context.get(), info<cl_context>(::clGetSamplerInfo, made.get(), CL_SAMPLER_CONTEXT));
  EXPECT_EQ(cl_bool{CL_TRUE}, info<cl_bool>(::clGetSamplerInfo, made.get(), CL_SAMPLER_NORMALIZED_COORDS));
  EXPECT_EQ(cl_addressing_mode{CL_ADDRESS_REPEAT},
            info<cl_addressing_mode>(::clGetSamplerInfo, made.get(), CL_SAMPLER_ADDRESSING_MODE));
  EXPECT_EQ(cl_filter_mode{CL_FILTER_LINEAR},
            info<cl_filter_mode>(::clGetSamplerInfo, made.get(), CL_SAMPLER_FILTER_MODE));
}

TEST_F(clGetSamplerInfo, GivenSamplerWithoutPropertyListThenEmptyList) {
  size_t size = 1;
  EXPECT_CL(::clGetSamplerInfo(made, CL_SAMPLER_PROPERTIES, 0, nullptr, &size));
  EXPECT_EQ(0U, size);
}

TEST_F(clGetSamplerInfo, GivenNullThenInvalidSampler) {
  cl_uint value = 0;
  EXPECT_EQ(CL_INVALID_SAMPLER,
            ::clGetSamplerInfo(nullptr, CL_SAMPLER_FILTER_MODE, sizeof value, &value, nullptr));
}

TEST_F(clGetSamplerInfo, GivenAnyNameThenSizeAndNameRulesHold) {
  for (const cl_sampler_info name :
       {CL_SAMPLER_REFERENCE_COUNT, CL_SAMPLER_CONTEXT, CL_SAMPLER_NORMALIZED_COORDS,
        CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_FILTER_MODE}) {
    SCOPED_TRACE(name);
    expect_info_rules(::clGetSamplerInfo, made.get(), name);
  }
}

}  // namespace clique::test::suite_clGetSamplerInfo
