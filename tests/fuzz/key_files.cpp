// The files that list keys: known-nodes, authorized-clients.
#include "protocol/security/key_files.hpp"

#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz::target_key_files {
namespace {

using namespace clique::protocol;

void read_key(std::string_view text) {
  try {
    require(PublicKey::parse(text).text() == text, "a key has one spelling");
  } catch (const SecurityError&) {
    return;
  }
}

std::vector<std::string> seeds() {
  const std::string key = PublicKey().text();
  PublicKey::Bytes ones;
  ones.fill(1);
  const std::string other = PublicKey(ones).text();
  return {key, "# known\nnode " + key + "\n\n*.cluster:7891 " + other + "\n[::1]:7891 " + key + "\n",
          key + " alice sessions=3 session-memory=2G\n" + other + " bob admin\n" + key + " again\n",
          other + " carol sessions=x color=red\nnot a line\n"};
}

void test(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(std::as_bytes(std::span(data, size)));
  read_key(text);

  const KnownNodes known = KnownNodes::parse(text);
  for (const KnownNode& node : known.nodes) read_key(node.key.text());
  require(known.find("node", 7890).size() <= known.nodes.size(), "nothing is found that is not there");
  known.find("::1", 7891);

  const AuthorizedClients authorized = AuthorizedClients::parse(text);
  for (const auto& [key, client] : authorized.clients)
    require(key == client.key && !client.name.empty(), "every client has a name, and is found by its key");
}

const Registration kTarget{"key_files", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_key_files
