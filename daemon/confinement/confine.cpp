#include "daemon/confinement/confine.hpp"

#include <functional>
#include <stdexcept>

#include "daemon/confinement/fixed_peer.hpp"
#include "daemon/confinement/landlock.hpp"
#include "daemon/confinement/namespaces.hpp"
#include "daemon/confinement/resources.hpp"
#include "daemon/confinement/system_calls.hpp"

namespace clique::daemon::confinement {

namespace {

constexpr const char* kNoNamespaces =
    "this kernel, container or chroot does not allow user namespaces (see user.max_user_namespaces and "
    "kernel.apparmor_restrict_unprivileged_userns)";

/// Sets up the walls one after the other, and notes which ones fail.
class Builder {
 public:
  Builder(const FileNeeds& needs, Start start, Network network)
      : needs_(needs), start_(start), network_(network), rules_(file_rules(needs)) {}

  MissingWalls build() {
    try_to(Wall::Limits, [this] { set_limits(start_ == Start::InNamespaces); });
    if (wants_namespaces(needs_.role)) build_namespaces();
    try_to(Wall::Privileges, [] { drop_privileges(); });
    // In a PID namespace, signals cannot reach processes outside.
    bool signals_refused = start_ == Start::InNamespaces;
    try_to(Wall::FileRights, [&] { signals_refused |= restrict_file_rights(rules_, scope()); });
    if (network_ != Network::Own) {
      // Where Landlock keeps connections what they are, filters are a second means. This makes a socket.
      const bool fixed = network_ == Network::FixedPeers || landlock_knows_tcp();
      if (is_worker() && !fixed) try_to(Wall::Network, [] { try_fixing_a_peer(); });
      try_to(Wall::Network, [this] { restrict_sockets(needs_.role); });
    }
    try_to(Wall::SystemCalls, [&] { restrict_system_calls(needs_, !signals_refused); });
    return std::move(missing_);
  }

 private:
  void try_to(Wall wall, const std::function<void()>& set_up) {
    try {
      set_up();
    } catch (const std::exception& error) {
      missing_.push_back({wall, error.what()});
    }
  }

  void build_namespaces() {
    if (start_ != Start::InNamespaces) {
      for (const Wall wall : {Wall::Processes, Wall::Files}) missing_.push_back({wall, kNoNamespaces});
      return;
    }
    try_to(Wall::Files, [this] {
      const std::string visible = enter_own_file_system(rules_, needs_.folder);
      if (!visible.empty()) missing_.push_back({Wall::Processes, visible});
    });
  }

  LandlockScope scope() const {
    // Workers share memory with clients and with each other through sockets with abstract names.
    return {network_ != Network::Own, !is_worker()};
  }
  bool is_worker() const { return needs_.role == Role::OpenClWorker || needs_.role == Role::CudaWorker; }

  const FileNeeds& needs_;
  const Start start_;
  const Network network_;
  const FileRules rules_;
  MissingWalls missing_;
};

}  // namespace

bool wants_namespaces(Role role) {
  return role == Role::OpenClWorker;
}

MissingWalls confine(const FileNeeds& needs, Start start, Mode mode, Network network) {
  if (mode == Mode::Off) return {};
  make_cache_folders(needs);
  MissingWalls missing = Builder(needs, start, network).build();
  if (mode == Mode::Required && !missing.empty())
    throw std::runtime_error("confinement is 'required', but this host lacks walls: " + to_text(missing) +
                             "; fix this, or set confinement to 'on' to run without them");
  return missing;
}

std::string to_text(const MissingWalls& missing) {
  std::string text;
  for (const auto& [wall, reason] : missing)
    text += (text.empty() ? "" : "; ") + std::string(name_of(wall)) + ": " + reason;
  return text;
}

}  // namespace clique::daemon::confinement
