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

}  // namespace
}  // namespace clique::icd
