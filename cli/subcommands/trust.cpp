#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/common/commands.hpp"
#include "cli/common/edit_file.hpp"
#include "cli/common/places.hpp"
#include "cli/output/node_view.hpp"
#include "cli/output/print_json.hpp"
#include "icd/common/node_address.hpp"
#include "icd/remote/nodes/daemon_connection.hpp"
#include "icd/remote/nodes/first_address.hpp"
#include "protocol/security/key_files.hpp"

namespace clique::cli {

namespace {

using Clock = std::chrono::steady_clock;

/// Time limit for reaching the node and learning its key.
constexpr std::chrono::seconds kTimeout{10};

struct TrustOptions {
  std::string node;
  std::string fingerprint;
  bool yes = false;
  bool replace = false;
  bool json = false;
  std::string file;
};

/// An entry of a file that matches the node.
struct Known {
  std::string file;
  protocol::KnownNode entry;
};

std::vector<Known> look_up(const std::vector<std::string>& files, const icd::NodeAddress& node) {
  std::vector<Known> found;
  for (const std::string& file : files)
    for (protocol::KnownNode& entry : protocol::KnownNodes::read(file).find(node.host, node.port))
      found.push_back({file, std::move(entry)});
  return found;
}

protocol::PublicKey key_of(const icd::NodeAddress& node) {
  const auto deadline = Clock::now() + kTimeout;
  // Without settings: nothing is decided here, and the client proves a key made up for this connection.
  const icd::Trust nobody{icd::SecuritySettings{}};
  try {
    return icd::with_first_address(node.host, deadline, [&](const std::string& address, auto patience) {
      return icd::DaemonConnection(node, address, nobody).ask_for_key(patience);
    });
  } catch (const icd::Unreachable& error) {
    throw Failed("node " + node.text() + " cannot be reached: " + error.what());
  }
}

bool confirmed() {
  std::string answer;
  for (;;) {
    std::printf("Trust it? Answer yes or no: ");
    std::fflush(stdout);
    if (!std::getline(std::cin, answer)) return false;
    if (answer == "yes") return true;
    if (answer == "no") return false;
  }
}

/// Has the user, or an option, confirm the key. Throws Failed if the key is wrong or nobody confirms it.
void check(const TrustOptions& options, const icd::NodeAddress& node, const protocol::PublicKey& key) {
  const std::string fingerprint = key.fingerprint();
  if (!options.fingerprint.empty()) {
    if (options.fingerprint == fingerprint || options.fingerprint == key.text()) return;
    throw Failed("node " + node.text() + " has the key " + fingerprint + ", not " + options.fingerprint +
                 "; another host may be impersonating it: ask its administrator. Nothing was changed");
  }
  if (options.yes) return;
  if (options.json || ::isatty(STDIN_FILENO) == 0)
    throw Failed(
        "cannot ask whether to trust the key, because " +
        std::string(options.json ? "--json prints nothing but JSON" : "standard input is not a terminal") +
        "; pass the fingerprint "
        "that 'clique key --node' prints on the node with --fingerprint");
  std::printf("Compare the fingerprint with the one that 'clique key --node' prints on the node.\n");
  if (!confirmed())
    throw Failed("the key " + fingerprint + " of node " + node.text() +
                 " is not trusted. Nothing was changed; repeat the command when you have compared it");
}

/// Called if the key differs from trusted ones. Throws Failed unless --replace is given and all other entries
/// are lines for this node only, in the file to be edited.
void check_replacement(const TrustOptions& options, const icd::NodeAddress& node,
                       const protocol::PublicKey& key, const std::vector<Known>& others,
                       const std::string& file) {
  const Known& first = others.front();
  if (!options.json)
    std::printf("But %s lists the key\n  %s\n  %s\n", first.file.c_str(), first.entry.key.text().c_str(),
                first.entry.key.fingerprint().c_str());
  if (!options.replace)
    throw Failed(
        "the key of node " + node.text() + " has changed, from " + first.entry.key.fingerprint() + " to " +
        key.fingerprint() +
        ". If its administrator changed the key, add --replace; if not, another host is impersonating "
        "the node. Nothing was changed");
  for (const Known& other : others)
    if (other.file != file || other.entry.pattern != protocol::known_node_name(node.host, node.port))
      throw Failed("the line for '" + other.entry.pattern + "' in " + other.file + " gives node " +
                   node.text() + " the key " + other.entry.key.fingerprint() +
                   "; change that line. Nothing was changed");
}

/// The text without the lines whose pattern is exactly this node's name.
std::string without(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    const auto entries = protocol::KnownNodes::parse(line).nodes;
    if (entries.empty() || entries[0].pattern != name) kept += line + '\n';
  }
  return kept;
}

/// Says that the key is trusted. @param added now, not before
void tell_trust(const TrustOptions& options, const icd::NodeAddress& node, const protocol::PublicKey& key,
                const std::string& file, bool added) {
  if (!options.json) {
    std::printf("It is %s trusted: %s lists it.\n", added ? "now" : "already", file.c_str());
    return;
  }
  auto document = json_of(key, file);
  document["node"] = node.text();
  document["added"] = added;
  print_json(document);
}

void trust(const TrustOptions& options) {
  const icd::NodeAddress node = icd::parse_node(options.node);
  const auto files = known_nodes_files(options.file);
  const std::string& file = files.front();
  const protocol::PublicKey key = key_of(node);
  if (!options.json)
    std::printf("Node %s has the key\n  %s\n  %s\n", node.text().c_str(), key.text().c_str(),
                key.fingerprint().c_str());
  auto others = look_up(files, node);
  const auto same =
      std::find_if(others.begin(), others.end(), [&](const Known& known) { return known.entry.key == key; });
  const std::string listed_in = same != others.end() ? same->file : std::string();
  std::erase_if(others, [&](const Known& known) { return known.entry.key == key; });
  if (!others.empty()) check_replacement(options, node, key, others, file);
  if (!listed_in.empty() && others.empty()) {
    tell_trust(options, node, key, listed_in, false);
    return;
  }
  check(options, node, key);
  edit_file(file, [&](const std::string& text) {
    const std::string name = protocol::known_node_name(node.host, node.port);
    std::string edited = without(text, name);
    append_line(edited, name + " " + key.text());
    return edited;
  });
  tell_trust(options, node, key, file, true);
}

}  // namespace

void add_trust(CLI::App& app, Action& chosen) {
  CLI::App* const command = app.add_subcommand(
      "trust", "Show the key of a node, and after confirmation add it to this user's known nodes");
  auto options = std::make_shared<TrustOptions>();
  command->add_option("NODE", options->node, "The node, written as in CLIQUE_NODES: HOST or HOST:PORT")
      ->required();
  command->add_option("--fingerprint", options->fingerprint, "Trust the key if this is its fingerprint")
      ->type_name("SHA256:…");
  command->add_flag("--yes", options->yes, "Trust the key without comparing it");
  command->add_flag("--replace", options->replace, "Replace the key that was trusted before");
  command->add_flag("--json", options->json,
                    "Print JSON: the file, the key, the node, and whether it was added; asks nothing");
  command->add_option("--file", options->file, "The list of known nodes; by default this user's")
      ->type_name("FILE");
  command->callback([=, &chosen] { chosen = [=] { trust(*options); }; });
}

}  // namespace clique::cli
