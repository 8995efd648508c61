#include "daemon/metrics/metrics.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "protocol/no_signals.hpp"
#include "protocol/printable.hpp"

namespace clique::daemon {

namespace {

/// Throws std::runtime_error.
std::filesystem::path find_module() {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  // Relative to cliqued: in the build folder, as installed, and beside it.
  for (const char* place : {"metrics/clique-metrics.so", "../" CLIQUE_LIBEXECDIR "/clique/clique-metrics.so",
                            "clique-metrics.so"})
    if (::access((folder / place).c_str(), R_OK) == 0) return (folder / place).lexically_normal();
  throw std::runtime_error("this node has no clique-metrics.so; install all of cliqued, or unset 'metrics'");
}

}  // namespace

std::vector<ClientUsage> bounded(std::vector<ClientUsage> clients) {
  std::stable_sort(clients.begin(), clients.end(), [](const ClientUsage& one, const ClientUsage& other) {
    return one.memory > other.memory;
  });
  if (clients.size() <= kMostClients) return clients;
  ClientUsage others{kOtherClients};
  for (std::size_t i = kMostClients; i < clients.size(); ++i) {
    others.sessions += clients[i].sessions;
    others.memory += clients[i].memory;
  }
  clients.resize(kMostClients);
  clients.push_back(std::move(others));
  return clients;
}

std::unique_ptr<Metrics> open_metrics(const std::string& address) {
  const std::filesystem::path path = find_module();
  // Never closed: its server has threads.
  void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr)
    throw std::runtime_error(path.string() + " cannot be loaded: " + ::dlerror() +
                             "; install the libraries that it needs, or unset 'metrics'");
  auto* const make = reinterpret_cast<MakeMetrics*>(::dlsym(module, kMakeMetrics));
  if (make == nullptr)
    throw std::runtime_error(path.string() + " belongs to another release; install all of cliqued again");
  // The server's threads must not take the daemon's signals.
  const protocol::NoSignals quiet;
  try {
    return std::unique_ptr<Metrics>(make(address));
  } catch (const std::exception& error) {
    throw std::runtime_error("cannot listen on " + protocol::in_quotes(address) + ": " + error.what() +
                             "; write HOST:PORT with an address of this host and a port that nobody uses");
  }
}

}  // namespace clique::daemon
