#include "icd/remote/nodes/selection.hpp"

#include <CL/cl_ext.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <thread>

#include "icd/remote/nodes/resolve.hpp"

namespace clique::icd {
namespace {

using Positions = std::vector<std::size_t>;

protocol::DeviceDescription device(const std::string& name) {
  protocol::Property property{CL_DEVICE_NAME, protocol::Bytes(name.size() + 1)};
  std::memcpy(property.value.data(), name.c_str(), name.size() + 1);
  return {{std::move(property)}, {}};
}

/// What nodes decide, played by the test: two nodes with two devices each.
class SelectionTest : public ::testing::Test {
 protected:
  struct Daemon {
    std::mutex mutex;
    std::vector<protocol::DeviceLoad> loads{{7, 0}, {7, 1}};
    std::vector<protocol::Choice> asked;
    std::vector<std::optional<protocol::Choice>> opened;
    bool answers = true;
  };

  std::vector<std::unique_ptr<Node>> nodes(DeviceUse use = {}, bool knows_load = true) {
    std::vector<std::unique_ptr<Node>> result;
    for (std::size_t i = 0; i < daemons.size(); ++i) {
      Daemon& daemon = daemons[i];
      const auto open = [&daemon](const std::optional<protocol::Choice>& choice, const auto& /*needed*/) {
        daemon.opened.push_back(choice);
        return OpenedSession{{}, {{7, "another session has it"}}};
      };
      const auto reserve = [&daemon](const protocol::Choice& choice) {
        if (!daemon.answers) throw Unreachable("gone");
        const std::lock_guard lock(daemon.mutex);
        daemon.asked.push_back(choice);
        protocol::Loads answer{0, daemon.loads};
        for (const protocol::ChosenDevice& chosen : choice.devices) {
          protocol::DeviceLoad& load = daemon.loads.at(chosen.device);
          if (load.users > chosen.users || load.taken) continue;
          ++load.users;
          answer.devices[chosen.device].reserved = true;
        }
        return answer;
      };
      const std::string name = i == 0 ? "alpha" : "beta";
      result.push_back(std::make_unique<Node>(
          name, std::vector<protocol::Driver>{{7, {device("one of " + name), device("two of " + name)}, "d"}},
          open, [] { return std::set<std::uint32_t>{7}; }, use, std::nullopt,
          knows_load ? Node::Reserve(reserve) : Node::Reserve()));
    }
    return result;
  }

  std::array<Daemon, 2> daemons;
};

TEST_F(SelectionTest, WithoutSettingsNoNodeIsAsked) {
  const auto all = nodes();
  EXPECT_EQ((Positions{0, 1, 2, 3}), select_devices(all, "", true).positions);
  EXPECT_EQ((Positions{3, 0}), select_devices(all, "two of beta,0", true).positions);
  EXPECT_TRUE(daemons[0].asked.empty());
}

TEST_F(SelectionTest, OfIdleDevicesTakesTheLeastLoaded) {
  daemons[0].loads[0].users = 1;
  daemons[0].loads[1].busy = 50;
  daemons[1].loads[0].busy = 10;
  daemons[1].loads[1].taken = true;
  EXPECT_EQ((Positions{2}), select_devices(nodes(), "idle", false).positions);
  EXPECT_EQ((Positions{2, 1, 0, 3}), select_devices(nodes(), "idle:9", false).positions);
  EXPECT_EQ((Positions{2, 1, 0, 3}), select_devices(nodes({false, true}), "", false).positions);
  EXPECT_EQ((Positions{1}), select_devices(nodes(), "idle,alpha", false).positions);
  EXPECT_EQ(daemons[0].loads[1].users, 0U) << "asking reserves nothing";
}

TEST_F(SelectionTest, ReservesWhatItTakes) {
  const auto all = nodes();
  EXPECT_EQ((Positions{0}), select_devices(all, "idle", true).positions);
  EXPECT_EQ((Positions{1, 2}), select_devices(all, "idle:2", true).positions);
  EXPECT_EQ((Positions{3}), select_devices(all, "idle", true).positions);
  EXPECT_NE(daemons[0].asked.front().reservation, 0U);
}

TEST_F(SelectionTest, ProgramsAtTheSameTimeTakeDifferentDevices) {
  const auto all = nodes();
  std::array<Positions, 4> taken;
  std::vector<std::thread> programs;
  for (Positions& one : taken)
    programs.emplace_back([&one, this] { one = select_devices(nodes(), "idle", true).positions; });
  for (std::thread& program : programs) program.join();
  std::set<std::size_t> different;
  for (const Positions& one : taken) different.insert(one.begin(), one.end());
  EXPECT_EQ(different.size(), 4U);
}

TEST_F(SelectionTest, NodesThatDoNotAnswerComeLast) {
  daemons[0].answers = false;
  daemons[1].loads[0].users = 9;
  EXPECT_EQ((Positions{3, 2, 0, 1}), select_devices(nodes({false, true}), "", true).positions);
}

TEST_F(SelectionTest, WhereNobodyKnowsTheLoadTheOrderStays) {
  EXPECT_EQ((Positions{0, 1}), select_devices(nodes({}, false), "idle:2", true).positions);
}

TEST_F(SelectionTest, SessionsAreForTheSelectedDevices) {
  const auto all = nodes({false, false, true});
  select_devices(all, "two of alpha", true);
  EXPECT_THROW(all[0]->link(0), Error);
  ASSERT_EQ(daemons[0].opened.size(), 1U);
  ASSERT_TRUE(daemons[0].opened[0]);
  const protocol::Choice& choice = *daemons[0].opened[0];
  EXPECT_TRUE(choice.exclusive);
  ASSERT_EQ(choice.devices.size(), 1U);
  EXPECT_EQ(choice.devices[0].driver, 7U);
  EXPECT_EQ(choice.devices[0].device, 1U);
  EXPECT_THROW(all[1]->link(0), Error);
  EXPECT_FALSE(daemons[1].opened.at(0)) << "none of its devices was selected";
}

TEST_F(SelectionTest, ReasonsOfWithheldDevicesArePassedOn) {
  const auto all = nodes();
  try {
    all[0]->link(0);
    FAIL() << "there is no worker";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "another session has it");
    EXPECT_EQ(error.status(), CL_DEVICE_NOT_AVAILABLE);
  }
}

TEST_F(SelectionTest, EntriesWithoutMatchAreTold) {
  const Selection selection = select_devices(nodes(), "gamma,idle:0", true);
  ASSERT_EQ(selection.problems.size(), 2U);
  EXPECT_EQ(selection.problems[0], "CLIQUE_DEVICES: none of the 4 devices matches 'gamma'");
  EXPECT_NE(selection.problems[1].find("write idle"), std::string::npos);
  EXPECT_TRUE(selection.positions.empty());
}

}  // namespace
}  // namespace clique::icd
