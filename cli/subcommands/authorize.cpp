#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/common/commands.hpp"
#include "cli/common/edit_file.hpp"
#include "cli/output/node_view.hpp"
#include "cli/output/print_json.hpp"
#include "protocol/security/key_files.hpp"
#include "protocol/security/places.hpp"

namespace clique::cli {

namespace {

struct AuthorizeOptions {
  std::string key;
  std::string name;
  std::string sessions;
  std::string memory;
  std::string share;
  std::string devices;
  std::string files;
  bool admin = false;
  bool json = false;
  std::string file{protocol::kAuthorizedClients};
};

bool is_name(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c < 0x7f; });
}

/// The line for these options, and its parsed content. Throws Failed and SecurityError.
std::pair<std::string, protocol::AuthorizedClient> entry_of(const AuthorizeOptions& options) {
  if (!is_name(options.name))
    throw Failed("'" + options.name +
                 "' is not a valid name; write one word of printable ASCII characters, such as alice@laptop");
  std::string line = protocol::PublicKey::parse(options.key).text() + " " + options.name;
  if (!options.sessions.empty()) line += " sessions=" + options.sessions;
  if (!options.memory.empty()) line += " session-memory=" + options.memory;
  if (!options.share.empty()) line += " share=" + options.share;
  if (!options.devices.empty()) line += " devices=" + options.devices;
  if (!options.files.empty()) line += " files=" + options.files;
  if (options.admin) line += " admin";
  const auto spaceless = [](const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' '; });
  };
  if (!spaceless(options.devices))
    throw Failed("'" + options.devices +
                 "' contains a space; name a device by a part of its name without one");
  if (!spaceless(options.files))
    throw Failed("'" + options.files + "' contains a space; name folders whose paths have none");
  const auto entries = protocol::AuthorizedClients::parse(line);
  if (!entries.wrong.empty()) throw Failed(entries.wrong[0].why);
  return {line, entries.clients.begin()->second};
}

void authorize(const AuthorizeOptions& options) {
  const auto [line, client] = entry_of(options);
  edit_file(options.file, [&, &line = line, &client = client](const std::string& text) {
    const auto entries = protocol::AuthorizedClients::parse(text);
    const auto same = entries.clients.find(client.key);
    if (same != entries.clients.end())
      throw Failed(options.file + " already authorizes this key, as '" + same->second.name +
                   "'; to change its name or options, edit that line");
    std::string edited = text;
    append_line(edited, line);
    return edited;
  });
  if (options.json) {
    auto document = json_of(client.key, options.file);
    document["name"] = client.name;
    document["line"] = line;
    print_json(document);
    return;
  }
  std::printf("%s is authorized in %s, with the key %s\n", client.name.c_str(), options.file.c_str(),
              client.key.fingerprint().c_str());
}

}  // namespace

void add_authorize(CLI::App& app, Action& chosen) {
  CLI::App* const command = app.add_subcommand(
      "authorize", "Admit a client to this node: add its key to the list. cliqued need not be restarted");
  auto options = std::make_shared<AuthorizeOptions>();
  command->add_option("KEY", options->key, "The client's public key, as 'clique key' prints it there")
      ->required();
  command->add_option("NAME", options->name, "The client's name in logs: one word, such as alice@laptop")
      ->required();
  command
      ->add_option("--sessions", options->sessions,
                   "The largest number of concurrent sessions of this client")
      ->type_name("NUMBER");
  command
      ->add_option(
          "--session-memory", options->memory,
          "Memory that each of its sessions may allocate on the devices of one driver, with K, M, G or T")
      ->type_name("BYTES");
  command
      ->add_option(
          "--share", options->share,
          "How much of a device each of its sessions is to have, relative to other sessions: 1 to 1000")
      ->type_name("NUMBER");
  command
      ->add_option("--devices", options->devices,
                   "The only devices that it may use, separated by commas: indices, types or parts of names")
      ->type_name("LIST");
  command
      ->add_option(
          "--files", options->files,
          "The only folders whose files it may use, separated by commas: read:FOLDER or write:FOLDER, "
          "each in one of the node's file-roots; or none")
      ->type_name("LIST");
  command->add_flag("--admin", options->admin,
                    "It sees and ends the sessions of all clients, and drains the node");
  command->add_flag("--json", options->json, "Print JSON: the file, the key, the name and the added line");
  command->add_option("--file", options->file, "The list of clients")
      ->type_name("FILE")
      ->capture_default_str();
  command->callback([=, &chosen] { chosen = [=] { authorize(*options); }; });
}

}  // namespace clique::cli
