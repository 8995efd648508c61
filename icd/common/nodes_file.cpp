// nodes.toml.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "icd/common/host_list.hpp"
#include "icd/common/setting_text.hpp"
#include "icd/common/settings.hpp"
#include "protocol/toml.hpp"

namespace clique::icd {

namespace {

[[noreturn]] void fail_at(const std::string& path, const toml::source_region& where, const std::string& why) {
  throw SettingError(path + ":" + std::to_string(where.begin.line) + ":" +
                     std::to_string(where.begin.column) + ": " + why);
}

/// Reads the parsed file. Every error names its line and column.
class TomlReader {
 public:
  TomlReader(const toml::table& file, const std::string& path) : file_(file), path_(path) {}

  NodeSettings read() {
    NodeSettings settings;
    // The nodes of this list come first, as in the file, where tables follow the keys. file_ is sorted by
    // name.
    if (const toml::node* nodes = file_.get("nodes")) read_nodes(*nodes, settings);
    for (const auto& [key, value] : file_) {
      if (key == "nodes") continue;
      if (key == "node") {
        read_node_tables(value, settings);
      } else if (key == "connect_timeout_ms") {
        const auto number = value.value_exact<std::int64_t>();
        if (!number) fail(value, "connect_timeout_ms takes a whole number of milliseconds, such as 3000");
        at(value, [&] { settings.connect_timeout = checked_connect_timeout(*number, "connect_timeout_ms"); });
      } else if (key == "insecure") {
        const auto flag = value.value_exact<bool>();
        if (!flag) fail(value, "insecure takes true or false");
        settings.security.insecure = *flag;
      } else if (key == "encryption") {
        const auto text = value.value_exact<std::string>();
        if (!text) fail(value, R"(encryption takes "all" or "none")");
        at(value, [&] { settings.security.encrypted = parse_encryption(*text, "encryption"); });
      } else if (key == "auth") {
        const auto text = value.value_exact<std::string>();
        if (!text) fail(value, R"(auth takes "keys" or "munge")");
        at(value, [&] { settings.security.munge = parse_auth(*text, "auth"); });
      } else if (key == "transport") {
        const auto text = value.value_exact<std::string>();
        if (!text) fail(value, R"(transport takes "auto" or "zeromq")");
        at(value, [&] { settings.streams = parse_transport(*text, "transport"); });
      } else {
        fail_at(
            path_, key.source(),
            "unknown key " + in_quotes(key.str()) +
                "; known are nodes, [[node]], connect_timeout_ms, insecure, encryption, auth and transport");
      }
    }
    return settings;
  }

 private:
  [[noreturn]] void fail(const toml::node& node, const std::string& why) const {
    fail_at(path_, node.source(), why);
  }

  template <typename F>
  void at(const toml::node& node, F&& function) const {
    try {
      function();
    } catch (const SettingError& error) {
      fail(node, error.what());
    }
  }

  void read_nodes(const toml::node& value, NodeSettings& settings) const {
    const toml::array* list = value.as_array();
    if (!list) fail(value, R"(nodes takes a list of strings, such as nodes = ["a", "b:7890"])");
    for (const toml::node& entry : *list) {
      const auto text = entry.value_exact<std::string>();
      if (!text) fail(entry, "a node is written as a string, such as \"b:7890\"");
      at(entry, [&] { append(parse_nodes(*text), settings); });
    }
  }

  void read_node_tables(const toml::node& value, NodeSettings& settings) const {
    const toml::array* tables = value.as_array();
    if (!tables) fail(value, "node is a list of tables; write [[node]] with two brackets on each side");
    for (const toml::node& entry : *tables) {
      const toml::table* table = entry.as_table();
      if (!table) fail(entry, "node is a list of tables; write [[node]], then host = \"...\" below it");
      append(read_node_table(*table), settings);
    }
  }

  static void append(const std::vector<NodeAddress>& nodes, NodeSettings& settings) {
    settings.nodes.insert(settings.nodes.end(), nodes.begin(), nodes.end());
  }

  std::vector<NodeAddress> read_node_table(const toml::table& table) const {
    std::vector<std::string> hosts;
    std::uint16_t port = NodeAddress().port;
    for (const auto& [key, value] : table) {
      if (key == "host") {
        const auto host = value.value_exact<std::string>();
        if (!host || trimmed(*host).empty()) fail(value, "host takes a name or an address as a string");
        at(value, [&] { hosts = expand_host_list(trimmed(*host)); });
      } else if (key == "port") {
        const auto number = value.value_exact<std::int64_t>();
        if (!number || *number < 1 || *number > 65535) fail(value, "port takes a number from 1 to 65535");
        port = static_cast<std::uint16_t>(*number);
      } else {
        fail_at(path_, key.source(),
                "unknown key " + in_quotes(key.str()) + " of a [[node]]; known are host and port");
      }
    }
    if (hosts.empty()) fail(table, "a [[node]] needs host = \"...\"");
    std::vector<NodeAddress> nodes;
    nodes.reserve(hosts.size());
    for (const std::string& host : hosts) nodes.push_back({host, port});
    return nodes;
  }

  const toml::table& file_;
  const std::string& path_;
};

}  // namespace

NodeSettings parse_nodes_file(std::string_view text, const std::string& path) {
  if (trimmed(text).empty())
    throw SettingError(path +
                       " is empty and names no nodes; write nodes = [\"HOST\"], or remove the file to "
                       "use this host");
  try {
    const toml::table file = toml::parse(text, path);
    return TomlReader(file, path).read();
  } catch (const toml::parse_error& error) {
    fail_at(path, error.source(), std::string(error.description()));
  } catch (const protocol::MalformedToml& error) {
    throw SettingError(path + ": " + error.what());
  }
}

}  // namespace clique::icd
