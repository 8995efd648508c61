#include "daemon/server/session_log.hpp"

#include "daemon/common/log.hpp"
#include "daemon/server/access.hpp"
#include "protocol/printable.hpp"

namespace clique::daemon {

namespace {

/// The longest text of others in a line, so that a line holds all of its values.
constexpr std::size_t kLongestText = 320;

/// A text in quotation marks that it cannot leave.
std::string in_quotes(std::string_view text) {
  std::string inner;
  for (const char c : text) {
    if (c == '"' || c == '\\') inner += '\\';
    inner += c;
  }
  return '"' + protocol::printable(inner, kLongestText) + '"';
}

std::string user_of(const Visitor& visitor) {
  const auto user = visitor.munge_user ? visitor.munge_user : visitor.user;
  return user ? in_quotes(user_name(*user)) : "-";
}

void add_reason(std::string& reasons, const std::string& reason) {
  if (reason.empty() || reasons.find(reason) != std::string::npos) return;
  reasons += (reasons.empty() ? "" : "; ") + reason;
}

}  // namespace

std::string SessionLog::text_of(const SessionOwner& owner) {
  std::string devices;
  for (const std::string& device : owner.devices) devices += (devices.empty() ? "" : ", ") + device;
  return fmt::format("client={} user={} address={} key={} program={} devices={}", in_quotes(owner.client),
                     user_of(owner.visitor), owner.visitor.address, owner.visitor.key.fingerprint(),
                     in_quotes(owner.program), in_quotes(devices));
}

std::string SessionLog::text_of(const Entry& entry) {
  const SessionRecord& sum = entry.sum;
  const std::chrono::duration<double> time = Clock::now() - entry.since;
  return fmt::format(
      "seconds={:.3f} network-in={} network-out={} shared-in={} shared-out={} peers-in={} peers-out={} "
      "kernels={} peak-memory={} uncounted-workers={} end={}",
      time.count(), sum.network_in, sum.network_out, sum.shared_in, sum.shared_out, sum.peers_in,
      sum.peers_out, sum.kernels, sum.peak_memory, entry.without_record,
      in_quotes(sum.end.empty() ? "goodbye" : sum.end));
}

void SessionLog::begin(SessionId session, SessionOwner owner, std::size_t workers) {
  spdlog::info("session {} began: {}", session, text_of(owner));
  sessions_.emplace(session, Entry{std::move(owner), Clock::now(), workers});
}

void SessionLog::worker_ended(SessionId session, const std::optional<SessionRecord>& record,
                              const std::string& how) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  Entry& entry = found->second;
  if (record) {
    entry.sum.network_in += record->network_in;
    entry.sum.network_out += record->network_out;
    entry.sum.shared_in += record->shared_in;
    entry.sum.shared_out += record->shared_out;
    entry.sum.peers_in += record->peers_in;
    entry.sum.peers_out += record->peers_out;
    entry.sum.kernels += record->kernels;
    entry.sum.peak_memory += record->peak_memory;
    add_reason(entry.sum.end, record->end);
  } else {
    ++entry.without_record;
  }
  if (!record || !how.empty()) add_reason(entry.sum.end, "a worker exited" + (how.empty() ? "" : ": " + how));
  if (--entry.workers > 0) return;
  spdlog::info("session {} ended: {} {}", session, text_of(entry), text_of(entry.owner));
  sessions_.erase(found);
}

}  // namespace clique::daemon
