// clGetExtensionFunctionAddressForPlatform: OpenCL 3.0, section 9.2.
#include "helpers.hpp"
#include "loader.hpp"

namespace clique::test::suite_clGetExtensionFunctionAddressForPlatform {

class clGetExtensionFunctionAddressForPlatform : public ApiTest {};

TEST_F(clGetExtensionFunctionAddressForPlatform, GivenReportedExtensionThenItsFunctionsAreFound) {
  const std::pair<const char*, const char*> functions[] = {
      {"cl_khr_icd", "clIcdGetPlatformIDsKHR"},
      {"cl_pocl_content_size", "clSetContentSizeBufferPoCL"},
      {"cl_clique_file", "clEnqueueReadFileCLIQUE"},
      {"cl_amd_liquid_flash", "clEnqueueReadSsgFileAMD"},
      {"cl_khr_il_program", "clCreateProgramWithILKHR"},
      {"cl_khr_create_command_queue", "clCreateCommandQueueWithPropertiesKHR"},
      {"cl_khr_terminate_context", "clTerminateContextKHR"},
      {"cl_khr_suggested_local_work_size", "clGetKernelSuggestedLocalWorkSizeKHR"},
      {"cl_khr_command_buffer", "clCreateCommandBufferKHR"},
      {"cl_khr_semaphore", "clCreateSemaphoreWithPropertiesKHR"},
      {"cl_intel_unified_shared_memory", "clHostMemAllocINTEL"},
      {"cl_ext_device_fission", "clCreateSubDevicesEXT"},
  };
  const std::string extensions =
      " " + info<std::string>(clGetPlatformInfo, platform(), CL_PLATFORM_EXTENSIONS) + " ";
  for (const auto& [extension, function] : functions) {
    if (extensions.find(std::string(" ") + extension + " ") == std::string::npos) continue;
    if (extension == std::string("cl_khr_icd") && !loader_shows_icd_functions()) continue;
    EXPECT_NE(nullptr, ::clGetExtensionFunctionAddressForPlatform(platform(), function)) << function;
  }
}

TEST_F(clGetExtensionFunctionAddressForPlatform, GivenUnknownNameThenNull) {
  EXPECT_EQ(nullptr, ::clGetExtensionFunctionAddressForPlatform(platform(), "clSurelyNoSuchFunctionKHR"));
  EXPECT_EQ(nullptr, ::clGetExtensionFunctionAddressForPlatform(platform(), ""));
}

TEST_F(clGetExtensionFunctionAddressForPlatform, GivenNoNameThenNull) {
  EXPECT_EQ(nullptr, ::clGetExtensionFunctionAddressForPlatform(platform(), nullptr));
}

}  // namespace clique::test::suite_clGetExtensionFunctionAddressForPlatform
