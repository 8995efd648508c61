// The client's nodes.toml.
#include "icd/common/settings.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz::target_nodes_file {
namespace {

std::vector<std::string> seeds() {
  return {R"(nodes = ["a", "b:7891", "[::1]:7892"]
connect-timeout-ms = 500
device_names = "node"
insecure = true
encryption = "all"
[[node]]
host = "c"
port = 7893
)",
          "[[node]]\nhost = 'fe80::1%eth0'\n[[node]]\nport = 0x1f\n",
          "nodes = []\nencryption = \"\\u00e9\"\n"};
}

void test(const std::uint8_t* data, std::size_t size) {
  try {
    const auto settings =
        icd::parse_nodes_file(fuzz::text_of(std::as_bytes(std::span(data, size))), "nodes.toml");
    for (const icd::NodeAddress& node : settings.nodes)
      fuzz::require(!node.host.empty(), "a node has a host");
  } catch (const icd::SettingError&) {
    return;
  }
}

const Registration kTarget{"nodes_file", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_nodes_file
