#include "daemon/server/configuration/access.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "daemon/common/log.hpp"
#include "daemon/server/configuration/config_error.hpp"
#include "protocol/security/munge.hpp"

namespace clique::daemon {

namespace {

constexpr std::size_t kNameBuffer = 16U << 10U;
constexpr uid_t kRoot = 0;

uid_t user_of(const std::string& name) {
  uid_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error == std::errc() && end == name.data() + name.size()) return number;
  std::vector<char> buffer(kNameBuffer);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
    return found->pw_uid;
  throw std::invalid_argument("'" + name +
                              "' is not a user of this host; write names or numbers of users, or '*'");
}

}  // namespace

std::uint32_t parse_share(const std::string& text) {
  try {
    return protocol::parse_share(text);
  } catch (const protocol::SecurityError& error) {
    throw std::invalid_argument(error.what());
  }
}

std::string user_name(uid_t user) {
  std::vector<char> buffer(kNameBuffer);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
    return found->pw_name;
  return std::to_string(user);
}

void parse_auth(const std::string& text, AccessSettings& settings) {
  settings.keys = false;
  settings.munge.reset();
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    if (word == "keys")
      settings.keys = true;
    else if (auto socket = protocol::munge_socket(word))
      settings.munge = std::move(socket);
    else
      throw std::invalid_argument(
          "'" + word + "' is not a kind of authentication; write keys, munge, or both with a comma");
  }
}

void parse_local_users(const std::string& text, AccessSettings& settings) {
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    if (word == "*")
      settings.all_local_users = true;
    else if (!word.empty())
      settings.local_users.insert(user_of(word));
  }
}

void parse_user_shares(const std::string& text, AccessSettings& settings) {
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const auto equals = word.find('=');
    if (equals == std::string::npos)
      throw std::invalid_argument("'" + word + "' is not the share of a user; write USER=SHARE");
    settings.user_shares[user_of(word.substr(0, equals))] = parse_share(word.substr(equals + 1));
  }
}

Access::Access(AccessSettings settings, NodeDevices devices)
    : settings_(std::move(settings)), devices_(std::move(devices)) {
  try {
    read();
  } catch (const protocol::SecurityError& error) {
    throw ConfigError(std::string("authorized-clients: ") + error.what());
  }
}

void Access::read() {
  std::error_code error;
  // Before the file is read, so that a change during that is seen later.
  const auto changed = std::filesystem::last_write_time(settings_.authorized_clients, error);
  changed_ = error ? std::filesystem::file_time_type() : changed;
  authorized_ = protocol::AuthorizedClients::read(settings_.authorized_clients);
  for (const protocol::WrongLine& line : authorized_.wrong)
    spdlog::error("{}, line {}: {}; the line is skipped", settings_.authorized_clients.string(), line.number,
                  line.why);
  read_subsets();
}

void Access::read_subsets() {
  subsets_.clear();
  files_.clear();
  std::erase_if(authorized_.clients, [this](const auto& entry) {
    const auto& [key, client] = entry;
    try {
      if (!client.devices.empty()) subsets_.emplace(key, select_subset(client.devices, devices_));
      if (!client.files.empty())
        files_.emplace(key, settings_.files.narrowed(FileRoots::parse(client.files)));
      return false;
    } catch (const std::exception& error) {
      spdlog::error("{}, line {}: {}; the line is skipped", settings_.authorized_clients.string(),
                    client.line, error.what());
      return true;
    }
  });
}

void Access::refresh() {
  std::error_code error;
  const auto changed = std::filesystem::last_write_time(settings_.authorized_clients, error);
  if ((error ? std::filesystem::file_time_type() : changed) != changed_) reload();
}

void Access::reload() {
  try {
    read();
    spdlog::info("{} was read again: {} clients are authorized", settings_.authorized_clients.string(),
                 authorized_.clients.size());
  } catch (const protocol::SecurityError& failure) {
    spdlog::error("{}; the keys that were read before stay authorized", failure.what());
  }
}

std::optional<Permit> Access::permit_of(const Visitor& visitor, Purpose purpose) const {
  const bool admin = visitor.user && (*visitor.user == kRoot || *visitor.user == ::geteuid());
  if (settings_.keys)
    if (const auto known = authorized_.clients.find(visitor.key); known != authorized_.clients.end()) {
      Permit permit{known->second.name, known->second.sessions, known->second.memory, {}, settings_.files};
      if (const auto subset = subsets_.find(visitor.key); subset != subsets_.end())
        permit.devices = subset->second;
      if (const auto files = files_.find(visitor.key); files != files_.end()) permit.files = files->second;
      permit.admin = known->second.admin || admin;
      permit.share = known->second.share != 0 ? known->second.share : settings_.share;
      return permit;
    }
  if (visitor.user) {
    const uid_t user = *visitor.user;
    if (user == ::geteuid() || settings_.all_local_users || settings_.local_users.contains(user) ||
        (admin && purpose == Purpose::Operate))
      return Permit{.client = "user " + user_name(user),
                    .files = settings_.files,
                    .admin = admin,
                    .share = share_of(user)};
  }
  return std::nullopt;
}

std::uint32_t Access::share_of(uid_t user) const {
  const auto own = settings_.user_shares.find(user);
  return own != settings_.user_shares.end() ? own->second : settings_.share;
}

bool Access::wants_credential(const Visitor& visitor, Purpose purpose) const {
  return settings_.munge && !permit_of(visitor, purpose);
}

std::variant<Permit, std::string> Access::decide(const Visitor& visitor, Purpose purpose,
                                                 const std::string& node) const {
  if (auto permit = permit_of(visitor, purpose)) {
    const auto none = [](const auto& positions) { return positions.empty(); };
    if (purpose == Purpose::Use && permit->devices &&
        std::all_of(permit->devices->begin(), permit->devices->end(), none))
      return fmt::format(
          "node {} serves none of the devices that {} may use; its administrator has to change the option "
          "'devices' in authorized-clients, or the setting 'devices'",
          node, permit->client);
    return *std::move(permit);
  }
  if (settings_.munge && visitor.munge_user)
    return Permit{.client = "munge user " + user_name(*visitor.munge_user),
                  .files = settings_.files,
                  .share = share_of(*visitor.munge_user)};
  if (settings_.insecure)
    return Permit{.client = "anybody at " + visitor.address.substr(0, visitor.address.rfind(':')),
                  .files = settings_.files,
                  .shared = true,
                  .share = settings_.share};
  std::string reason;
  if (settings_.keys)
    reason = fmt::format(
        "the client's key {} is not authorized on node {}; its administrator admits it with the command "
        "'clique authorize {} NAME' there",
        visitor.key.fingerprint(), node, visitor.key.text());
  if (settings_.munge && !visitor.munge_failure.empty())
    reason += fmt::format("{}{}", reason.empty() ? "" : "; ", visitor.munge_failure);
  else if (settings_.munge)
    reason +=
        fmt::format("{}node {} admits users with a MUNGE credential; set CLIQUE_AUTH=munge for the client",
                    reason.empty() ? "" : "; ", node);
  if (visitor.user)
    reason += fmt::format("{}its administrator admits user {} with the setting local-users",
                          reason.empty() ? "" : "; or ", user_name(*visitor.user));
  return reason;
}

}  // namespace clique::daemon
