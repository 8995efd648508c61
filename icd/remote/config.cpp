#include "icd/remote/config.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include "protocol/spin.hpp"

namespace clique::icd {

namespace {

constexpr int kLongestTimeoutMs = 600'000;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string in_quotes(std::string_view text) {
  return "'" + std::string(text) + "'";
}

std::uint16_t parse_port(std::string_view text, std::string_view node) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0 || port > 65535)
    throw ConfigError("node " + in_quotes(node) + ": " + in_quotes(text) +
                      " is not a port; write a number from 1 to 65535 after the colon");
  return static_cast<std::uint16_t>(port);
}

std::chrono::milliseconds checked_timeout(std::int64_t ms, const std::string& name) {
  if (ms < 1 || ms > kLongestTimeoutMs)
    throw ConfigError(name + " is " + std::to_string(ms) + "; write milliseconds from 1 to " +
                      std::to_string(kLongestTimeoutMs));
  return std::chrono::milliseconds(ms);
}

[[noreturn]] void fail_at(const std::string& path, const toml::source_region& where, const std::string& why) {
  throw ConfigError(path + ":" + std::to_string(where.begin.line) + ":" + std::to_string(where.begin.column) +
                    ": " + why);
}

/// Reads the parsed file; every complaint names its place.
class TomlReader {
 public:
  TomlReader(const toml::table& file, const std::string& path) : file_(file), path_(path) {}

  Config read() {
    Config config;
    // Tables come after the top's keys in a file, while file_ is sorted by name.
    if (const toml::node* nodes = file_.get("nodes")) read_nodes(*nodes, config);
    for (const auto& [key, value] : file_) {
      if (key == "nodes") continue;
      if (key == "node") {
        read_node_tables(value, config);
      } else if (key == "connect_timeout_ms") {
        const auto number = value.value_exact<std::int64_t>();
        if (!number) fail(value, "connect_timeout_ms takes a whole number of milliseconds, such as 3000");
        at(value, [&] { config.connect_timeout = checked_timeout(*number, "connect_timeout_ms"); });
      } else {
        fail_at(path_, key.source(),
                "unknown key " + in_quotes(key.str()) + "; known are nodes, [[node]] and connect_timeout_ms");
      }
    }
    return config;
  }

 private:
  [[noreturn]] void fail(const toml::node& node, const std::string& why) const {
    fail_at(path_, node.source(), why);
  }

  template <typename F>
  void at(const toml::node& node, F&& function) const {
    try {
      function();
    } catch (const ConfigError& error) {
      fail(node, error.what());
    }
  }

  void read_nodes(const toml::node& value, Config& config) const {
    const toml::array* list = value.as_array();
    if (!list) fail(value, R"(nodes takes a list of strings, such as nodes = ["a", "b:7890"])");
    for (const toml::node& entry : *list) {
      const auto text = entry.value_exact<std::string>();
      if (!text) fail(entry, "a node is written as a string, such as \"b:7890\"");
      at(entry, [&] { config.nodes.push_back(parse_node(*text)); });
    }
  }

  void read_node_tables(const toml::node& value, Config& config) const {
    const toml::array* tables = value.as_array();
    if (!tables) fail(value, "node is a list of tables; write [[node]] with two brackets on each side");
    for (const toml::node& entry : *tables) {
      const toml::table* table = entry.as_table();
      if (!table) fail(entry, "node is a list of tables; write [[node]], then host = \"...\" below it");
      config.nodes.push_back(read_node_table(*table));
    }
  }

  NodeAddress read_node_table(const toml::table& table) const {
    NodeAddress node;
    for (const auto& [key, value] : table) {
      if (key == "host") {
        const auto host = value.value_exact<std::string>();
        if (!host || trimmed(*host).empty()) fail(value, "host takes a name or an address as a string");
        node.host = trimmed(*host);
      } else if (key == "port") {
        const auto port = value.value_exact<std::int64_t>();
        if (!port || *port < 1 || *port > 65535) fail(value, "port takes a number from 1 to 65535");
        node.port = static_cast<std::uint16_t>(*port);
      } else {
        fail_at(path_, key.source(),
                "unknown key " + in_quotes(key.str()) + " of a [[node]]; known are host and port");
      }
    }
    if (node.host.empty()) fail(table, "a [[node]] needs host = \"...\"");
    return node;
  }

  const toml::table& file_;
  const std::string& path_;
};

/// @returns nothing where there is no such file.
std::optional<std::string> content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    throw ConfigError(path + ": cannot be read: " + std::strerror(errno));
  }
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad() || text.fail()) throw ConfigError(path + ": cannot be read. Is it a file?");
  return text.str();
}

}  // namespace

std::string NodeAddress::text() const {
  const std::string shown = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return shown + ":" + std::to_string(port);
}

NodeAddress parse_node(std::string_view text) {
  const std::string_view node = trimmed(text);
  NodeAddress address;
  std::string_view rest;
  if (const auto scheme = node.find("://"); scheme != std::string_view::npos)
    throw ConfigError("node " + in_quotes(node) + " is not a host; write it without " +
                      in_quotes(node.substr(0, scheme + 3)));
  if (node.starts_with('[')) {
    const auto close = node.find(']');
    if (close == std::string_view::npos)
      throw ConfigError("node " + in_quotes(node) + ": the bracket is not closed; write [address]:port");
    address.host = node.substr(1, close - 1);
    rest = node.substr(close + 1);
  } else if (std::count(node.begin(), node.end(), ':') > 1) {
    address.host = node;  // an IPv6 address, which cannot have a port without brackets
  } else {
    const auto colon = std::min(node.find(':'), node.size());
    address.host = node.substr(0, colon);
    rest = node.substr(colon);
  }
  if (address.host.empty())
    throw ConfigError("node " + in_quotes(node) + " has no host; write host or host:port");
  if (address.host.find_first_of(" \t/[]") != std::string::npos)
    throw ConfigError("node " + in_quotes(node) +
                      " is not a host; write host, host:port or [v6 address]:port, and commas between nodes");
  if (rest.empty()) return address;
  if (rest.front() != ':')
    throw ConfigError("node " + in_quotes(node) + ": " + in_quotes(rest) +
                      " after the address; write [address]:port");
  address.port = parse_port(rest.substr(1), node);
  return address;
}

std::vector<NodeAddress> parse_node_list(std::string_view text) {
  std::vector<NodeAddress> nodes;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    const std::string_view entry = trimmed(text.substr(0, comma));
    if (!entry.empty()) nodes.push_back(parse_node(entry));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return nodes;
}

Config parse_toml(std::string_view text, const std::string& path) {
  try {
    const toml::table file = toml::parse(text, path);
    return TomlReader(file, path).read();
  } catch (const toml::parse_error& error) {
    fail_at(path, error.source(), std::string(error.description()));
  }
}

Config Config::read() {
  return read(
      [](const char* name) -> std::optional<std::string> {
        const char* value = std::getenv(name);
        return value ? std::optional<std::string>(value) : std::nullopt;
      },
      "/etc/clique/nodes.toml");
}

Config Config::read(const Environment& environment, const std::string& system_file) {
  Config config;
  if (const auto list = environment("CLIQUE_NODES")) {
    try {
      config.nodes = parse_node_list(*list);
    } catch (const ConfigError& error) {
      throw ConfigError(std::string("CLIQUE_NODES: ") + error.what());
    }
  } else {
    std::vector<std::string> files;
    const auto xdg = environment("XDG_CONFIG_HOME");
    const auto home = environment("HOME");
    if (xdg && !xdg->empty())
      files.push_back(*xdg + "/clique/nodes.toml");
    else if (home && !home->empty())
      files.push_back(*home + "/.config/clique/nodes.toml");
    files.push_back(system_file);
    for (const std::string& file : files) {
      if (const auto text = content(file)) {
        config = parse_toml(*text, file);
        break;
      }
    }
  }
  if (const auto text = environment("CLIQUE_CONNECT_TIMEOUT_MS"); text && !text->empty()) {
    std::int64_t ms = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), ms);
    if (error != std::errc() || end != text->data() + text->size())
      throw ConfigError("CLIQUE_CONNECT_TIMEOUT_MS is " + in_quotes(*text) +
                        "; write milliseconds, such as 3000");
    config.connect_timeout = checked_timeout(ms, "CLIQUE_CONNECT_TIMEOUT_MS");
  }
  if (const auto text = environment("CLIQUE_SHARED_MEMORY"); text && !text->empty()) {
    if (*text != "0" && *text != "1")
      throw ConfigError("CLIQUE_SHARED_MEMORY is " + in_quotes(*text) +
                        "; write 0 to reach workers on this host through the network, or 1");
    config.shared_memory = *text == "1";
  }
  try {
    protocol::parse_spin_time(environment("CLIQUE_SPIN_US").value_or("").c_str());
  } catch (const std::runtime_error& error) {
    throw ConfigError(error.what());
  }
  return config;
}

}  // namespace clique::icd
