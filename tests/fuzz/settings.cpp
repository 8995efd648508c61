// The settings file of cliqued.
#include "daemon/server/configuration/settings.hpp"

#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz::target_settings {
namespace {

std::vector<std::string> seeds() {
  return {R"(identity = "node.key"
authorized-clients = "clients"
local-users = ["root", 1000]
encryption = "all"
insecure = false
devices = ["gpu", 3]
name = "node"
advertise = "node.cluster"
worker-ports = "7900-7999"
kernel-timeout = 10
drain-timeout = 20
)",
          R"(resume-timeout = 30
sessions = 4
session-memory = "8G"
nvidia = "opencl"
log-level = "debug"
local-users = "*"
)",
          "a = { b = [1, 2.5, 1979-05-27T07:32:00Z, '''text'''] }\n[[c.d]]\n\"e\" = 0x1f # comment\n"};
}

void test(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file(std::as_bytes(std::span(data, size)));
  try {
    daemon::GivenValues given = daemon::read_settings_file(file.path());
    // Would ask the network for names.
    given.erase("listen");
    const daemon::Settings settings = daemon::make_settings(given);
    fuzz::require(!settings.name.empty(), "a node has a name");
  } catch (const daemon::ConfigError&) {
    return;
  }
}

const Registration kTarget{"settings", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_settings
