#include "daemon/server/session_log.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "daemon/server/configuration/access.hpp"

namespace clique::daemon {

namespace {

void add_reason(std::string& reasons, const std::string& reason) {
  if (reason.empty() || reasons.find(reason) != std::string::npos) return;
  reasons += (reasons.empty() ? "" : "; ") + reason;
}

/// The ways that any link goes, as the settings call them.
LogField transport_field(std::string name, const LinkUsage& links) {
  std::string ways;
  const auto note = [&ways](std::uint64_t count, std::string_view way) {
    if (count > 0) ways.append(ways.empty() ? "" : ",").append(way);
  };
  note(links.streams, "streams");
  note(links.zeromq, "zeromq");
  note(links.ucx, "ucx");
  note(links.shared_memory, "shared-memory");
  if (ways.empty()) return {std::move(name), {}};
  return {std::move(name), LogWord{std::move(ways)}};
}

/// Bytes per second.
LogField rate_field(std::string name, std::uint64_t bytes, std::uint64_t us) {
  if (bytes == 0 || us == 0) return {std::move(name), {}};
  // More would not fit into the number.
  constexpr double kMost = 1e18;
  constexpr double kSecond = 1e6;
  const double rate = static_cast<double>(bytes) / static_cast<double>(us) * kSecond;
  return {std::move(name), static_cast<std::uint64_t>(std::min(rate, kMost))};
}

}  // namespace

LogFields owner_fields(const SessionLog::Entry& entry) {
  const SessionOwner& owner = entry.owner;
  std::string devices;
  for (const std::string& device : owner.devices) devices += (devices.empty() ? "" : ", ") + device;
  LogFields fields{{"client", owner.client}};
  if (entry.user.empty())
    fields.push_back({"user", {}});
  else
    fields.push_back({"user", entry.user});
  fields.push_back({"address", LogWord{owner.visitor.address}});
  fields.push_back({"key", LogWord{owner.visitor.key.fingerprint()}});
  fields.push_back({"program", owner.program});
  fields.push_back({"devices", devices});
  return fields;
}

LogFields usage_fields(const SessionLog::Entry& entry, const protocol::Usage& usage) {
  const std::chrono::duration<double> time = SessionLog::Clock::now() - entry.since;
  return {
      {"seconds", time.count()},      {"network-in", usage.network_in}, {"network-out", usage.network_out},
      {"shared-in", usage.shared_in}, {"shared-out", usage.shared_out}, {"peers-in", usage.peers_in},
      {"peers-out", usage.peers_out}, {"kernels", usage.kernels},       {"peak-memory", usage.peak_memory}};
}

LogFields link_fields(const SessionLinks& links) {
  const LinkUsage& client = links.client;
  const LinkUsage& peers = links.peers;
  return {transport_field("transport", client),
          {"connections", client.connections},
          rate_field("rate-in", client.bulk_in, client.bulk_in_us),
          rate_field("rate-out", client.bulk_out, client.bulk_out_us),
          transport_field("peers-transport", peers),
          {"peers-connections", peers.connections},
          rate_field("peers-rate-in", peers.bulk_in, peers.bulk_in_us),
          rate_field("peers-rate-out", peers.bulk_out, peers.bulk_out_us)};
}

void SessionLog::begin(SessionId session, SessionOwner owner, std::size_t workers) {
  const auto user = owner.visitor.munge_user ? owner.visitor.munge_user : owner.visitor.user;
  const Entry& entry =
      sessions_.emplace(session, Entry{std::move(owner), user ? user_name(*user) : "", Clock::now(), workers})
          .first->second;
  log_fields(spdlog::level::info, fmt::format("session {} began", session), {{"session", session}},
             owner_fields(entry));
}

void SessionLog::ends(SessionId session, const std::string& reason) {
  if (const auto found = sessions_.find(session); found != sessions_.end())
    add_reason(found->second.sum.end, reason);
}

void SessionLog::worker_ended(SessionId session, const std::optional<SessionRecord>& record,
                              const std::string& how) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  Entry& entry = found->second;
  if (record) {
    add(entry.sum.usage, record->usage);
    add(entry.sum.links, record->links);
    add_reason(entry.sum.end, record->end);
  } else {
    ++entry.without_record;
  }
  if (!record || !how.empty()) add_reason(entry.sum.end, "a worker exited" + (how.empty() ? "" : ": " + how));
  if (--entry.workers > 0) return;
  LogFields fields = usage_fields(entry, entry.sum.usage);
  for (LogField& field : link_fields(entry.sum.links)) fields.push_back(std::move(field));
  fields.push_back({"uncounted-workers", entry.without_record});
  fields.push_back({"end", entry.sum.end.empty() ? "goodbye" : entry.sum.end});
  for (LogField& field : owner_fields(entry)) fields.push_back(std::move(field));
  log_fields(spdlog::level::info, fmt::format("session {} ended", session), {{"session", session}}, fields);
  sessions_.erase(found);
}

}  // namespace clique::daemon
