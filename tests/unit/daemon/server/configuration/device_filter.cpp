// --devices: which devices of the node are served.
#include "daemon/server/configuration/device_filter.hpp"

#include <gtest/gtest.h>

#include "daemon/server/configuration/config_error.hpp"

namespace clique::daemon {
namespace {

constexpr std::uint64_t kCpu = 2;
constexpr std::uint64_t kGpu = 4;

const std::vector<ListedPlatform> kNode{
    {PlatformKind::OpenCl, 0, "PoCL", {{"pthread-EPYC", kCpu}}},
    {PlatformKind::OpenCl, 2, "Vendor", {{"Fast GPU 9000", kGpu}, {"Slow GPU 100", kGpu}}},
};

std::string selection(const std::string& spec) {
  std::string result;
  for (const SelectedPlatform& platform : select_devices(spec, kNode)) {
    result += std::to_string(platform.index) + ":";
    for (const auto device : platform.devices) result += std::to_string(device);
    result += " ";
  }
  return result;
}

TEST(DeviceFilter, GivenNothingThenProcessorsAreServedOnlyWhereThereIsNothingElse) {
  EXPECT_EQ(selection(""), "2:01 ");
  const auto served = select_devices("", {kNode[0]});
  ASSERT_EQ(served.size(), 1U);
  EXPECT_EQ(served[0].devices.size(), 1U);
  EXPECT_TRUE(select_devices("", {}).empty());
}

TEST(DeviceFilter, GivenAllThenAllAreServed) {
  EXPECT_EQ(selection("all"), "0:0 2:01 ");
  EXPECT_EQ(selection("All,cpu"), "0:0 2:01 ");
}

TEST(DeviceFilter, GivenIndicesThenTheyCountThroughTheNode) {
  EXPECT_EQ(selection("0"), "0:0 ");
  EXPECT_EQ(selection("2"), "2:1 ");
  EXPECT_EQ(selection("2,0"), "0:0 2:1 ");
}

TEST(DeviceFilter, GivenTypesAndNamesInAnyCaseThenTheySelect) {
  EXPECT_EQ(selection("GPU"), "2:01 ");
  EXPECT_EQ(selection("cpu"), "0:0 ");
  EXPECT_EQ(selection("fast gpu"), "2:0 ");
  EXPECT_EQ(selection(" epyc , slow"), "0:0 2:1 ");
  EXPECT_EQ(selection("gpu,gpu,1"), "2:01 ");
}

TEST(DeviceFilter, GivenNumberThenItIsAnIndexAndNoPartOfAName) {
  EXPECT_THROW(selection("9000"), ConfigError);
  EXPECT_THROW(selection("3"), ConfigError);
}

TEST(DeviceFilter, GivenWhatDoesNotExistThenTheErrorListsWhatThereIs) {
  try {
    selection("gpu,tpu");
    FAIL();
  } catch (const ConfigError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("'tpu'"), std::string::npos);
    EXPECT_NE(text.find("2  gpu  Slow GPU 100 (Vendor)"), std::string::npos) << text;
  }
  EXPECT_THROW(selection("accelerator"), ConfigError);
  EXPECT_THROW(selection("gpu,"), ConfigError);
  EXPECT_THROW(selection(","), ConfigError);
}

TEST(DeviceFilter, GivenSeveralGpusThenEachKeepsItsBackend) {
  const std::vector<ListedPlatform> node{{PlatformKind::Cuda, 0, "CUDA", {{"GPU", kGpu}}},
                                         {PlatformKind::Cuda, 1, "CUDA", {{"GPU", kGpu}}},
                                         {PlatformKind::OpenCl, 0, "PoCL", {{"pthread-EPYC", kCpu}}}};
  const auto second = select_devices("1", node);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].kind, PlatformKind::Cuda);
  EXPECT_EQ(second[0].index, 1U);
  EXPECT_EQ(select_devices("gpu", node).size(), 2U);
  EXPECT_EQ(select_devices("cpu", node).at(0).kind, PlatformKind::OpenCl);
}

}  // namespace
}  // namespace clique::daemon
