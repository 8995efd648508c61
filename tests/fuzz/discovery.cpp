// What a name server and others in the local network say of nodes: SRV records, and names of hosts.
#include "icd/remote/nodes/discovery.hpp"

#include <algorithm>
#include <stdexcept>

#include "icd/common/node_address.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz::target_discovery {
namespace {

/// A user who knows the nodes of one domain.
const icd::SecuritySettings& settings() {
  static const MemoryFile known(bytes_of("*.example ed25519:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n"));
  static const icd::SecuritySettings one = [] {
    icd::SecuritySettings made;
    made.known_nodes = {known.path()};
    return made;
  }();
  return one;
}

void check(const std::vector<icd::NodeAddress>& nodes) {
  for (const icd::NodeAddress& node : nodes) {
    require(node.port != 0, "a node has a port");
    require(icd::parse_node(node.text()) == node, "a node is the same after a round trip");
  }
}

/// An answer of a name server with one record, whose target is a host.
std::string answer_of(std::string_view host, std::string_view domain) {
  const auto label = [](std::string_view text) {
    return std::string(1, static_cast<char>(text.size())) + std::string(text);
  };
  const std::string target = label(host) + label(domain) + std::string(1, '\0');
  // The header says that there is one answer. The record has the name of the root, the type SRV, the class
  // IN, a time to live and a size; then come its priority, weight and port, 7890.
  std::string answer("\0\1\x81\x80\0\0\0\1\0\0\0\0", 12);
  answer += std::string("\0\0\x21\0\1\0\0\0\x09\0", 10) + static_cast<char>(target.size() + 6);
  return answer + std::string("\0\1\0\0\x1e\xd2", 6) + target;
}

std::vector<std::string> seeds() {
  return {answer_of("alpha", "example"), answer_of("alpha", "elsewhere"), answer_of("alpha", "exa;mple")};
}

void test(const std::uint8_t* data, std::size_t size) {
  std::vector<icd::Announced> announced;
  try {
    announced = icd::parse_srv(data, size);
  } catch (const std::runtime_error&) {
    // The name of a service in the local network, instead.
    announced = {{std::string(text_of(std::as_bytes(std::span(data, size)))), 7890}};
  }
  const icd::Discovery found = icd::sort_out(announced, settings());
  check(found.nodes);
  check(found.strangers);
  require(found.nodes.size() + found.strangers.size() <= announced.size(), "no node is invented");
}

const Registration kTarget{"discovery", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_discovery
