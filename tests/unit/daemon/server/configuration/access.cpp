// Whom the node admits, and what it says to others.
#include "daemon/server/configuration/access.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "daemon/server/configuration/config_error.hpp"

namespace clique::daemon {
namespace {

constexpr uid_t kOther = 54321;
constexpr auto kUse = Access::Purpose::Use;
constexpr auto kOperate = Access::Purpose::Operate;

protocol::PublicKey key_of(std::uint8_t byte) {
  protocol::PublicKey::Bytes bytes{};
  bytes.fill(byte);
  return protocol::PublicKey(bytes);
}

class AccessTest : public testing::Test {
 protected:
  AccessTest() {
    settings.authorized_clients =
        std::filesystem::temp_directory_path() / ("clique-clients-" + std::to_string(::getpid()));
    std::ofstream(settings.authorized_clients)
        << key_of(1).text() << " alice sessions=2 session-memory=64M\n# nobody else\n";
    stranger.address = "10.0.0.1:5000";
    stranger.key = key_of(9);
  }
  ~AccessTest() override { std::filesystem::remove_all(settings.authorized_clients); }

  /// The client as whom the visitor is admitted; otherwise "no: " and the reason.
  std::string decision(const Visitor& visitor) const {
    const auto decided = Access(settings, devices).decide(visitor, kUse, "alpha");
    const auto* permit = std::get_if<Permit>(&decided);
    return permit != nullptr ? permit->client : "no: " + std::get<std::string>(decided);
  }

  /// Which devices of each driver that is served the client of this line may use; "all", or "no: " and the
  /// reason.
  std::string devices_with(const std::string& options) const {
    std::ofstream(settings.authorized_clients) << key_of(1).text() << " alice " << options << "\n";
    Visitor alice = stranger;
    alice.key = key_of(1);
    const auto decided = Access(settings, devices).decide(alice, kUse, "alpha");
    const auto* permit = std::get_if<Permit>(&decided);
    if (permit == nullptr) return "no: " + std::get<std::string>(decided);
    if (!permit->devices) return "all";
    std::string text;
    for (const auto& positions : *permit->devices) {
      for (const auto position : positions) text += std::to_string(position);
      text += "/";
    }
    return text;
  }

  /// The folders whose files the client of this line may use, or "no: " and the reason.
  std::string files_with(const std::string& options) const {
    std::ofstream(settings.authorized_clients) << key_of(1).text() << " alice " << options << "\n";
    Visitor alice = stranger;
    alice.key = key_of(1);
    const auto decided = Access(settings, devices).decide(alice, kUse, "alpha");
    const auto* permit = std::get_if<Permit>(&decided);
    return permit != nullptr ? permit->files.text() : "no: " + std::get<std::string>(decided);
  }

  AccessSettings settings;
  // The second driver is not served, and neither is the first device of the third one.
  NodeDevices devices{{{PlatformKind::Cuda, 0, "NVIDIA", {{"Fast GPU", 4}}},
                       {PlatformKind::OpenCl, 0, "PoCL", {{"EPYC", 2}}},
                       {PlatformKind::OpenCl, 1, "Vendor", {{"One", 4}, {"Two", 4}, {"Three", 8}}}},
                      {{PlatformKind::Cuda, 0, "NVIDIA", {0}}, {PlatformKind::OpenCl, 1, "Vendor", {1, 2}}}};
  Visitor stranger;
};

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(AccessTest, AuthorizedKeysHaveNamesAndLimits) {
  Visitor alice = stranger;
  alice.key = key_of(1);
  const auto decided = Access(settings, devices).decide(alice, kUse, "alpha");
  const auto& permit = std::get<Permit>(decided);
  EXPECT_EQ(permit.client, "alice");
  EXPECT_EQ(permit.sessions, 2U);
  EXPECT_EQ(permit.memory, 64U << 20U);
  settings.keys = false;
  EXPECT_CONTAINS(decision(alice), "no: ");
}

TEST_F(AccessTest, ClientsHaveTheShareOfTheirLineOrOfTheirUserOrThatOfAll) {
  settings.share = 2;
  settings.user_shares = {{kOther, 5}};
  settings.local_users = {kOther, kOther + 1};
  Visitor visitor = stranger;
  const auto share = [&] {
    return std::get<Permit>(Access(settings, devices).decide(visitor, kUse, "alpha")).share;
  };
  visitor.key = key_of(1);
  EXPECT_EQ(share(), 2U);
  visitor.user = kOther;
  EXPECT_EQ(share(), 2U) << "the key comes first";
  visitor.key = stranger.key;
  EXPECT_EQ(share(), 5U);
  visitor.user = kOther + 1;
  EXPECT_EQ(share(), 2U);
  settings.munge = "";
  visitor.user.reset();
  visitor.munge_user = kOther;
  EXPECT_EQ(share(), 5U);
  settings.munge.reset();
  settings.insecure = true;
  EXPECT_EQ(share(), 2U);
  std::ofstream(settings.authorized_clients) << key_of(1).text() << " alice share=7\n";
  visitor.key = key_of(1);
  EXPECT_EQ(share(), 7U);
}

TEST_F(AccessTest, ClientsMayBeLimitedToDevices) {
  EXPECT_EQ(devices_with(""), "all");
  EXPECT_EQ(devices_with("devices=0"), "0//");
  EXPECT_EQ(devices_with("devices=0,4"), "0/1/");
  EXPECT_EQ(devices_with("devices=GPU"), "0/0/");
  EXPECT_EQ(devices_with("devices=t"), "0/01/");
  EXPECT_EQ(devices_with("devices=three,cpu"), "/1/");
  EXPECT_CONTAINS(devices_with("devices=cpu,2"),
                  "no: node alpha serves none of the devices that alice may use");
  EXPECT_CONTAINS(devices_with("devices=0,five"), "is not authorized") << "the line is wrong, and skipped";
  EXPECT_CONTAINS(devices_with("devices=5"), "is not authorized");
  EXPECT_CONTAINS(devices_with("devices="), "is not authorized");
}

TEST_F(AccessTest, ClientsUseFilesOfTheNodesFoldersOnly) {
  EXPECT_EQ(files_with(""), "none");
  EXPECT_EQ(files_with("files=none"), "none");
  EXPECT_CONTAINS(files_with("files=read:/data"), "is not authorized") << "the node offers none";
  settings.files = FileRoots::parse("read:/data,write:/scratch");
  EXPECT_EQ(files_with(""), "read:/data,write:/scratch");
  EXPECT_EQ(files_with("files=none"), "none");
  EXPECT_EQ(files_with("files=read:/data/alice,write:/scratch/alice"),
            "read:/data/alice,write:/scratch/alice");
  EXPECT_EQ(files_with("files=read:/scratch"), "read:/scratch");
  EXPECT_CONTAINS(files_with("files=write:/data"), "is not authorized") << "the line is wrong, and skipped";
  EXPECT_CONTAINS(files_with("files=read:/"), "is not authorized");
  EXPECT_CONTAINS(files_with("files=/data"), "is not authorized");
  EXPECT_CONTAINS(files_with("files="), "is not authorized");
  // Whom the node admits for other reasons gets what the node offers to everybody.
  stranger.user = ::geteuid();
  const auto decided = Access(settings, devices).decide(stranger, kUse, "alpha");
  EXPECT_EQ(std::get<Permit>(decided).files.text(), "read:/data,write:/scratch");
}

TEST_F(AccessTest, StrangersAreToldWhatHelps) {
  const std::string reason = decision(stranger);
  EXPECT_CONTAINS(reason,
                  "no: the client's key " + key_of(9).fingerprint() + " is not authorized on node alpha");
  EXPECT_CONTAINS(reason, "'clique authorize " + key_of(9).text() + " NAME'");
  EXPECT_EQ(reason.find("local-users"), std::string::npos) << "not on this host";
  stranger.user = kOther;
  EXPECT_CONTAINS(decision(stranger), "or its administrator admits user 54321 with the setting local-users");
}

TEST_F(AccessTest, UsersOfThisHostAreAdmittedByTheKernelsWord) {
  stranger.user = ::geteuid();
  EXPECT_CONTAINS(decision(stranger), "user ");
  EXPECT_EQ(decision(stranger).find("no: "), std::string::npos);
  stranger.user = kOther;
  EXPECT_CONTAINS(decision(stranger), "no: ");
  settings.local_users = {kOther};
  EXPECT_EQ(decision(stranger), "user 54321");
  settings.local_users = {kOther + 1};
  EXPECT_CONTAINS(decision(stranger), "no: ");
  settings.all_local_users = true;
  EXPECT_EQ(decision(stranger), "user 54321");
  stranger.user.reset();
  EXPECT_CONTAINS(decision(stranger), "no: ") << "on another host";
}

TEST_F(AccessTest, KeysAreAdministratorsIfTheirLinesSaySo) {
  Visitor alice = stranger;
  alice.key = key_of(1);
  const auto admin = [&] {
    const auto decided = Access(settings, devices).decide(alice, kOperate, "alpha");
    return std::get<Permit>(decided).admin;
  };
  EXPECT_FALSE(admin());
  std::ofstream(settings.authorized_clients) << key_of(1).text() << " alice sessions=2 admin\n";
  EXPECT_TRUE(admin());
}

TEST_F(AccessTest, UsersOfThisHostAreAdministratorsIfTheyAreRootOrTheDaemons) {
  const auto permit = [&](uid_t user, Access::Purpose purpose) {
    stranger.user = user;
    const auto decided = Access(settings, devices).decide(stranger, purpose, "alpha");
    const auto* found = std::get_if<Permit>(&decided);
    return found != nullptr ? std::optional(*found) : std::nullopt;
  };
  EXPECT_TRUE(permit(::geteuid(), kUse)->admin);
  // Root of this host need not be listed to look after the node.
  EXPECT_TRUE(permit(0, kOperate)->admin);
  EXPECT_EQ(permit(0, kUse).has_value(), ::geteuid() == 0);
  EXPECT_FALSE(permit(kOther, kOperate).has_value());
  settings.local_users = {kOther};
  EXPECT_FALSE(permit(kOther, kOperate)->admin);
  // A number that a MUNGE credential of another host names is nobody's here.
  stranger.user.reset();
  stranger.munge_user = 0;
  settings.munge = "";
  const auto decided = Access(settings, devices).decide(stranger, kOperate, "alpha");
  EXPECT_FALSE(std::get<Permit>(decided).admin);
}

TEST_F(AccessTest, CredentialsCountIfTheSettingSaysSo) {
  stranger.munge_user = kOther;
  EXPECT_CONTAINS(decision(stranger), "no: ");
  EXPECT_FALSE(Access(settings, devices).wants_credential(stranger, kUse));
  settings.munge = "";
  EXPECT_EQ(decision(stranger), "munge user 54321");
  EXPECT_TRUE(Access(settings, devices).wants_credential(stranger, kUse));
  stranger.munge_user.reset();
  EXPECT_CONTAINS(decision(stranger), "set CLIQUE_AUTH=munge");
  stranger.munge_failure = "it is too old";
  EXPECT_CONTAINS(decision(stranger), "it is too old");
  // Who is admitted anyway needs none.
  stranger.key = key_of(1);
  EXPECT_FALSE(Access(settings, devices).wants_credential(stranger, kUse));
}

TEST_F(AccessTest, InsecureAdmitsAnybodyByAddress) {
  settings.insecure = true;
  EXPECT_EQ(decision(stranger), "anybody at 10.0.0.1");
  stranger.key = key_of(1);
  EXPECT_EQ(decision(stranger), "alice");
}

TEST_F(AccessTest, AListThatCannotBeReadIsAnErrorAtTheStart) {
  std::filesystem::remove(settings.authorized_clients);
  EXPECT_NO_THROW((Access{settings, devices})) << "a missing one authorizes nobody";
  std::filesystem::create_directory(settings.authorized_clients);
  EXPECT_THROW((Access{settings, devices}), ConfigError);
}

TEST_F(AccessTest, AChangedListIsReadAgain) {
  Access access(settings, devices);
  Visitor bob = stranger;
  bob.key = key_of(2);
  EXPECT_TRUE(std::holds_alternative<std::string>(access.decide(bob, kUse, "alpha")));
  std::ofstream(settings.authorized_clients) << key_of(2).text() << " bob\n";
  std::filesystem::last_write_time(
      settings.authorized_clients,
      std::filesystem::last_write_time(settings.authorized_clients) + std::chrono::seconds(1));
  access.refresh();
  EXPECT_TRUE(std::holds_alternative<Permit>(access.decide(bob, kUse, "alpha")));
  std::filesystem::remove(settings.authorized_clients);
  access.refresh();
  EXPECT_TRUE(std::holds_alternative<std::string>(access.decide(bob, kUse, "alpha")));
}

}  // namespace
}  // namespace clique::daemon
