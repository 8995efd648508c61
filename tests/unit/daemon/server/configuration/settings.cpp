// The settings of cliqued and their configuration file: which values are accepted, and what errors say.
#include "daemon/server/configuration/settings.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

namespace clique::daemon {
namespace {

using std::chrono::seconds;

constexpr std::uint64_t kWeek = 7ULL * 24 * 3600;

/// What `action` throws; empty, with a failure, when it throws nothing.
template <typename Error>
std::string error_of(const std::function<void()>& action, const std::string& input) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "was accepted: " << input;
  return {};
}

class SettingsFile : public testing::Test {
 protected:
  ~SettingsFile() override { std::filesystem::remove(path_); }
  Settings read(const std::string& text) const {
    std::ofstream(path_) << text;
    return make_settings(read_settings_file(path_));
  }
  std::string error(const std::string& text) const {
    return error_of<ConfigError>([&] { read(text); }, text);
  }
  const std::string path_ =
      std::filesystem::temp_directory_path() / ("clique-settings-" + std::to_string(::getpid()) + ".toml");
};

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(SettingsFile, GivenUnderscoresThenTheyStandForHyphens) {
  EXPECT_EQ(read("drain_timeout = 7").drain_timeout, seconds(7));
  EXPECT_CONTAINS(error("drain_timeout = 7\ndrain-timeout = 7"), "drain-timeout is given twice");
}

TEST_F(SettingsFile, GivenMisspeltKeyThenTheErrorNamesTheOneThatWasMeant) {
  EXPECT_CONTAINS(error("\ndrain_timeot = 7"),
                  "line 2: unknown key 'drain_timeot'; did you mean drain-timeout?");
  EXPECT_CONTAINS(error("colour = 7"), "unknown key 'colour'; the keys are listen, ");
}

TEST_F(SettingsFile, GivenEveryKeyThenItIsSet) {
  const Settings settings = read(R"(
    listen = "10.0.0.1:7000"   # comment
    identity = "/etc/node"
    authorized-clients = "/etc/clients"
    local-users = "0,*"
    encryption = "none"
    insecure = true
    devices = "gpu,2"
    file-roots = ["read:/data", "write:/scratch"]
    name = "node1"
    advertise = "node1.example"
    worker-ports = "7900-7999"
    kernel-timeout = 30
    drain-timeout = 5
    resume-timeout = 6
    sessions = 3
    session-memory = "8G"
    nvidia = "opencl"
    log-level = "debug"
  )");
  EXPECT_EQ(settings.listen.endpoint(), "tcp://10.0.0.1:7000");
  EXPECT_EQ(settings.identity, "/etc/node");
  EXPECT_EQ(settings.access.authorized_clients, "/etc/clients");
  EXPECT_EQ(settings.access.local_users, std::set<uid_t>{0});
  EXPECT_TRUE(settings.access.all_local_users);
  EXPECT_EQ(settings.encryption, protocol::Encryption::None);
  EXPECT_TRUE(settings.access.insecure);
  EXPECT_EQ(settings.devices, "gpu,2");
  EXPECT_EQ(settings.access.files.text(), "read:/data,write:/scratch");
  EXPECT_EQ(settings.name, "node1");
  EXPECT_EQ(settings.advertise, "node1.example");
  EXPECT_EQ(settings.session.ports, (PortRange{7900, 7999}));
  EXPECT_EQ(settings.session.kernel_timeout, seconds(30));
  EXPECT_EQ(settings.drain_timeout, seconds(5));
  EXPECT_EQ(settings.session.resume_timeout, seconds(6));
  EXPECT_EQ(settings.sessions, 3U);
  EXPECT_EQ(settings.session.memory, 8ULL << 30U);
  EXPECT_EQ(settings.nvidia, NvidiaDriver::OpenCl);
  EXPECT_EQ(settings.log.level, "debug");
}

TEST_F(SettingsFile, GivenNothingThenTheDefaultsAreSet) {
  const Settings settings = read("");
  EXPECT_EQ(settings.listen.endpoint(), "tcp://127.0.0.1:7890");
  EXPECT_FALSE(settings.access.insecure);
  EXPECT_FALSE(settings.access.all_local_users);
  EXPECT_EQ(settings.encryption, protocol::Encryption::None) << "on the loopback address";
  EXPECT_EQ(settings.devices, "");
  EXPECT_TRUE(settings.access.files.empty());
  EXPECT_FALSE(settings.name.empty()) << "the host's name";
  EXPECT_EQ(settings.advertise, "");
  EXPECT_TRUE(settings.session.ports.none());
  EXPECT_EQ(settings.session.kernel_timeout, seconds(0));
  EXPECT_EQ(settings.drain_timeout, seconds(30));
  EXPECT_EQ(settings.session.resume_timeout, seconds(30));
  EXPECT_EQ(settings.sessions, 0U);
  EXPECT_EQ(settings.session.memory, 0U);
  EXPECT_EQ(settings.nvidia, NvidiaDriver::Cuda);
  EXPECT_EQ(settings.log.level, "info");
}

TEST_F(SettingsFile, GivenWaysToKnowClientsThenTheyAreTheOnlyOnes) {
  const auto access = [this](const std::string& text) { return read(text).access; };
  EXPECT_TRUE(access("").keys);
  EXPECT_EQ(access("").munge, std::nullopt);
  EXPECT_FALSE(access("auth = \"munge\"").keys);
  EXPECT_EQ(access("auth = \"munge\"").munge, "");
  EXPECT_TRUE(access("auth = [\"keys\", \"munge:/some/socket\"]").keys);
  EXPECT_EQ(access("auth = [\"keys\", \"munge:/some/socket\"]").munge, "/some/socket");
  for (const std::string wrong : {"kerberos", "munge:", "mungee", "Keys"})
    EXPECT_CONTAINS(error("auth = \"" + wrong + "\""), "'" + wrong + "' is not a kind of authentication");
}

TEST_F(SettingsFile, GivenWrongFolderForFilesThenTheErrorNamesIt) {
  EXPECT_CONTAINS(error("file-roots = \"/data\""),
                  "file-roots: '/data' is not a folder for files; write read:");
}

TEST_F(SettingsFile, GivenWhenToUseCuFileThenItIsSet) {
  const auto cufile = [this](const std::string& text) { return read(text).session.cufile; };
  EXPECT_EQ(cufile(""), CuFileUse::Auto);
  EXPECT_EQ(cufile("cufile = \"auto\""), CuFileUse::Auto);
  EXPECT_EQ(cufile("cufile = \"always\""), CuFileUse::Always);
  EXPECT_EQ(cufile("cufile = \"never\""), CuFileUse::Never);
  EXPECT_CONTAINS(error("cufile = \"on\""),
                  "cufile: 'on' does not say when to use cuFile; write auto, always");
}

TEST_F(SettingsFile, GivenUsersThenTheyExist) {
  EXPECT_EQ(read("local-users = [\"root\", 12345]").access.local_users, (std::set<uid_t>{0, 12345}));
  EXPECT_CONTAINS(error("local-users = \"no-such-user\""), "'no-such-user' is not a user of this host");
  EXPECT_CONTAINS(error("local-users = \"root,-1\""), "'-1'");
}

TEST_F(SettingsFile, GivenNoEncryptionThenTheAddressDecides) {
  EXPECT_EQ(read("listen = \"127.0.0.1:0\"").encryption, protocol::Encryption::None);
  EXPECT_EQ(read("listen = \"[::1]:0\"").encryption, protocol::Encryption::None);
  EXPECT_EQ(read("listen = \"0.0.0.0:0\"").encryption, protocol::Encryption::All);
  EXPECT_EQ(read("listen = \"10.0.0.1:0\"").encryption, protocol::Encryption::All);
  EXPECT_EQ(read("listen = \"127.0.0.1:0\"\nencryption = \"all\"").encryption, protocol::Encryption::All);
  EXPECT_EQ(read("encryption = \"commands\"").encryption, protocol::Encryption::Commands);
  EXPECT_CONTAINS(error("encryption = \"some\""), "write all, commands or none");
}

TEST_F(SettingsFile, GivenTimesThenUpToAWeekIsAccepted) {
  for (const std::string key : {"kernel-timeout", "drain-timeout", "resume-timeout"}) {
    EXPECT_NO_THROW(read(key + " = 0")) << key;
    EXPECT_NO_THROW(read(key + " = " + std::to_string(kWeek))) << key;
    EXPECT_CONTAINS(error(key + " = -1"), key + ": '-1'");
    EXPECT_CONTAINS(error(key + " = " + std::to_string(kWeek + 1)), "0 to 604800");
    EXPECT_CONTAINS(error(key + " = 1.5"), "whole number");
    EXPECT_CONTAINS(error(key + " = \"30\""), "without quotation marks");
  }
}

TEST_F(SettingsFile, GivenNumbersOfSessionsThenTheyAreReadOrRefused) {
  EXPECT_EQ(read("sessions = 0").sessions, 0U);
  EXPECT_CONTAINS(error("sessions = \"3\""), "sessions: the value has to be a whole number");
  EXPECT_CONTAINS(error("sessions = -1"), "'-1'");
}

TEST_F(SettingsFile, GivenSharesThenTheyAreReadOrRefused) {
  EXPECT_EQ(read("").access.share, 1U);
  EXPECT_EQ(read("share = 1000").access.share, 1000U);
  EXPECT_CONTAINS(error("share = 0"), "'0' is not a share of a device; write a whole number from 1 to 1000");
  EXPECT_CONTAINS(error("share = 1001"), "'1001'");
  EXPECT_EQ(read("user-shares = [\"root=3\", \"54321=5\"]").access.user_shares,
            (std::map<uid_t, std::uint32_t>{{0, 3}, {54321, 5}}));
  EXPECT_CONTAINS(error("user-shares = \"root\""), "'root' is not the share of a user; write USER=SHARE");
  EXPECT_CONTAINS(error("user-shares = \"root=none\""), "'none' is not a share of a device");
  EXPECT_CONTAINS(error("user-shares = \"no.such.user=1\""), "'no.such.user' is not a user of this host");
}

TEST_F(SettingsFile, GivenAmountsOfMemoryThenTheyAreReadOrRefused) {
  const auto memory = [this](const std::string& text) {
    return read("session-memory = \"" + text + "\"").session.memory;
  };
  EXPECT_EQ(memory(""), 0U);
  EXPECT_EQ(memory("33554432"), 32U << 20U);
  EXPECT_EQ(memory("65536K"), 64U << 20U);
  EXPECT_EQ(memory("64M"), 64U << 20U);
  EXPECT_EQ(memory("3G"), 3ULL << 30U);
  EXPECT_EQ(memory("2T"), 2ULL << 40U);
  for (const std::string wrong : {"0", "8", "31M", "8GB", "G", "-1G", "1.5G", "8 G", "8g", "99999999T"})
    EXPECT_CONTAINS(error("session-memory = \"" + wrong + "\""), "'" + wrong + "'");
  EXPECT_CONTAINS(error("session-memory = 8"), "quotation marks");
}

TEST_F(SettingsFile, GivenDevicesAsAListThenTheyAreTheSameAsWithCommas) {
  EXPECT_EQ(read("devices = [\"gpu\", 3]").devices, "gpu,3");
}

TEST_F(SettingsFile, GivenMistakesThenFileAndLineAndRemedyAreTold) {
  const std::string unknown = error("\nlisten = \"x\"\ncolour = \"y\"\n");
  EXPECT_CONTAINS(unknown, path_ + ", line 3");
  EXPECT_CONTAINS(unknown, "'colour'");
  EXPECT_CONTAINS(unknown, "worker-ports");  // the keys that there are
  EXPECT_CONTAINS(error("\nsessions = -1"), path_ + ", line 2: sessions: ");
  EXPECT_CONTAINS(error("listen = 7890"), "quotation marks");
  EXPECT_CONTAINS(error("insecure = \"yes\""), "true or false");
  EXPECT_CONTAINS(error("devices = [1.5]"), "list of names");
  EXPECT_CONTAINS(error("name = \n"), ", line 1");
  EXPECT_CONTAINS(error("[section]\nname = \"x\""), "'section'");
  EXPECT_CONTAINS(error("log-level = \"loud\""), "'loud'");
  EXPECT_CONTAINS(error("log-format = \"xml\""), "'xml'");
  EXPECT_CONTAINS(error("nvidia = \"vulkan\""), "'vulkan'");
}

TEST_F(SettingsFile, GivenNoFileThenItIsNamed) {
  const std::string path = "/nonexistent/cliqued.toml";
  EXPECT_CONTAINS(error_of<ConfigError>([&] { read_settings_file(path); }, path), path);
}

TEST(SettingsOnTheCommandLine, GivenMistakesThenTheOptionIsNamed) {
  const GivenValues given{{"sessions", {"many", "--sessions"}}};
  EXPECT_CONTAINS(error_of<ConfigError>([&] { make_settings(given); }, "many"), "--sessions: 'many'");
}

TEST(Listen, GivenAddressesThenTheyAreRead) {
  auto address = parse_listen("127.0.0.1:1234");
  EXPECT_EQ(address.address, "127.0.0.1");
  EXPECT_EQ(address.port, 1234);
  EXPECT_TRUE(address.loopback);
  EXPECT_EQ(address.endpoint(), "tcp://127.0.0.1:1234");

  address = parse_listen("[::1]:1234");
  EXPECT_EQ(address.address, "::1");
  EXPECT_TRUE(address.loopback);
  EXPECT_EQ(address.endpoint(), "tcp://[::1]:1234");

  EXPECT_EQ(parse_listen("127.0.0.2").port, 7890);
  EXPECT_TRUE(parse_listen("localhost:1").loopback);
  EXPECT_TRUE(parse_listen(":7").loopback);
  EXPECT_FALSE(parse_listen("0.0.0.0:7").loopback);
  EXPECT_FALSE(parse_listen("*:7").loopback);
  EXPECT_FALSE(parse_listen("[::]:7").loopback);
  EXPECT_FALSE(parse_listen("10.1.2.3").loopback);
}

TEST(Listen, GivenMistakesThenTheyAreRefused) {
  for (const char* wrong :
       {"127.0.0.1:70000", "127.0.0.1:x", "127.0.0.1:", "::1", "[::1", "[::1]7890", "no such host:1"})
    EXPECT_THROW(parse_listen(wrong), std::invalid_argument) << wrong;
}

TEST(Ports, GivenRangesThenTheyAreReadOrRefused) {
  EXPECT_TRUE(parse_ports("none").none());
  EXPECT_TRUE(parse_ports("any").any());
  EXPECT_EQ(parse_ports("7900-7999"), (PortRange{7900, 7999}));
  EXPECT_EQ(to_text(parse_ports("7900-7999")), "7900-7999");
  EXPECT_EQ(to_text(PortRange{}), "none");
  EXPECT_EQ(to_text(kAnyPort), "any");
  for (const char* wrong : {"", "7900", "7999-7900", "0-5", "a-b", "1-70000", "-5"})
    EXPECT_THROW(parse_ports(wrong), std::invalid_argument) << wrong;
}

}  // namespace
}  // namespace clique::daemon
