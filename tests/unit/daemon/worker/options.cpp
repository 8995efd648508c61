// What cliqued writes on a worker's command line is what the worker reads.
#include "daemon/worker/options.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace clique::daemon {
namespace {

/// As a process gets its arguments.
WorkerOptions parse(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  return parse_worker_arguments(pointers);
}

TEST(WorkerOptions, AreReadAsTheyWereWritten) {
  WorkerOptions written;
  written.log = {"debug", LogFormat::Json};
  written.kind = PlatformKind::Cuda;
  written.platform = 3;
  written.devices = {0, 2, 11};
  written.bind = "::1";
  written.session.ports = {7900, 7999};
  written.session.kernel_timeout = std::chrono::seconds(5);
  written.session.resume_timeout = std::chrono::seconds(6);
  written.session.memory = 1ULL << 40U;
  written.session.ucx = UcxUse::Offered;
  written.session.node = "ed25519:A= alpha";
  written.encryption = protocol::Encryption::Commands;
  written.network = confinement::Network::FixedPeers;
  const WorkerOptions read = parse(worker_arguments(written));
  EXPECT_EQ(read.log.level, "debug");
  EXPECT_EQ(read.log.format, LogFormat::Json);
  EXPECT_EQ(read.kind, PlatformKind::Cuda);
  EXPECT_EQ(read.platform, 3U);
  EXPECT_EQ(read.devices, (std::vector<std::uint32_t>{0, 2, 11}));
  EXPECT_EQ(read.bind, "::1");
  EXPECT_EQ(read.session.ports, (PortRange{7900, 7999}));
  EXPECT_EQ(read.session.kernel_timeout, std::chrono::seconds(5));
  EXPECT_EQ(read.session.resume_timeout, std::chrono::seconds(6));
  EXPECT_EQ(read.session.memory, 1ULL << 40U);
  EXPECT_EQ(read.session.ucx, UcxUse::Offered);
  EXPECT_EQ(read.session.node, "ed25519:A= alpha");
  EXPECT_EQ(read.encryption, protocol::Encryption::Commands);
  EXPECT_EQ(read.network, confinement::Network::FixedPeers);
}

TEST(WorkerOptions, KeepTheirDefaultsWhenTheyAreEmpty) {
  const WorkerOptions read = parse(worker_arguments({}));
  EXPECT_TRUE(read.devices.empty());
  EXPECT_TRUE(read.session.ports.none());
  EXPECT_EQ(read.bind, "127.0.0.1");
}

TEST(WorkerOptions, LeaveSessionsTheNetworkThatTheirSettingsNeed) {
  WorkerOptions options;
  SessionOptions& session = options.session;
  EXPECT_EQ(needs_sockets(session), "");
  for (const auto network : {confinement::Network::HandedOver, confinement::Network::FixedPeers}) {
    options.network = network;
    EXPECT_EQ(network_of(options), network);
  }
  session.ports = {7900, 7999};
  EXPECT_EQ(needs_sockets(session), "worker-ports is 7900-7999");
  EXPECT_EQ(network_of(options), confinement::Network::Own);
  session.ports = {};
  session.ucx = UcxUse::Offered;
  EXPECT_EQ(needs_sockets(session), "ucx is true");
  EXPECT_EQ(network_of(options), confinement::Network::Own);
}

TEST(WorkerOptions, AreRefusedWhenTheyAreUnknownOrIncomplete) {
  EXPECT_THROW(parse({"--colour", "red"}), std::invalid_argument);
  EXPECT_THROW(parse({"--platform"}), std::invalid_argument);
  EXPECT_THROW(parse({"--platform", "first"}), std::invalid_argument);
}

}  // namespace
}  // namespace clique::daemon
