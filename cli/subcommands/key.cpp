#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/common/commands.hpp"
#include "cli/common/places.hpp"
#include "cli/output/node_view.hpp"
#include "cli/output/print_json.hpp"
#include "protocol/security/identity.hpp"
#include "protocol/security/places.hpp"

namespace clique::cli {

namespace {

void print_key(const std::string& file, bool of_node, bool as_json) {
  const std::filesystem::path path = identity_file(file, of_node);
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error)
    throw Failed(path.string() + " does not exist; make a key with 'clique keygen" +
                 (of_node ? " --node'" : "'"));
  const protocol::PublicKey key = protocol::Identity::read(path).public_key();
  if (as_json) {
    print_json(json_of(key, path));
    return;
  }
  std::printf("%s\n%s\n", key.text().c_str(), key.fingerprint().c_str());
}

}  // namespace

void add_key(CLI::App& app, Action& chosen) {
  CLI::App* const command = app.add_subcommand(
      "key", "Print the public key that belongs to a private key, and in a second line its fingerprint");
  auto file = std::make_shared<std::string>();
  auto of_node = std::make_shared<bool>(false);
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--node", *of_node, "Use the key of this node, " + std::string(protocol::kNodeIdentity));
  command->add_option("--file", *file, "The file with the private key; by default this user's")
      ->type_name("FILE");
  command->add_flag("--json", *as_json, "Print JSON: the file, the public key and its fingerprint");
  command->callback([=, &chosen] { chosen = [=] { print_key(*file, *of_node, *as_json); }; });
}

}  // namespace clique::cli
