// clGetContextInfo: OpenCL 3.0, section 4.4.
#include "checks.hpp"

namespace clique::test::suite_clGetContextInfo {

class clGetContextInfo : public ApiTest {};

TEST_F(clGetContextInfo, GivenContextThenItsDevices) {
  EXPECT_EQ(devices().size(), info<cl_uint>(::clGetContextInfo, context.get(), CL_CONTEXT_NUM_DEVICES));
  EXPECT_EQ(devices(),
            info<std::vector<cl_device_id>>(::clGetContextInfo, context.get(), CL_CONTEXT_DEVICES));
}

TEST_F(clGetContextInfo, GivenNoPropertiesThenNothingIsReturned) {
  size_t size = 1;
  ASSERT_CL(::clGetContextInfo(context, CL_CONTEXT_PROPERTIES, 0, nullptr, &size));
  EXPECT_EQ(0U, size);
}

TEST_F(clGetContextInfo, GivenPropertiesThenTheyAreReturnedAsGiven) {
  const std::vector<cl_context_properties> properties = {
      CL_CONTEXT_INTEROP_USER_SYNC, CL_FALSE, CL_CONTEXT_PLATFORM,
      reinterpret_cast<cl_context_properties>(platform()), 0};
  cl_int err = CL_SUCCESS;
  const Context made(clCreateContext(properties.data(), 1, &device, nullptr, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(properties,
            info<std::vector<cl_context_properties>>(::clGetContextInfo, made.get(), CL_CONTEXT_PROPERTIES));
}

TEST_F(clGetContextInfo, GivenReferencesThenTheirCount) {
  const Context other = another_context();
  EXPECT_EQ(1U, info<cl_uint>(::clGetContextInfo, other.get(), CL_CONTEXT_REFERENCE_COUNT));
}

TEST_F(clGetContextInfo, GivenAnyNameThenSizeAndNameRulesHold) {
  for (const cl_context_info name :
       {CL_CONTEXT_REFERENCE_COUNT, CL_CONTEXT_NUM_DEVICES, CL_CONTEXT_DEVICES}) {
    SCOPED_TRACE(name);
    expect_info_rules(::clGetContextInfo, context.get(), name);
  }
}

TEST_F(clGetContextInfo, GivenNullThenInvalidContext) {
  cl_uint value = 0;
  EXPECT_EQ(CL_INVALID_CONTEXT,
            ::clGetContextInfo(nullptr, CL_CONTEXT_NUM_DEVICES, sizeof value, &value, nullptr));
}

}  // namespace clique::test::suite_clGetContextInfo
