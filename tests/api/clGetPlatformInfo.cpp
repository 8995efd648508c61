// clGetPlatformInfo: OpenCL 3.0, section 4.1.
#include <cstdio>
#include <set>
#include <sstream>

#include "checks.hpp"

namespace clique::test::suite_clGetPlatformInfo {

class clGetPlatformInfo : public ApiTest {
 protected:
  static std::set<std::string> words(const std::string& text) {
    std::istringstream in(text);
    std::set<std::string> result;
    for (std::string word; in >> word;) result.insert(word);
    return result;
  }
};

TEST_F(clGetPlatformInfo, GivenAnyNameThenSizeAndNameRulesHold) {
  for (const cl_platform_info name :
       {CL_PLATFORM_PROFILE, CL_PLATFORM_VERSION, CL_PLATFORM_NAME, CL_PLATFORM_VENDOR,
        CL_PLATFORM_EXTENSIONS, CL_PLATFORM_HOST_TIMER_RESOLUTION, CL_PLATFORM_NUMERIC_VERSION,
        CL_PLATFORM_EXTENSIONS_WITH_VERSION, CL_PLATFORM_ICD_SUFFIX_KHR}) {
    SCOPED_TRACE(name);
    expect_info_rules(::clGetPlatformInfo, platform(), name);
  }
}

TEST_F(clGetPlatformInfo, GivenStringNamesThenOneTerminatedString) {
  for (const cl_platform_info name :
       {CL_PLATFORM_PROFILE, CL_PLATFORM_VERSION, CL_PLATFORM_NAME, CL_PLATFORM_VENDOR,
        CL_PLATFORM_EXTENSIONS, CL_PLATFORM_ICD_SUFFIX_KHR}) {
    size_t size = 0;
    ASSERT_CL(::clGetPlatformInfo(platform(), name, 0, nullptr, &size));
    std::vector<char> value(size, 'x');
    ASSERT_CL(::clGetPlatformInfo(platform(), name, size, value.data(), nullptr));
    EXPECT_EQ(size, std::string(value.begin(), value.end()).find('\0') + 1) << name;
  }
}

TEST_F(clGetPlatformInfo, GivenProfileThenFullOrEmbedded) {
  const auto profile = info<std::string>(::clGetPlatformInfo, platform(), CL_PLATFORM_PROFILE);
  EXPECT_TRUE(profile == "FULL_PROFILE" || profile == "EMBEDDED_PROFILE") << profile;
}

TEST_F(clGetPlatformInfo, GivenVersionThenItIsOpenCl3AndEqualsTheNumericVersion) {
  const auto text = info<std::string>(::clGetPlatformInfo, platform(), CL_PLATFORM_VERSION);
  unsigned major = 0;
  unsigned minor = 0;
  ASSERT_EQ(2, std::sscanf(text.c_str(), "OpenCL %u.%u ", &major, &minor)) << text;
  EXPECT_GE(major, 3U);
  EXPECT_NE(std::string::npos, text.find(' ', 7)) << "a space follows the version, as in 'OpenCL 3.0 '";
  const auto number = info<cl_version>(::clGetPlatformInfo, platform(), CL_PLATFORM_NUMERIC_VERSION);
  EXPECT_EQ(major, CL_VERSION_MAJOR(number));
  EXPECT_EQ(minor, CL_VERSION_MINOR(number));
}

TEST_F(clGetPlatformInfo, GivenNamesForPeopleThenNotEmpty) {
  EXPECT_NE("", info<std::string>(::clGetPlatformInfo, platform(), CL_PLATFORM_NAME));
  EXPECT_NE("", info<std::string>(::clGetPlatformInfo, platform(), CL_PLATFORM_VENDOR));
}

TEST_F(clGetPlatformInfo, GivenExtensionsThenIcdIsAmongThemAndSuffixIsGiven) {
  EXPECT_TRUE(
      words(info<std::string>(::clGetPlatformInfo, platform(), CL_PLATFORM_EXTENSIONS)).count("cl_khr_icd"));
  EXPECT_NE("", info<std::string>(::clGetPlatformInfo, platform(), CL_PLATFORM_ICD_SUFFIX_KHR));
}

TEST_F(clGetPlatformInfo, GivenExtensionsWithVersionThenTheSameNames) {
  const auto names = words(info<std::string>(::clGetPlatformInfo, platform(), CL_PLATFORM_EXTENSIONS));
  std::set<std::string> versioned;
  for (const auto& entry : info<std::vector<cl_name_version>>(::clGetPlatformInfo, platform(),
                                                              CL_PLATFORM_EXTENSIONS_WITH_VERSION)) {
    EXPECT_NE(0U, entry.version) << entry.name;
    EXPECT_TRUE(versioned.insert(entry.name).second) << "twice: " << entry.name;
  }
  EXPECT_EQ(names, versioned);
}

TEST_F(clGetPlatformInfo, GivenExtensionOfEveryDeviceThenPlatformReportsIt) {
  auto common = words(info<std::string>(clGetDeviceInfo, devices().front(), CL_DEVICE_EXTENSIONS));
  for (const cl_device_id each : devices()) {
    const auto own = words(info<std::string>(clGetDeviceInfo, each, CL_DEVICE_EXTENSIONS));
    std::erase_if(common, [&](const std::string& name) { return own.count(name) == 0; });
  }
  const auto reported = words(info<std::string>(::clGetPlatformInfo, platform(), CL_PLATFORM_EXTENSIONS));
  for (const auto& name : common) EXPECT_TRUE(reported.count(name)) << name;
}

TEST_F(clGetPlatformInfo, GivenHostTimerResolutionThenNotZeroExactlyWhenHostTimerWorks) {
  const auto resolution = info<cl_ulong>(::clGetPlatformInfo, platform(), CL_PLATFORM_HOST_TIMER_RESOLUTION);
  cl_ulong now = 0;
  EXPECT_EQ(resolution != 0 ? CL_SUCCESS : CL_INVALID_OPERATION, clGetHostTimer(device, &now));
}

}  // namespace clique::test::suite_clGetPlatformInfo
