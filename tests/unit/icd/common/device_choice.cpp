#include <gtest/gtest.h>

#include "icd/common/device_choice.hpp"

namespace clique::icd {
namespace {

using Positions = std::vector<std::size_t>;

class DeviceChoiceTest : public ::testing::Test {
 protected:
  Positions chosen(std::string_view choice) const { return choose_devices(kDevices, choice).positions; }

  const std::vector<DeviceNames> kDevices = {{"NVIDIA H200", "alpha", "0a000000-0000-0000-0000-000000000001"},
                                             {"NVIDIA H200", "beta", "0a000000-0000-0000-0000-000000000002"},
                                             {"pthread-AMD EPYC", "beta"},
                                             {"gfx90a:1", "gamma"}};
};

TEST_F(DeviceChoiceTest, PositionsFilterAndOrder) {
  EXPECT_EQ((Positions{2, 0}), chosen("2,0"));
  EXPECT_EQ((Positions{3}), chosen(" 3 "));
}

TEST_F(DeviceChoiceTest, PartsOfNamesStandForAllThatMatch) {
  EXPECT_EQ((Positions{0, 1}), chosen("h200"));
  EXPECT_EQ((Positions{2}), chosen("EPYC"));
  EXPECT_EQ((Positions{1, 2}), chosen("BETA"));
  EXPECT_EQ((Positions{3, 0, 1}), chosen("gamma,nvidia"));
}

TEST_F(DeviceChoiceTest, NumbersArePositionsEvenWhereNamesHaveThem) {
  EXPECT_EQ((Positions{1}), chosen("1"));
  EXPECT_EQ((Positions{}), chosen("200"));
}

TEST_F(DeviceChoiceTest, UuidsAreNotDivided) {
  EXPECT_EQ((Positions{1}), chosen("0A000000-0000-0000-0000-000000000002"));
  EXPECT_EQ((Positions{}), chosen("0a000000-"));
}

TEST_F(DeviceChoiceTest, DevicesAreChosenOnce) {
  EXPECT_EQ((Positions{1, 0, 2}), chosen("1,h200,beta,1"));
}

TEST_F(DeviceChoiceTest, EmptyEntriesAreNothing) {
  EXPECT_EQ((Positions{0}), chosen(",, 0 ,"));
}

TEST_F(DeviceChoiceTest, EntriesWithoutMatchAreTold) {
  const DeviceChoice choice = choose_devices(kDevices, "delta, 4,99999999999999999999999,0");
  EXPECT_EQ((Positions{0}), choice.positions);
  EXPECT_EQ((std::vector<std::string>{"delta", "4", "99999999999999999999999"}), choice.unmatched);
}

TEST_F(DeviceChoiceTest, IdleCountsAmongTheOthers) {
  const auto counted = [&](std::string_view choice) { return choose_devices(kDevices, choice).idle; };
  EXPECT_EQ(counted("alpha"), std::nullopt);
  EXPECT_EQ(counted("idle"), 1U);
  EXPECT_EQ(counted("IDLE:12"), 12U);
  EXPECT_EQ(counted("h200,idle:2"), 2U);
  EXPECT_EQ((Positions{0, 1, 2, 3}), chosen("idle"));
  EXPECT_EQ((Positions{0, 1}), chosen("idle:2,h200"));
  for (const char* wrong : {"idle:0", "idle:", "idle:x", "idle:1x", "idle:-1", "idle:99999999999999999999"})
    EXPECT_EQ(choose_devices(kDevices, wrong).unmatched, std::vector<std::string>{wrong});
}

}  // namespace
}  // namespace clique::icd
