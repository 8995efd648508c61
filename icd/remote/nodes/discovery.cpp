#include "icd/remote/nodes/discovery.hpp"

#include <arpa/nameser.h>
#include <netinet/in.h>
#include <resolv.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "icd/remote/nodes/avahi.hpp"
#include "icd/remote/threads.hpp"
#include "protocol/security/key_files.hpp"

namespace clique::icd {

namespace {

constexpr const char* kService = "_clique._tcp";
/// More nodes than any site has, and than others in the network can make a program ask.
constexpr std::size_t kMostAnnounced = 1024;

/// A name without the dot at its end. Nothing if it cannot be that of a host.
std::optional<std::string> host_name_of(std::string name) {
  if (name.ends_with('.')) name.pop_back();
  const bool valid = !name.empty() && name.size() < 256 &&
                     std::all_of(
                         name.begin(), name.end(),
                         [](char each) {
                           return std::isalnum(static_cast<unsigned char>(each)) != 0 || each == '-' ||
                                  each == '.' || each == '_';
                         });
  return valid ? std::optional(std::move(name)) : std::nullopt;
}

/// The services that DNS knows. Throws std::runtime_error.
std::vector<Announced> ask_dns() {
  struct __res_state state{};
  if (::res_ninit(&state) != 0) throw std::runtime_error("the system's resolver does not start");
  // A name server that does not answer must not hold up the program's start.
  state.retrans = 1;
  state.retry = 1;
  std::array<unsigned char, 64 * 1024> answer{};
  const int size = ::res_nsearch(&state, kService, C_IN, T_SRV, answer.data(), answer.size());
  ::res_nclose(&state);
  // Not to be there is an answer as well.
  if (size <= 0) return {};
  return parse_srv(answer.data(), std::min(static_cast<std::size_t>(size), answer.size()));
}

/// Has a function find services in a thread of its own, which goes on alone if it takes too long.
class Search {
 public:
  template <typename Find>
  explicit Search(Find find) {
    auto promise = std::make_shared<std::promise<std::vector<Announced>>>();
    found_ = promise->get_future();
    const NoSignals quiet;
    std::thread([promise, find] {
      try {
        promise->set_value(find());
      } catch (...) {
        promise->set_exception(std::current_exception());
      }
    }).detach();
  }
  /// @param what looks for them, for messages
  void add_to(std::vector<Announced>& all, std::vector<std::string>& failures, const std::string& what,
              std::chrono::steady_clock::time_point deadline) {
    if (found_.wait_until(deadline) != std::future_status::ready) {
      failures.push_back(what + ": no answer in time");
      return;
    }
    try {
      for (Announced& each : found_.get()) all.push_back(std::move(each));
    } catch (const std::exception& error) {
      failures.push_back(what + ": " + error.what());
    }
  }

 private:
  std::future<std::vector<Announced>> found_;
};

protocol::KnownNodes known_nodes(const SecuritySettings& security) {
  protocol::KnownNodes all;
  for (const std::string& file : security.known_nodes) {
    try {
      protocol::KnownNodes some = protocol::KnownNodes::read(file);
      all.nodes.insert(all.nodes.end(), some.nodes.begin(), some.nodes.end());
    } catch (const protocol::SecurityError& error) {
      throw SettingError(error.what());
    }
  }
  return all;
}

}  // namespace

std::vector<Announced> parse_srv(const unsigned char* answer, std::size_t size) {
  struct Target {
    unsigned priority;
    Announced service;
  };
  std::vector<Target> targets;
  ns_msg message;
  if (::ns_initparse(answer, static_cast<int>(size), &message) != 0)
    throw std::runtime_error("the name server's answer is malformed");
  for (int i = 0; i < ns_msg_count(message, ns_s_an) && targets.size() < kMostAnnounced; ++i) {
    ns_rr record;
    if (::ns_parserr(&message, ns_s_an, i, &record) != 0)
      throw std::runtime_error("the name server's answer is malformed");
    // Priority, weight and port, then the target's name.
    constexpr unsigned kNumbers = 6;
    if (ns_rr_type(record) != ns_t_srv || ns_rr_rdlen(record) <= kNumbers) continue;
    const unsigned char* const data = ns_rr_rdata(record);
    std::array<char, NS_MAXDNAME> name{};
    if (::dn_expand(answer, answer + size, data + kNumbers, name.data(), name.size()) < 0) continue;
    // "." says that there is no such service.
    const auto host = host_name_of(name.data());
    if (host) targets.push_back({ns_get16(data), {*host, static_cast<std::uint16_t>(ns_get16(data + 4))}});
  }
  std::stable_sort(targets.begin(), targets.end(),
                   [](const Target& one, const Target& other) { return one.priority < other.priority; });
  std::vector<Announced> result;
  result.reserve(targets.size());
  for (Target& target : targets) result.push_back(std::move(target.service));
  return result;
}

Discovery sort_out(const std::vector<Announced>& announced, const SecuritySettings& security) {
  const protocol::KnownNodes known = known_nodes(security);
  Discovery result;
  std::set<Announced> seen;
  for (const Announced& service : announced) {
    const auto host = host_name_of(service.host);
    if (!host || service.port == 0 || !seen.insert({*host, service.port}).second) continue;
    if (seen.size() > kMostAnnounced) break;
    std::string name = *host;
    if (known.find(name, service.port).empty()) name = name.substr(0, name.find('.'));
    if (known.find(name, service.port).empty())
      result.strangers.push_back({*host, service.port});
    else
      result.nodes.push_back({name, service.port});
  }
  remove_repeated(result.nodes);
  return result;
}

Discovery discover_nodes(const NodeSettings& settings) {
  const auto deadline = std::chrono::steady_clock::now() + settings.connect_timeout;
  Search dns(ask_dns);
  Search avahi([deadline] { return ask_avahi(kService, deadline); });
  std::vector<Announced> announced;
  std::vector<std::string> failures;
  dns.add_to(announced, failures, "DNS", deadline);
  avahi.add_to(announced, failures, "Avahi", deadline);
  Discovery result = sort_out(announced, settings.security);
  result.failures = std::move(failures);
  return result;
}

std::vector<std::string> settle_nodes(NodeSettings& settings) {
  if (!settings.discover) return {};
  Discovery found = discover_nodes(settings);
  settings.nodes = std::move(found.nodes);
  if (!settings.nodes.empty()) return {};
  std::string text = "nodes = \"auto\" has found no node whose key is known";
  constexpr std::size_t kMostNamed = 3;
  for (std::size_t i = 0; i < std::min(found.strangers.size(), kMostNamed); ++i)
    text += (i == 0 ? "; others announce themselves: " : ", ") + found.strangers[i].text();
  if (!found.strangers.empty())
    text += ". If they are yours, store their keys with 'clique trust'";
  else
    text += "; nobody announces a service " + std::string(kService) +
            ". Announce the nodes by SRV records in DNS or by Avahi, or name them";
  for (const std::string& failure : found.failures) text += ". " + failure;
  return {text};
}

}  // namespace clique::icd
