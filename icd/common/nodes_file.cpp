// nodes.toml.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "icd/common/host_list.hpp"
#include "icd/common/setting_text.hpp"
#include "icd/common/settings.hpp"
#include "protocol/similar.hpp"
#include "protocol/toml.hpp"

namespace clique::icd {

namespace {

[[noreturn]] void fail_at(const std::string& path, const toml::source_region& where, const std::string& why) {
  throw SettingError(path + ":" + std::to_string(where.begin.line) + ":" +
                     std::to_string(where.begin.column) + ": " + why);
}

/// Keys are documented with hyphens, and also accepted with underscores.
std::string documented_key(std::string_view key) {
  std::string result(key);
  std::replace(result.begin(), result.end(), '_', '-');
  return result;
}

/// A value, for messages about wrong ones.
std::string shown(const toml::node& value) {
  if (const auto text = value.value_exact<std::string>()) return in_quotes(*text);
  if (const auto number = value.value_exact<std::int64_t>()) return std::to_string(*number);
  if (const auto flag = value.value_exact<bool>()) return *flag ? "true" : "false";
  if (value.is_table()) return "a table";
  if (value.is_array()) return "a list";
  return value.is_floating_point() ? "a number with a fraction" : "a date or a time";
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
    std::set<std::string> seen;
    for (const auto& [key, value] : file_) {
      const std::string name = documented_key(key.str());
      if (!seen.insert(name).second)
        fail_at(path_, key.source(),
                name + " is given twice, with a hyphen and with an underscore; remove one of them");
      read_value(name, key, value, settings);
    }
    return settings;
  }

 private:
  void read_value(const std::string& name, const toml::key& key, const toml::node& value,
                  NodeSettings& settings) const {
    if (name == "nodes") return;
    if (name == "node") {
      read_node_tables(value, settings);
    } else if (name == "connect-timeout-ms") {
      const auto number = value.value_exact<std::int64_t>();
      if (!number)
        fail(value, name + " is " + shown(value) + "; write a whole number of milliseconds, such as 3000");
      at(value, [&] { settings.connect_timeout = checked_connect_timeout(*number, name); });
    } else if (name == "build-timeout-s") {
      const auto number = value.value_exact<std::int64_t>();
      if (!number)
        fail(value, name + " is " + shown(value) + "; write a whole number of seconds, such as 600");
      at(value, [&] { settings.build_timeout = checked_build_timeout(*number, name); });
    } else if (name == "remember-unreachable") {
      settings.remember_unreachable = flag(value, name);
    } else if (name == "combine") {
      settings.combine = text(value, name, R"("all", or groups of devices such as "alpha,beta;gamma,delta")");
    } else if (name == "insecure") {
      settings.security.insecure = flag(value, name);
    } else if (name == "exclusive") {
      settings.exclusive = flag(value, name);
    } else if (name == "order") {
      const std::string choice = text(value, name, R"("nodes" or "idle")");
      at(value, [&] { settings.idle_first = parse_order(choice, name); });
    } else if (name == "device-names") {
      const std::string choice = text(value, name, R"("plain" or "node")");
      at(value, [&] { settings.device_names_with_node = parse_device_names(choice, name); });
    } else if (name == "vendor") {
      const std::string choice = text(value, name, R"("clique", "native" or "native:PROGRAM,...")");
      at(value, [&] { settings.vendor = VendorChoice::parse(choice, name); });
    } else if (name == "local-memory") {
      const std::string choice = text(value, name, R"("known", "whole" or "quarter")");
      at(value, [&] { settings.local_memory = parse_local_memory(choice, name); });
    } else if (name == "encryption") {
      const std::string choice = text(value, name, R"("all", "commands" or "none")");
      at(value, [&] { settings.security.encryption = parse_encryption(choice, name); });
    } else if (name == "auth") {
      const std::string choice = text(value, name, R"("keys" or "munge")");
      at(value, [&] { settings.security.munge = parse_auth(choice, name); });
    } else if (name == "transport") {
      const std::string choice = text(value, name, R"("auto", "ucx" or "zeromq")");
      at(value, [&] { settings.transport = parse_transport(choice, name); });
    } else if (name == "compression") {
      const std::string choice = text(value, name, R"("auto" or "none")");
      at(value, [&] { settings.compresses = parse_compression(choice, name); });
    } else {
      std::vector<std::string_view> keys;
      for (const SettingInfo& each : kFileKeys)
        if (each.name != "[[node]] port") keys.push_back(each.name.substr(0, each.name.find(' ')));
      fail_unknown(key, "", keys);
    }
  }

  /// Reports a key that does not exist, with the one that was probably meant, or all.
  [[noreturn]] void fail_unknown(const toml::key& key, const std::string& place,
                                 const std::vector<std::string_view>& keys) const {
    const std::string_view meant = protocol::most_similar(documented_key(key.str()), keys);
    std::string advice = "; known are ";
    for (const std::string_view each : keys)
      advice.append(each == keys.front() ? "" : each == keys.back() ? " and " : ", ").append(each);
    if (!meant.empty()) advice = "; did you mean " + std::string(meant) + "?";
    fail_at(path_, key.source(), "unknown key " + in_quotes(key.str()) + place + advice);
  }

  bool flag(const toml::node& value, const std::string& name) const {
    const auto result = value.value_exact<bool>();
    if (!result) fail(value, name + " is " + shown(value) + "; write true or false");
    return *result;
  }

  /// @param allowed for the message if the value is no text
  std::string text(const toml::node& value, const std::string& name, const char* allowed) const {
    auto result = value.value_exact<std::string>();
    if (!result) fail(value, name + " is " + shown(value) + "; write " + allowed);
    return *std::move(result);
  }

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
    settings.discover = value.value_exact<std::string>() == kDiscoverNodes;
    if (settings.discover) return;
    const toml::array* list = value.as_array();
    if (!list)
      fail(value, "nodes is " + shown(value) +
                      R"(; write a list of strings, such as nodes = ["a", "b:7890"], or "auto")");
    for (const toml::node& entry : *list) {
      const auto text = entry.value_exact<std::string>();
      if (!text) fail(entry, "a node is " + shown(entry) + "; write a string, such as \"b:7890\"");
      at(entry, [&] { append(parse_nodes(*text), settings); });
    }
  }

  void read_node_tables(const toml::node& value, NodeSettings& settings) const {
    const toml::array* tables = value.as_array();
    if (!tables) fail(value, "node is " + shown(value) + "; write [[node]] with two brackets on each side");
    for (const toml::node& entry : *tables) {
      const toml::table* table = entry.as_table();
      if (!table) fail(entry, "node has " + shown(entry) + "; write [[node]], then host = \"...\" below it");
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
        if (!host || trimmed(*host).empty())
          fail(value, "host is " + shown(value) + "; write a name or an address as a string");
        at(value, [&] { hosts = expand_host_list(trimmed(*host)); });
      } else if (key == "port") {
        const auto number = value.value_exact<std::int64_t>();
        if (!number || *number < 1 || *number > 65535)
          fail(value, "port is " + shown(value) + "; write a number from 1 to 65535");
        port = static_cast<std::uint16_t>(*number);
      } else {
        fail_unknown(key, " of a [[node]]", {"host", "port"});
      }
    }
    if (hosts.empty()) fail(table, "a [[node]] has no host; write host = \"...\" below it");
    std::vector<NodeAddress> nodes;
    nodes.reserve(hosts.size());
    for (const std::string& host : hosts) nodes.push_back({host, port});
    return nodes;
  }

  const toml::table& file_;
  const std::string& path_;
};

/// Parses the file, and returns use(table). Throws SettingError.
template <typename Use>
auto with_table(std::string_view text, const std::string& path, Use&& use) {
  if (trimmed(text).empty())
    throw SettingError(path +
                       " is empty and names no nodes; write nodes = [\"HOST\"], or remove the file to "
                       "use this host");
  try {
    const toml::table table = toml::parse(text, path);
    return use(table);
  } catch (const toml::parse_error& error) {
    fail_at(path, error.source(), std::string(error.description()) + "; see https://toml.io for the format");
  } catch (const protocol::MalformedToml& error) {
    throw SettingError(path + ": " + error.what() + "; see https://toml.io for the format");
  }
}

/// A value that is no list and no table, as a text.
std::string text_of_value(const toml::node& value) {
  if (const auto text = value.value_exact<std::string>()) return *text;
  if (const auto number = value.value_exact<std::int64_t>()) return std::to_string(*number);
  return value.value_exact<bool>().value_or(false) ? "1" : "0";
}

}  // namespace

NodeSettings parse_nodes_file(std::string_view text, const std::string& path) {
  return with_table(text, path, [&path](const toml::table& file) { return TomlReader(file, path).read(); });
}

std::vector<FileValue> nodes_file_values(std::string_view text, const std::string& path) {
  return with_table(text, path, [&path](const toml::table& file) {
    std::vector<FileValue> values;
    FileValue nodes{"nodes", {}, 0};
    const NodeSettings settings = TomlReader(file, path).read();
    if (settings.discover) nodes.value = kDiscoverNodes;
    for (const NodeAddress& node : settings.nodes)
      nodes.value += (nodes.value.empty() ? "" : ",") + node.text();
    for (const auto& [key, value] : file) {
      const std::uint32_t line = key.source().begin.line;
      if (key == "nodes" || key == "node")
        nodes.line = nodes.line == 0 ? line : std::min(nodes.line, line);
      else
        values.push_back({documented_key(key.str()), text_of_value(value), line});
    }
    if (nodes.line != 0) values.push_back(std::move(nodes));
    return values;
  });
}

}  // namespace clique::icd
