#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/common/commands.hpp"
#include "cli/common/places.hpp"
#include "cli/output/node_view.hpp"
#include "cli/output/print_json.hpp"
#include "protocol/security/identity.hpp"
#include "protocol/security/places.hpp"

namespace clique::cli {

namespace {

void print_next_steps(const protocol::PublicKey& key, bool of_node) {
  if (of_node) {
    std::printf(
        "Next: start or restart cliqued. On each client, trust the node:\n"
        "  clique trust HOST --fingerprint %s\n"
        "or add this line to the client's file known-nodes:\n"
        "  HOST %s\n",
        key.fingerprint().c_str(), key.text().c_str());
  } else {
    std::printf(
        "Next: on each node, as root, admit this client:\n"
        "  clique authorize %s NAME\n"
        "or add this line to %s:\n"
        "  %s NAME\n",
        key.text().c_str(), protocol::kAuthorizedClients.data(), key.text().c_str());
  }
}

void make_key(const std::string& file, bool of_node, bool as_json) {
  const std::filesystem::path path = identity_file(file, of_node);
  const auto identity = protocol::Identity::generate();
  // All users must be able to read the other files in /etc/clique.
  std::error_code error;
  if (of_node) std::filesystem::create_directories(path.parent_path(), error);
  identity.write(path);
  const protocol::PublicKey& key = identity.public_key();
  if (as_json) {
    print_json(json_of(key, path));
    return;
  }
  std::printf("The private key is in %s; keep it secret.\nPublic key:  %s\nFingerprint: %s\n\n", path.c_str(),
              key.text().c_str(), key.fingerprint().c_str());
  print_next_steps(key, of_node);
}

}  // namespace

void add_keygen(CLI::App& app, Action& chosen) {
  CLI::App* const command = app.add_subcommand(
      "keygen",
      "Make a private key, by which nodes recognise this client, or with --node, clients this node");
  auto file = std::make_shared<std::string>();
  auto of_node = std::make_shared<bool>(false);
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--node", *of_node, "Make the key of this node, " + std::string(protocol::kNodeIdentity));
  command
      ->add_option("--file", *file,
                   "Where to write the key; by default this user's place. An existing file is never replaced")
      ->type_name("FILE");
  command->add_flag("--json", *as_json, "Print JSON: the file, the public key and its fingerprint");
  command->callback([=, &chosen] { chosen = [=] { make_key(*file, *of_node, *as_json); }; });
}

}  // namespace clique::cli
