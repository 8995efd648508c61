// All settings of the client: environment variables, and keys of nodes.toml. Nothing else in icd/ reads the
// environment. docs/configuration.md describes the settings to users.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "icd/common/node_address.hpp"
#include "icd/common/program_choices.hpp"
#include "protocol/encryption.hpp"

namespace clique::icd {

struct SettingInfo {
  std::string_view name;
  std::string_view fallback;  ///< what holds if it is not set, for people
  std::string_view meaning;
  std::string_view key = {};  ///< of a variable: the key of nodes.toml with the same meaning; empty: none
};

/// The environment variables that users set.
inline constexpr std::array kVariables{
    SettingInfo{
        "CLIQUE_NODES", "none",
        "the nodes, separated by commas; empty: this host; auto: those that announce themselves and whose "
        "keys are known; off: the platform is not offered",
        "nodes"},
    SettingInfo{"CLIQUE_HOSTFILE", "none",
                "a file of nodes, one in a line, written as in CLIQUE_NODES, with comments behind #; used if "
                "CLIQUE_NODES is not set, and then instead of nodes.toml"},
    SettingInfo{
        "CLIQUE_DEVICES", "all",
        "the devices to offer, in this order: positions in the full list, parts of device or node names, and "
        "UUIDs, separated by commas; idle or idle:N: the least loaded of them"},
    SettingInfo{"CLIQUE_ORDER", "nodes", "nodes: devices are listed as the nodes are; idle: least load first",
                "order"},
    SettingInfo{"CLIQUE_EXCLUSIVE", "0", "1: no other session may use the devices of this program's sessions",
                "exclusive"},
    SettingInfo{
        "CLIQUE_COMBINE", "none",
        "all, or groups of devices as in CLIQUE_DEVICES, separated by semicolons: each group is also offered "
        "as one device",
        "combine"},
    SettingInfo{"CLIQUE_COMBINE_ONLY", "0", "1: members of combined devices are not offered themselves"},
    SettingInfo{"CLIQUE_COMBINE_DIVIDE", "auto",
                "auto: launches are divided if that is faster; always: whenever they can be"},
    SettingInfo{"CLIQUE_COMBINE_EXPLAIN", "0",
                "1: says on standard error which launches are divided, and what prevents it for others"},
    SettingInfo{"CLIQUE_DEVICE_NAMES", "plain",
                "plain: devices have the names that their drivers give them; node: 'NAME @ NODE'",
                "device-names"},
    SettingInfo{"CLIQUE_VENDOR", "clique",
                "clique: the platform's name and vendor are Clique; native: those of the first device's "
                "driver; native: and programs, separated by commas: native for these, known for those that "
                "are known to need it",
                "vendor"},
    SettingInfo{
        "CLIQUE_LOCAL_MEMORY", "known",
        "the local memory of GPUs that programs are told of: known: a quarter for the programs that are "
        "known to fill it, and to be faster then, and all for others; whole: all; quarter: a quarter",
        "local-memory"},
    SettingInfo{"CLIQUE_CONNECT_TIMEOUT_MS", "3000",
                "time allowed for reaching a node, in milliseconds, 1 to 600000", "connect-timeout-ms"},
    SettingInfo{
        "CLIQUE_BUILD_TIMEOUT_S", "600",
        "how long a node may take for a program that it builds, in seconds, up to 604800; 0: any time",
        "build-timeout-s"},
    SettingInfo{
        "CLIQUE_REMEMBER_UNREACHABLE", "1",
        "1: a node that did not answer within the last 30 seconds is asked briefly; 0: always as long",
        "remember-unreachable"},
    SettingInfo{"CLIQUE_IDENTITY", "clique/client.key in the folder of nodes.toml, if it exists",
                "the file with this client's private key, by which nodes recognise it"},
    SettingInfo{"CLIQUE_KNOWN_NODES", "clique/known-nodes there, and /etc/clique/known-nodes",
                "the file with the keys of the nodes to trust"},
    SettingInfo{"CLIQUE_INSECURE", "0", "1: nodes with unknown keys are used as well", "insecure"},
    SettingInfo{
        "CLIQUE_ENCRYPTION", "none",
        "what nodes must encrypt: all; commands, which is all but large transfers; or none: the nodes "
        "decide",
        "encryption"},
    SettingInfo{"CLIQUE_AUTH", "keys",
                "munge: also sends a MUNGE credential to nodes; munge:SOCKET names munged's socket", "auth"},
    SettingInfo{"CLIQUE_DAEMON", "beside libclique.so, else in PATH", "the cliqued that serves this host"},
    SettingInfo{"CLIQUE_CUFILE", "auto",
                "when private workers read files through cuFile, as --cufile of cliqued; inherited by them, "
                "not read by the client"},
    SettingInfo{"CLIQUE_FILE_ROOTS", "all files of the user",
                "the folders whose files private workers may use, as --file-roots of cliqued; inherited by "
                "them, not read by the client"},
    SettingInfo{"CLIQUE_HOST_DEVICES", "all but CPUs, and CPUs if there is nothing else",
                "the devices of this host that private workers offer, as --devices of cliqued; inherited by "
                "them, not read by the client"},
    SettingInfo{"CLIQUE_NVIDIA", "cuda",
                "how private workers use NVIDIA GPUs; inherited by them, not read by the client"},
    SettingInfo{"CLIQUE_SHARED_MEMORY", "1",
                "0: workers on this host are reached through the network, 1: through shared memory"},
    SettingInfo{"CLIQUE_GUEST_MEMORY", "that of the virtual machine's device ivshmem, if it has one",
                "the file with memory that this virtual machine shares with its host"},
    SettingInfo{"CLIQUE_TRANSPORT", "auto",
                "how large transfers travel through the network: auto: through connections made for them; "
                "ucx: through UCX, for RDMA; zeromq: through ZeroMQ",
                "transport"},
    SettingInfo{
        "CLIQUE_COMPRESSION", "auto",
        "auto: large transfers are compressed where the network is so slow that this is faster; none: "
        "never",
        "compression"},
    SettingInfo{"CLIQUE_SPIN_US", "depends on the processors",
                "how long a waiting thread polls before it sleeps, in microseconds, 0 to 1000000"},
    SettingInfo{"CLIQUE_TRACE", "none",
                "the file to which the library appends a trace of what the program does, for Perfetto"},
    SettingInfo{"CLIQUE_LOG", "none", "debug: every call that fails prints its reason on standard error"},
};

/// The environment variables that the client reads beside those.
inline constexpr std::array kSystemVariables{
    SettingInfo{"CLIQUE_WORKER", "none",
                "set by cliqued for workers, in which the library offers no platform"},
    SettingInfo{"XDG_CONFIG_HOME", "~/.config", "the folder with clique/nodes.toml"},
    SettingInfo{"XDG_RUNTIME_DIR", "none", "the folder with clique/unreachable-nodes"},
    SettingInfo{"XDG_CACHE_HOME", "~/.cache", "the folder with clique/unreachable-nodes otherwise"},
    SettingInfo{"HOME", "none", "the user's folder, for ~/.config and ~/.cache"},
    SettingInfo{"PATH", "none", "where cliqued is looked for"},
};

/// The environment variables of Clique that the client does not read: those of cliqued, workers and
/// clique-compiler, which private workers inherit, and those of the tests and tools.
inline constexpr std::array<std::string_view, 13> kOthersVariables{
    "CLIQUE_CACHE",           "CLIQUE_CACHE_DIR", "CLIQUE_CACHE_MIB",        "CLIQUE_COMPILER",
    "CLIQUE_CONFINEMENT",     "CLIQUE_LIBDEVICE", "CLIQUE_NODE_ICD_VENDORS", "CLIQUE_NVRTC",
    "CLIQUE_DEBIAN_CACHE",    "CLIQUE_PROGRAM",   "CLIQUE_SERVICE",          "CLIQUE_SPIRV_MODULES",
    "CLIQUE_SPIRV_TRANSLATOR"};
/// What the names of further variables of the tests begin with.
inline constexpr std::string_view kTestsVariables = "CLIQUE_TEST_";

/// The keys of nodes.toml. Underscores instead of hyphens are accepted, too.
inline constexpr std::array kFileKeys{
    SettingInfo{"nodes", "none", "the nodes, each as in CLIQUE_NODES, or \"auto\""},
    SettingInfo{"[[node]] host", "none", "the name or address of a further node"},
    SettingInfo{"[[node]] port", "7890", "its port"},
    SettingInfo{"order", "\"nodes\"", "as CLIQUE_ORDER, which overrides it"},
    SettingInfo{"exclusive", "false", "as CLIQUE_EXCLUSIVE, which overrides it"},
    SettingInfo{"combine", "none", "as CLIQUE_COMBINE, which overrides it"},
    SettingInfo{"device-names", "\"plain\"", "as CLIQUE_DEVICE_NAMES, which overrides it"},
    SettingInfo{"vendor", "\"clique\"", "as CLIQUE_VENDOR, which overrides it"},
    SettingInfo{"local-memory", "\"known\"", "as CLIQUE_LOCAL_MEMORY, which overrides it"},
    SettingInfo{"connect-timeout-ms", "3000", "as CLIQUE_CONNECT_TIMEOUT_MS, which overrides it"},
    SettingInfo{"build-timeout-s", "600", "as CLIQUE_BUILD_TIMEOUT_S, which overrides it"},
    SettingInfo{"remember-unreachable", "true", "as CLIQUE_REMEMBER_UNREACHABLE, which overrides it"},
    SettingInfo{"insecure", "false", "as CLIQUE_INSECURE, which overrides it"},
    SettingInfo{"encryption", "\"none\"", "as CLIQUE_ENCRYPTION, which overrides it"},
    SettingInfo{"auth", "\"keys\"", "as CLIQUE_AUTH, which overrides it"},
    SettingInfo{"transport", "\"auto\"", "as CLIQUE_TRANSPORT, which overrides it"},
    SettingInfo{"compression", "\"auto\"", "as CLIQUE_COMPRESSION, which overrides it"},
};

/// How traffic goes through the network.
enum class Transport : std::uint8_t {
  Auto,    ///< through streams
  Ucx,     ///< through streams whose large transfers go through UCX
  ZeroMq,  ///< through ZeroMQ
};

/// A setting that cannot be used. what() says where it is, what is wrong and what is allowed.
class SettingError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The name of one of the variables above; any other name does not compile.
class Variable {
 public:
  consteval Variable(const char* name) : name_(name) {
    bool known = false;
    for (const SettingInfo& each : kVariables) known = known || each.name == name;
    for (const SettingInfo& each : kSystemVariables) known = known || each.name == name;
    if (!known) throw "add the variable to kVariables";
  }
  /// A variable of one of these lists.
  constexpr explicit Variable(const SettingInfo& listed) : name_(listed.name.data()) {}
  constexpr const char* name() const { return name_; }

 private:
  const char* name_;
};

/// Gives the value of a variable; nothing if it is not set.
using Environment = std::function<std::optional<std::string>(Variable)>;
/// The environment of this process.
std::optional<std::string> environment(Variable variable);

/// The paths of this user's key files, which need not exist.
struct KeyFiles {
  std::string identity;  ///< the private key; empty: the environment determines no place for it
  /// The keys of nodes. New keys go to the first one.
  std::vector<std::string> known_nodes;

  /// CLIQUE_IDENTITY and CLIQUE_KNOWN_NODES, otherwise the default places.
  static KeyFiles of(const Environment& environment);
};

/// How this client and its nodes authenticate each other.
struct SecuritySettings {
  std::string identity;                  ///< file with this client's private key; empty: none
  std::vector<std::string> known_nodes;  ///< files with the nodes' keys
  bool insecure = false;                 ///< nodes with unknown keys are used as well
  /// The least that nodes must encrypt.
  protocol::Encryption encryption = protocol::Encryption::None;
  std::optional<std::string> munge;  ///< send MUNGE credentials; munged's socket, empty: its default
};

/// Instead of nodes: those that announce themselves.
inline constexpr std::string_view kDiscoverNodes = "auto";

/// Which nodes there are, and how to reach them.
struct NodeSettings {
  std::vector<NodeAddress> nodes;  ///< empty: private workers on this host
  /// Whether the nodes have to be found (settle_nodes()); then there are no private workers.
  bool discover = false;
  /// For reaching a node: resolving its name, connecting, and the answers of daemon and workers.
  std::chrono::milliseconds connect_timeout{3000};
  /// How long a node may build programs without finishing one; 0: any time.
  std::chrono::seconds build_timeout{600};
  /// Whether programs remember for a short time that a node did not answer.
  bool remember_unreachable = true;
  /// The file with these nodes (UnreachableNodes); empty: they are not remembered.
  std::string unreachable_file;
  SecuritySettings security;
  /// CLIQUE_COMBINE; empty: no devices are combined.
  std::string combine;
  /// Whether the names of devices contain the names of their nodes.
  bool device_names_with_node = false;
  /// For which programs the platform answers as the driver of the first device.
  VendorChoice vendor;
  /// How much of a GPU's local memory programs are told of.
  LocalMemory local_memory = LocalMemory::Known;
  /// Whether devices are listed by their load, the least first.
  bool idle_first = false;
  /// Whether sessions take their devices exclusively.
  bool exclusive = false;
  /// Whether to share memory with workers on this host.
  bool shared_memory = true;
  /// The file with memory of this virtual machine and its host; empty: that of its device, if it has one.
  std::string guest_memory;
  /// How traffic goes through the network.
  Transport transport = Transport::Auto;
  /// Whether to compress large transfers where that is faster.
  bool compresses = true;
  /// How long waiting threads poll; nothing: what suits this host.
  std::optional<std::chrono::microseconds> spin_time;

  /// Reads the environment, and the nodes file. The nodes are those of CLIQUE_NODES if it is set; otherwise
  /// of the first file that exists among $XDG_CONFIG_HOME/clique/nodes.toml (~/.config by default) and
  /// /etc/clique/nodes.toml. CLIQUE_CONNECT_TIMEOUT_MS overrides the file's timeout. Throws SettingError.
  static NodeSettings read();
  /// read() with another environment, and another file instead of the one in /etc.
  static NodeSettings read(const Environment& environment, const std::string& system_file);
};

/// Reads the text of a nodes.toml (kFileKeys). Throws SettingError.
/// @param path for messages only
NodeSettings parse_nodes_file(std::string_view text, const std::string& path);

/// A value of nodes.toml, as a text for people.
struct FileValue {
  std::string key;  ///< of kFileKeys; `nodes` also stands for the tables [[node]]
  std::string value;
  std::uint32_t line = 0;  ///< where the key is
};
/// The values of a nodes.toml that parse_nodes_file() reads. Throws SettingError.
std::vector<FileValue> nodes_file_values(std::string_view text, const std::string& path);

/// A setting with its value, and where that is from.
struct SettingValue {
  const SettingInfo* setting;  ///< of kVariables
  std::string value;           ///< the default, in words, if nothing sets it
  std::string source;          ///< "default", "environment", or FILE:LINE
};
/// The settings of programs that start in this environment.
struct SettingValues {
  std::string file;  ///< the nodes.toml that is read; empty: none
  std::vector<SettingValue> values;
  std::string error;  ///< why programs cannot use the settings; empty: they can
};
SettingValues setting_values();
/// The same with another environment, and another file instead of the one in /etc.
SettingValues setting_values(const Environment& environment, const std::string& system_file);

/// Texts for people about variables of this process that begin with CLIQUE_ and are not settings of Clique.
std::vector<std::string> unknown_variables();
/// CLIQUE_DEVICES; empty: all devices.
std::string device_choice();
/// How combined devices are offered and used.
struct CombineSettings {
  bool only = false;     ///< their members are not offered themselves
  bool always = false;   ///< launches are divided whenever they can be
  bool explain = false;  ///< what is divided, and what is not, is said
};
/// CLIQUE_COMBINE_ONLY, CLIQUE_COMBINE_DIVIDE and CLIQUE_COMBINE_EXPLAIN. Throws SettingError.
CombineSettings combine_settings();
/// The groups of CLIQUE_COMBINE or of `combine` in nodes.toml; empty: none. Throws SettingError.
std::string combine_choice();
/// Whether CLIQUE_VENDOR, or `vendor` in nodes.toml, makes the platform answer to this program as the driver
/// of the first device does. Throws SettingError.
bool native_vendor();
/// CLIQUE_DAEMON; nothing if it is not set or empty. Throws SettingError unless it is an executable file.
std::optional<std::string> daemon_path();
/// CLIQUE_LOG is "debug".
bool logs_failures();
/// CLIQUE_TRACE; nothing if it is not set or empty.
std::optional<std::string> trace_file();
/// CLIQUE_NODES is "off": this process does not use Clique.
bool is_off();
/// CLIQUE_WORKER is set: this process serves the platform to others, and must not be its client.
bool is_worker();

}  // namespace clique::icd
