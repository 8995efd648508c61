#include "icd/common/settings.hpp"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "icd/common/executable.hpp"
#include "icd/common/setting_text.hpp"
#include "icd/common/unknown_variables.hpp"
#include "protocol/security/munge.hpp"
#include "protocol/security/places.hpp"
#include "protocol/spin.hpp"

namespace clique::icd {

namespace {

constexpr int kLongestTimeoutMs = 600'000;
constexpr std::string_view kSystemNodesFile = "/etc/clique/nodes.toml";

/// The content of a file; nothing if it does not exist. Throws SettingError.
std::optional<std::string> content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    throw SettingError(path + ": cannot be read: " + std::strerror(errno) +
                       "; let this program's user read it, or remove it");
  }
  // The operator << below takes an empty file for a failure. peek() of a folder sets the bad bit.
  if (file.peek() == std::ifstream::traits_type::eof() && !file.bad()) return std::string();
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad() || text.fail())
    throw SettingError(path + ": cannot be read; put a regular file there, or remove it");
  return text.str();
}

/// The folder of the user's files; empty if there is none.
std::string user_folder(const Environment& environment) {
  if (const auto xdg = environment("XDG_CONFIG_HOME"); xdg && !xdg->empty()) return *xdg + "/clique/";
  if (const auto home = environment("HOME"); home && !home->empty()) return *home + "/.config/clique/";
  return {};
}

/// A variable's value; nothing if it is not set or empty.
std::optional<std::string> given(const Environment& environment, Variable variable) {
  auto text = environment(variable);
  return text && !text->empty() ? text : std::nullopt;
}

struct NodesFile {
  std::string path;
  std::string text;
};

/// The nodes file that is used; nothing if there is none.
std::optional<NodesFile> find_file(const Environment& environment, const std::string& system_file) {
  // Either variable stands for the whole file.
  if (environment("CLIQUE_NODES") || given(environment, "CLIQUE_HOSTFILE")) return std::nullopt;
  std::vector<std::string> files;
  if (const std::string folder = user_folder(environment); !folder.empty())
    files.push_back(folder + "nodes.toml");
  files.push_back(system_file);
  for (std::string& path : files)
    if (auto text = content(path)) return NodesFile{std::move(path), *std::move(text)};
  return std::nullopt;
}

/// What MPI's host files say of a node beside its name: how many processes to start, which is not the
/// library's business.
bool is_for_mpi(std::string_view word) {
  return word.starts_with("slots=") || word.starts_with("max_slots=") || word.starts_with("max-slots=");
}

/// The nodes of the file that CLIQUE_HOSTFILE names. Throws SettingError.
std::vector<NodeAddress> read_host_file(const std::string& path) {
  const auto text = content(path);
  if (!text)
    throw SettingError("CLIQUE_HOSTFILE is " + in_quotes(path) +
                       ", which does not exist; set it to a file with a node in each line, or unset it");
  std::vector<NodeAddress> nodes;
  std::istringstream lines(*text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string entry;
    if (!(words >> entry)) continue;
    try {
      for (std::string word; words >> word;)
        if (!is_for_mpi(word))
          throw SettingError(in_quotes(word) + " behind node " + in_quotes(entry) +
                             " is not known; write one node in each line, and comments behind #");
      for (NodeAddress& node : parse_node_list(entry)) nodes.push_back(std::move(node));
    } catch (const SettingError& error) {
      throw SettingError(path + ":" + std::to_string(number) + ": " + error.what());
    }
  }
  if (nodes.empty())
    throw SettingError("CLIQUE_HOSTFILE is " + in_quotes(path) +
                       ", which has no node; write one in each line, or unset it");
  // MPI's files may name a host once for each process.
  remove_repeated(nodes);
  return nodes;
}

/// A variable's value as a whole number. Throws SettingError.
/// @param advice what to write, for the message
std::int64_t parse_number(const std::string& text, Variable variable, const char* advice) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw SettingError(std::string(variable.name()) + " is " + in_quotes(text) + "; write " + advice);
  return number;
}

/// A variable that is 0 or 1; `fallback` if it is not set or empty. Throws SettingError.
/// @param advice what to write, for the message
bool read_switch(const Environment& environment, Variable variable, bool fallback, const char* advice) {
  const auto text = given(environment, variable);
  if (!text) return fallback;
  if (*text != "0" && *text != "1")
    throw SettingError(std::string(variable.name()) + " is " + in_quotes(*text) + "; write " + advice);
  return *text == "1";
}

/// Reads the variables about keys and encryption, and determines the default files.
void read_security(const Environment& environment, SecuritySettings& security) {
  KeyFiles files = KeyFiles::of(environment);
  std::error_code error;
  if (given(environment, "CLIQUE_IDENTITY") || std::filesystem::exists(files.identity, error))
    security.identity = std::move(files.identity);
  security.known_nodes = std::move(files.known_nodes);
  security.insecure = read_switch(environment, "CLIQUE_INSECURE", security.insecure,
                                  "1 to also use nodes with unknown keys, or 0");
  if (const auto text = given(environment, "CLIQUE_ENCRYPTION"))
    security.encryption = parse_encryption(*text, "CLIQUE_ENCRYPTION");
  if (const auto text = given(environment, "CLIQUE_AUTH")) security.munge = parse_auth(*text, "CLIQUE_AUTH");
}

/// The file that remembers unreachable nodes; empty if there is no place for it.
std::string unreachable_nodes_file(const Environment& environment) {
  constexpr const char* kName = "/clique/unreachable-nodes";
  if (const auto folder = given(environment, "XDG_RUNTIME_DIR")) return *folder + kName;
  if (const auto folder = given(environment, "XDG_CACHE_HOME")) return *folder + kName;
  if (const auto home = given(environment, "HOME")) return *home + "/.cache" + kName;
  return {};
}

}  // namespace

Transport parse_transport(std::string_view text, std::string_view name) {
  if (text == "auto") return Transport::Auto;
  if (text == "ucx") return Transport::Ucx;
  if (text == "zeromq") return Transport::ZeroMq;
  throw SettingError(std::string(name) + " is " + in_quotes(text) +
                     "; write auto, ucx to send large transfers through UCX (RDMA), or zeromq to send "
                     "everything through ZeroMQ");
}

bool parse_compression(std::string_view text, std::string_view name) {
  if (text != "auto" && text != "none")
    throw SettingError(std::string(name) + " is " + in_quotes(text) +
                       "; write auto to compress large transfers where that is faster, or none");
  return text == "auto";
}

bool parse_device_names(std::string_view text, std::string_view name) {
  if (text != "plain" && text != "node")
    throw SettingError(std::string(name) + " is " + in_quotes(text) +
                       "; write plain for the names of the devices' drivers, or node to add the node's name");
  return text == "node";
}

bool parse_order(std::string_view text, std::string_view name) {
  if (text != "nodes" && text != "idle")
    throw SettingError(
        std::string(name) + " is " + in_quotes(text) +
        "; write nodes for the order of the nodes, or idle for the least loaded devices first");
  return text == "idle";
}

protocol::Encryption parse_encryption(std::string_view text, std::string_view name) {
  if (const auto encryption = protocol::encryption_of(text)) return *encryption;
  throw SettingError(std::string(name) + " is " + in_quotes(text) +
                     "; write all to use only nodes that encrypt everything, commands to use also those that "
                     "encrypt all but large transfers, or none");
}

std::optional<std::string> parse_auth(std::string_view text, std::string_view name) {
  if (text == "keys") return std::nullopt;
  if (auto socket = protocol::munge_socket(text)) return socket;
  throw SettingError(std::string(name) + " is " + in_quotes(text) +
                     "; write keys, or munge to also send a MUNGE credential");
}

std::chrono::milliseconds checked_connect_timeout(std::int64_t ms, std::string_view name) {
  if (ms < 1 || ms > kLongestTimeoutMs)
    throw SettingError(std::string(name) + " is " + std::to_string(ms) + "; write milliseconds from 1 to " +
                       std::to_string(kLongestTimeoutMs));
  return std::chrono::milliseconds(ms);
}

std::chrono::seconds checked_build_timeout(std::int64_t seconds, std::string_view name) {
  constexpr std::int64_t kWeek = 7 * 24 * 3600;
  if (seconds < 0 || seconds > kWeek)
    throw SettingError(std::string(name) + " is " + std::to_string(seconds) + "; write seconds from 0 to " +
                       std::to_string(kWeek) + ", 0 for any time");
  return std::chrono::seconds(seconds);
}

std::optional<std::string> environment(Variable variable) {
  const char* const value = std::getenv(variable.name());
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

KeyFiles KeyFiles::of(const Environment& environment) {
  const std::string folder = user_folder(environment);
  KeyFiles files;
  if (auto file = given(environment, "CLIQUE_IDENTITY"))
    files.identity = *std::move(file);
  else if (!folder.empty())
    files.identity = folder + std::string(protocol::kClientIdentityName);
  if (auto file = given(environment, "CLIQUE_KNOWN_NODES")) {
    files.known_nodes = {*std::move(file)};
  } else {
    if (!folder.empty()) files.known_nodes.push_back(folder + std::string(protocol::kKnownNodesName));
    files.known_nodes.emplace_back(protocol::kSystemKnownNodes);
  }
  return files;
}

NodeSettings NodeSettings::read() {
  return read(icd::environment, std::string(kSystemNodesFile));
}

NodeSettings NodeSettings::read(const Environment& environment, const std::string& system_file) {
  NodeSettings settings;
  if (const auto list = environment("CLIQUE_NODES")) {
    settings.discover = *list == kDiscoverNodes;
    try {
      if (!settings.discover) settings.nodes = parse_node_list(*list);
    } catch (const SettingError& error) {
      throw SettingError(std::string("CLIQUE_NODES: ") + error.what());
    }
  } else if (const auto host_file = given(environment, "CLIQUE_HOSTFILE")) {
    settings.nodes = read_host_file(*host_file);
  } else if (const auto file = find_file(environment, system_file)) {
    settings = parse_nodes_file(file->text, file->path);
  }
  read_security(environment, settings.security);
  if (const auto text = environment("CLIQUE_CONNECT_TIMEOUT_MS"); text && !text->empty())
    settings.connect_timeout = checked_connect_timeout(
        parse_number(*text, "CLIQUE_CONNECT_TIMEOUT_MS", "milliseconds, such as 3000"),
        "CLIQUE_CONNECT_TIMEOUT_MS");
  if (const auto text = given(environment, "CLIQUE_BUILD_TIMEOUT_S"))
    settings.build_timeout = checked_build_timeout(
        parse_number(*text, "CLIQUE_BUILD_TIMEOUT_S", "seconds, such as 600"), "CLIQUE_BUILD_TIMEOUT_S");
  settings.remember_unreachable =
      read_switch(environment, "CLIQUE_REMEMBER_UNREACHABLE", settings.remember_unreachable,
                  "0 to always wait for nodes, or 1 to ask those briefly that did not answer lately");
  if (settings.remember_unreachable) settings.unreachable_file = unreachable_nodes_file(environment);
  settings.shared_memory = read_switch(environment, "CLIQUE_SHARED_MEMORY", settings.shared_memory,
                                       "0 to reach workers on this host through the network, or 1");
  if (auto text = given(environment, "CLIQUE_GUEST_MEMORY")) settings.guest_memory = *std::move(text);
  if (auto text = given(environment, "CLIQUE_COMBINE")) settings.combine = *std::move(text);
  if (const auto text = given(environment, "CLIQUE_DEVICE_NAMES"))
    settings.device_names_with_node = parse_device_names(*text, "CLIQUE_DEVICE_NAMES");
  if (const auto text = given(environment, "CLIQUE_VENDOR"))
    settings.vendor = VendorChoice::parse(*text, "CLIQUE_VENDOR");
  if (const auto text = given(environment, "CLIQUE_LOCAL_MEMORY"))
    settings.local_memory = parse_local_memory(*text, "CLIQUE_LOCAL_MEMORY");
  if (const auto text = given(environment, "CLIQUE_ORDER"))
    settings.idle_first = parse_order(*text, "CLIQUE_ORDER");
  settings.exclusive = read_switch(environment, "CLIQUE_EXCLUSIVE", settings.exclusive,
                                   "1 to keep other sessions from this program's devices, or 0");
  if (const auto text = given(environment, "CLIQUE_TRANSPORT"))
    settings.transport = parse_transport(*text, "CLIQUE_TRANSPORT");
  if (const auto text = given(environment, "CLIQUE_COMPRESSION"))
    settings.compresses = parse_compression(*text, "CLIQUE_COMPRESSION");
  try {
    settings.spin_time = protocol::parse_spin_time(environment("CLIQUE_SPIN_US").value_or("").c_str());
  } catch (const std::runtime_error& error) {
    throw SettingError(error.what());
  }
  return settings;
}

SettingValues setting_values() {
  return setting_values(icd::environment, std::string(kSystemNodesFile));
}

SettingValues setting_values(const Environment& environment, const std::string& system_file) {
  SettingValues result;
  std::vector<FileValue> in_file;
  try {
    if (const auto file = find_file(environment, system_file)) {
      result.file = file->path;
      in_file = nodes_file_values(file->text, file->path);
    }
    if (environment("CLIQUE_NODES") != "off") NodeSettings::read(environment, system_file);
  } catch (const SettingError& error) {
    result.error = error.what();
  }
  for (const SettingInfo& setting : kVariables) {
    result.values.push_back({&setting, std::string(setting.fallback), "default"});
    SettingValue& value = result.values.back();
    const auto text = environment(Variable(setting));
    // An empty variable is as good as none, but for this one.
    if (text && (!text->empty() || setting.name == "CLIQUE_NODES")) {
      value.value = *text;
      value.source = "environment";
      continue;
    }
    for (const FileValue& each : in_file) {
      if (each.key != setting.key) continue;
      value.value = each.value;
      value.source = result.file + ":" + std::to_string(each.line);
    }
  }
  return result;
}

std::vector<std::string> unknown_variables() {
  std::vector<std::string_view> names;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    names.push_back(text.substr(0, text.find('=')));
  }
  return describe_unknown_variables(names);
}

std::string device_choice() {
  return environment("CLIQUE_DEVICES").value_or("");
}

CombineSettings combine_settings() {
  CombineSettings settings;
  settings.only = read_switch(icd::environment, "CLIQUE_COMBINE_ONLY", false,
                              "1 to offer combined devices without their members, or 0");
  settings.explain = read_switch(icd::environment, "CLIQUE_COMBINE_EXPLAIN", false,
                                 "1 to hear which launches are divided, or 0");
  if (const auto text = given(icd::environment, "CLIQUE_COMBINE_DIVIDE")) {
    if (*text != "auto" && *text != "always")
      throw SettingError("CLIQUE_COMBINE_DIVIDE is " + in_quotes(*text) +
                         "; write auto to divide launches if that is faster, or always to divide all that "
                         "can be divided");
    settings.always = *text == "always";
  }
  return settings;
}

std::string combine_choice() {
  if (auto text = given(icd::environment, "CLIQUE_COMBINE")) return *std::move(text);
  const auto file = find_file(icd::environment, std::string(kSystemNodesFile));
  return file ? parse_nodes_file(file->text, file->path).combine : std::string();
}

bool native_vendor() {
  VendorChoice choice;
  if (const auto text = given(icd::environment, "CLIQUE_VENDOR")) {
    choice = VendorChoice::parse(*text, "CLIQUE_VENDOR");
  } else if (const auto file = find_file(icd::environment, std::string(kSystemNodesFile))) {
    choice = parse_nodes_file(file->text, file->path).vendor;
  }
  return choice.is_native_for(program_invocation_short_name);
}

std::optional<std::string> daemon_path() {
  auto path = environment("CLIQUE_DAEMON");
  if (!path || path->empty()) return std::nullopt;
  if (!is_executable(*path))
    throw SettingError("CLIQUE_DAEMON is " + in_quotes(*path) +
                       ", which is not an executable file; write the path of a cliqued, or unset it");
  return path;
}

bool logs_failures() {
  return environment("CLIQUE_LOG") == "debug";
}

std::optional<std::string> trace_file() {
  auto path = environment("CLIQUE_TRACE");
  if (path && path->empty()) path.reset();
  return path;
}

bool is_off() {
  return environment("CLIQUE_NODES") == "off";
}

bool is_worker() {
  return environment("CLIQUE_WORKER").has_value();
}

}  // namespace clique::icd
