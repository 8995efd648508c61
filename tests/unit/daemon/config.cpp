// The configuration file and addresses: what is accepted, and what errors say.
#include "daemon/server/config.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace clique::daemon {
namespace {

class ConfigFile : public testing::Test {
 protected:
  ~ConfigFile() override { std::filesystem::remove(path_); }
  Config read(const std::string& text) {
    std::ofstream(path_) << text;
    Config config;
    read_config(path_, config);
    return config;
  }
  std::string error(const std::string& text) {
    try {
      read(text);
    } catch (const ConfigError& error) {
      return error.what();
    }
    ADD_FAILURE() << "was accepted: " << text;
    return {};
  }
  const std::string path_ =
      std::filesystem::temp_directory_path() / ("clique-config-" + std::to_string(::getpid()) + ".toml");
};

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(ConfigFile, GivenEveryKeyThenItIsSet) {
  const Config config = read(R"(
    listen = "10.0.0.1:7000"   # comment
    devices = "gpu,2"
    log-level = "debug"
    advertise = "node1.example"
    name = "node1"
    worker-ports = "7900-7999"
    kernel-timeout = 30
    insecure = true
  )");
  EXPECT_EQ(config.listen, "10.0.0.1:7000");
  EXPECT_EQ(config.devices, "gpu,2");
  EXPECT_EQ(config.log_level, "debug");
  EXPECT_EQ(config.advertise, "node1.example");
  EXPECT_EQ(config.name, "node1");
  EXPECT_EQ(config.worker_ports, "7900-7999");
  EXPECT_EQ(config.kernel_timeout, 30);
  EXPECT_TRUE(config.insecure);
}

TEST_F(ConfigFile, GivenTimesThatNoKernelCanHaveThenTheyAreRefused) {
  EXPECT_CONTAINS(error("kernel-timeout = \"30\""), "whole number of seconds");
  EXPECT_EQ(parse_kernel_timeout(0), std::chrono::seconds(0));
  EXPECT_EQ(parse_kernel_timeout(604800), std::chrono::hours(7 * 24));
  EXPECT_THROW(parse_kernel_timeout(-1), ConfigError);
  EXPECT_THROW(parse_kernel_timeout(604801), ConfigError);
}

TEST_F(ConfigFile, GivenLimitsThenTheyAreUnderstoodOrRefused) {
  const Config config = read("drain-timeout = 5\nsessions = 3\nsession-memory = \"8G\"\n");
  EXPECT_EQ(config.drain_timeout, 5);
  EXPECT_EQ(config.sessions, 3);
  EXPECT_EQ(config.session_memory, "8G");
  EXPECT_CONTAINS(error("sessions = \"3\""), "'sessions' is a whole number, without");
  EXPECT_CONTAINS(error("drain-timeout = 1.5"), "'drain-timeout' is a whole number of seconds");
  EXPECT_CONTAINS(error("session-memory = 8"), "quotation marks");
  EXPECT_EQ(parse_drain_timeout(0), std::chrono::seconds(0));
  EXPECT_THROW(parse_drain_timeout(-1), ConfigError);
  EXPECT_THROW(parse_drain_timeout(604801), ConfigError);
  EXPECT_EQ(parse_sessions(0), 0U);
  EXPECT_THROW(parse_sessions(-1), ConfigError);
  EXPECT_EQ(parse_memory(""), 0U);
  EXPECT_EQ(parse_memory("33554432"), 32U << 20U);
  EXPECT_EQ(parse_memory("65536K"), 64U << 20U);
  EXPECT_EQ(parse_memory("64M"), 64U << 20U);
  EXPECT_EQ(parse_memory("3G"), 3ULL << 30U);
  EXPECT_EQ(parse_memory("2T"), 2ULL << 40U);
  for (const char* wrong : {"0", "8", "31M", "8GB", "G", "-1G", "1.5G", "8 G", "8g", "99999999T"})
    EXPECT_THROW(parse_memory(wrong), ConfigError) << wrong;
}

TEST_F(ConfigFile, GivenNothingThenTheDefaultsStay) {
  const Config config = read("");
  EXPECT_EQ(config.listen, "127.0.0.1:7890");
  EXPECT_FALSE(config.insecure);
}

TEST_F(ConfigFile, GivenDevicesAsAListThenItIsTheSame) {
  EXPECT_EQ(read("devices = [\"gpu\", 3]").devices, "gpu,3");
}

TEST_F(ConfigFile, GivenMistakesThenFileAndLineAndRemedyAreTold) {
  const std::string unknown = error("\nlisten = \"x\"\nlisten-on = \"y\"\n");
  EXPECT_CONTAINS(unknown, path_ + ", line 3");
  EXPECT_CONTAINS(unknown, "'listen-on'");
  EXPECT_CONTAINS(unknown, "worker-ports");  // the keys that there are
  EXPECT_CONTAINS(error("listen = 7890"), "quotation marks");
  EXPECT_CONTAINS(error("insecure = \"yes\""), "true or false");
  EXPECT_CONTAINS(error("devices = [1.5]"), "list of names");
  EXPECT_CONTAINS(error("name = \n"), ", line 1");
  EXPECT_CONTAINS(error("[section]\nname = \"x\""), "'section'");
}

TEST_F(ConfigFile, GivenNoFileThenItIsTold) {
  Config config;
  try {
    read_config("/nonexistent/cliqued.toml", config);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_CONTAINS(std::string(error.what()), "/nonexistent/cliqued.toml");
  }
}

TEST(Listen, GivenAddressesThenTheyAreUnderstood) {
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
    EXPECT_THROW(parse_listen(wrong), ConfigError) << wrong;
}

TEST(Ports, GivenRangesThenTheyAreUnderstoodOrRefused) {
  EXPECT_EQ(parse_ports(""), PortRange(0, 0));
  EXPECT_EQ(parse_ports("7900-7999"), PortRange(7900, 7999));
  for (const char* wrong : {"7900", "7999-7900", "0-5", "a-b", "1-70000", "-5"})
    EXPECT_THROW(parse_ports(wrong), ConfigError) << wrong;
}

TEST(LogLevel, GivenNamesThenOnlyKnownOnesAreAccepted) {
  EXPECT_NO_THROW(check_log_level("debug"));
  EXPECT_THROW(check_log_level("loud"), ConfigError);
}

}  // namespace
}  // namespace clique::daemon
