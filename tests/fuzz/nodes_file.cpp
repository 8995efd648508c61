// The client's nodes.toml.
#include "icd/common/settings.hpp"
#include "tests/fuzz/fuzz.hpp"

std::vector<std::string> clique::fuzz::seeds() {
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

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clique;
  try {
    const auto settings =
        icd::parse_nodes_file(fuzz::text_of(std::as_bytes(std::span(data, size))), "nodes.toml");
    for (const icd::NodeAddress& node : settings.nodes)
      fuzz::require(!node.host.empty(), "a node has a host");
  } catch (const icd::SettingError&) {
    return 0;
  }
  return 0;
}
