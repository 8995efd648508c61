#include "daemon/server/config.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <toml++/toml.h>

#include <charconv>
#include <functional>
#include <limits>
#include <map>
#include <memory>

#include "daemon/common/log.hpp"
#include "protocol/version.hpp"

namespace clique::daemon {

namespace {

constexpr std::int64_t kWeek = 7 * 24 * 3600;

std::string in_quotes(std::string_view text) {
  return "'" + std::string(text) + "'";
}

[[noreturn]] void fail(const std::string& path, const toml::source_region& where, const std::string& what) {
  throw ConfigError(path + ", line " + std::to_string(where.begin.line) + ": " + what);
}

/// A list in the file is what commas separate on the command line.
std::string device_list(const toml::array& array, const std::function<void(const std::string&)>& wrong) {
  std::string result;
  for (const toml::node& element : array) {
    std::string one;
    if (const auto text = element.value_exact<std::string>()) {
      one = *text;
    } else if (const auto index = element.value_exact<std::int64_t>()) {
      one = std::to_string(*index);
    } else {
      wrong("'devices' is a list of names and indices, like [\"gpu\", 3]");
    }
    result += (result.empty() ? "" : ",") + one;
  }
  return result;
}

std::uint16_t parse_port(std::string_view text, const char* what) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port > 65535)
    throw ConfigError(in_quotes(text) + " is no " + what + "; a number from 0 to 65535 is");
  return static_cast<std::uint16_t>(port);
}

}  // namespace

void read_config(const std::string& path, Config& config) {
  const std::map<std::string, std::string Config::*, std::less<>> strings{
      {"listen", &Config::listen},       {"devices", &Config::devices},
      {"log-level", &Config::log_level}, {"name", &Config::name},
      {"advertise", &Config::advertise}, {"worker-ports", &Config::worker_ports},
      {"nvidia", &Config::nvidia},       {"session-memory", &Config::session_memory}};
  const std::map<std::string, std::int64_t Config::*, std::less<>> numbers{
      {"kernel-timeout", &Config::kernel_timeout},
      {"drain-timeout", &Config::drain_timeout},
      {"resume-timeout", &Config::resume_timeout},
      {"sessions", &Config::sessions}};
  toml::table table;
  try {
    table = toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    if (error.source().begin.line == 0)
      throw ConfigError(path + ": " + std::string(error.description()) + "; name a file that can be read");
    fail(path, error.source(), std::string(error.description()) + "; see https://toml.io for the format");
  }
  for (const auto& [key, node] : table) {
    const auto where = node.source();
    const auto wrong = [&](const std::string& what) { fail(path, where, what); };
    if (key.str() == "insecure") {
      const auto value = node.value_exact<bool>();
      if (!value) wrong("'insecure' is true or false, without quotation marks");
      config.insecure = *value;
    } else if (const auto number = numbers.find(key.str()); number != numbers.end()) {
      const auto value = node.value_exact<std::int64_t>();
      if (!value)
        wrong(in_quotes(key.str()) + " is a whole number" + (key.str() == "sessions" ? "" : " of seconds") +
              ", without quotation marks");
      config.*(number->second) = *value;
    } else if (key.str() == "devices" && node.is_array()) {
      config.devices = device_list(*node.as_array(), wrong);
    } else if (const auto field = strings.find(key.str()); field != strings.end()) {
      const auto value = node.value_exact<std::string>();
      if (!value) wrong(in_quotes(key.str()) + " is a text: put it between quotation marks");
      config.*(field->second) = *value;
    } else {
      std::string known = "insecure";
      for (const auto& [name, member] : numbers) known += ", " + name;
      for (const auto& [name, member] : strings) known += ", " + name;
      fail(path, key.source(), "unknown key " + in_quotes(key.str()) + "; the keys are " + known);
    }
  }
}

std::string ListenAddress::endpoint() const {
  const bool v6 = address.find(':') != std::string::npos;
  return "tcp://" + (v6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

ListenAddress parse_listen(std::string_view text) {
  const auto whole = text;
  std::string host;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos)
      throw ConfigError(in_quotes(whole) + " lacks the ']' after the IPv6 address");
    host = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
  } else {
    const auto colon = text.find(':');
    if (colon != std::string_view::npos && text.find(':', colon + 1) != std::string_view::npos)
      throw ConfigError(in_quotes(whole) + ": write an IPv6 address in brackets, like [::1]:7890");
    host = text.substr(0, colon);
    text.remove_prefix(colon == std::string_view::npos ? text.size() : colon);
  }
  ListenAddress result;
  result.port = protocol::kDefaultPort;
  if (!text.empty()) {
    if (text[0] != ':') throw ConfigError(in_quotes(whole) + " is not HOST:PORT");
    result.port = parse_port(text.substr(1), "port");
  }

  if (host.empty()) host = "127.0.0.1";
  if (host == "*") host = "0.0.0.0";
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found); error != 0)
    throw ConfigError("host " + in_quotes(host) + " in " + in_quotes(whole) + ": " + ::gai_strerror(error) +
                      "; name an address or a host name of this node");
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  char numeric[NI_MAXHOST];
  if (::getnameinfo(found->ai_addr, found->ai_addrlen, numeric, sizeof numeric, nullptr, 0, NI_NUMERICHOST) !=
      0)
    throw ConfigError("host " + in_quotes(host) + " has no numeric address");
  result.address = numeric;
  result.loopback = found->ai_family == AF_INET6
                        ? IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<sockaddr_in6*>(found->ai_addr)->sin6_addr)
                        : result.address.starts_with("127.");
  return result;
}

PortRange parse_ports(std::string_view text) {
  if (text.empty()) return {0, 0};
  const auto dash = text.find('-');
  if (dash == std::string_view::npos)
    throw ConfigError(in_quotes(text) + " is no range of ports; write FIRST-LAST, like 7900-7999");
  const PortRange range{parse_port(text.substr(0, dash), "port"), parse_port(text.substr(dash + 1), "port")};
  if (range.first == 0 || range.second < range.first)
    throw ConfigError(in_quotes(text) + " is an empty range of ports; write FIRST-LAST, like 7900-7999");
  return range;
}

namespace {

/// @param who what `key` gives time, and `none` what 0 stands for, for people
std::chrono::seconds parse_time(std::int64_t seconds, const char* who, const char* key, const char* none) {
  if (seconds < 0 || seconds > kWeek)
    throw ConfigError(fmt::format(
        "{} cannot be given {} seconds; write {} as a number of seconds up to a week, or 0 for {}", who,
        seconds, key, none));
  return std::chrono::seconds(seconds);
}

}  // namespace

std::chrono::seconds parse_kernel_timeout(std::int64_t seconds) {
  return parse_time(seconds, "a kernel", "kernel-timeout", "no limit");
}

std::chrono::seconds parse_drain_timeout(std::int64_t seconds) {
  return parse_time(seconds, "sessions", "drain-timeout", "ending them at once");
}

std::chrono::seconds parse_resume_timeout(std::int64_t seconds) {
  return parse_time(seconds, "clients that lost their connection", "resume-timeout",
                    "ending their sessions at once");
}

std::size_t parse_sessions(std::int64_t number) {
  if (number < 0)
    throw ConfigError("there cannot be " + std::to_string(number) +
                      " sessions; write sessions as their largest number at a time, or 0 for no limit");
  return static_cast<std::size_t>(number);
}

std::uint64_t parse_memory(std::string_view text) {
  if (text.empty()) return 0;
  constexpr std::string_view kUnits = "KMGT";
  // What OpenCL demands for one buffer.
  constexpr std::uint64_t kLeast = 32U << 20U;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const auto found = kUnits.find(unit);
  const auto power = unit.empty() ? 0 : found + 1;
  if (error != std::errc() || unit.size() > 1 || found == std::string_view::npos ||
      number > (std::numeric_limits<std::uint64_t>::max() >> (10 * power)) || number << (10 * power) < kLeast)
    throw ConfigError(in_quotes(text) +
                      " is no amount of memory for a session; write session-memory as a number of bytes, or "
                      "like 512M or 8G, 32M at least, or leave it out for no limit");
  return number << (10 * power);
}

void check_log_level(const std::string& level) {
  for (const char* known : {"trace", "debug", "info", "warning", "warn", "error", "critical", "off"})
    if (level == known) return;
  throw ConfigError("unknown log level " + in_quotes(level) +
                    "; the levels are trace, debug, info, warning, error, critical, off");
}

}  // namespace clique::daemon
