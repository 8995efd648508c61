#include "daemon/server/session_log.hpp"

#include <limits>
#include <tuple>
#include <utility>

#include "daemon/server/access.hpp"

namespace clique::daemon {

namespace {

void add_to(std::uint64_t& sum, std::uint64_t value) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  sum = value > kMost - sum ? kMost : sum + value;
}

template <typename Sums, typename Values, std::size_t... I>
void add_each(Sums sums, Values values, std::index_sequence<I...> /*positions*/) {
  (add_to(std::get<I>(sums), std::get<I>(values)), ...);
}

void add_reason(std::string& reasons, const std::string& reason) {
  if (reason.empty() || reasons.find(reason) != std::string::npos) return;
  reasons += (reasons.empty() ? "" : "; ") + reason;
}

}  // namespace

void add(protocol::Usage& sum, const protocol::Usage& usage) {
  add_each(sum.fields(), usage.fields(), std::make_index_sequence<protocol::kFieldCount<protocol::Usage>>{});
}

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
    add_reason(entry.sum.end, record->end);
  } else {
    ++entry.without_record;
  }
  if (!record || !how.empty()) add_reason(entry.sum.end, "a worker exited" + (how.empty() ? "" : ": " + how));
  if (--entry.workers > 0) return;
  LogFields fields = usage_fields(entry, entry.sum.usage);
  fields.push_back({"uncounted-workers", entry.without_record});
  fields.push_back({"end", entry.sum.end.empty() ? "goodbye" : entry.sum.end});
  for (LogField& field : owner_fields(entry)) fields.push_back(std::move(field));
  log_fields(spdlog::level::info, fmt::format("session {} ended", session), {{"session", session}}, fields);
  sessions_.erase(found);
}

}  // namespace clique::daemon
