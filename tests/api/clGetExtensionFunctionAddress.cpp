// clGetExtensionFunctionAddress: OpenCL 3.0, deprecated entry points (OpenCL 1.1, section 9.2).
#include "helpers.hpp"

namespace clique::test::suite_clGetExtensionFunctionAddress {

class clGetExtensionFunctionAddress : public ApiTest {};

TEST_F(clGetExtensionFunctionAddress, GivenUnknownNameThenNull) {
  EXPECT_EQ(nullptr, ::clGetExtensionFunctionAddress("clSurelyNoSuchFunctionKHR"));
  // The loader selects the platform by the suffix of the name.
  const auto suffix = info<std::string>(clGetPlatformInfo, platform(), CL_PLATFORM_ICD_SUFFIX_KHR);
  EXPECT_EQ(nullptr, ::clGetExtensionFunctionAddress(("clSurelyNoSuchFunction" + suffix).c_str()));
}

}  // namespace clique::test::suite_clGetExtensionFunctionAddress
