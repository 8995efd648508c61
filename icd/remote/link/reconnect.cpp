#include "icd/remote/link/reconnect.hpp"

#include <exception>
#include <string>
#include <utility>

#include "icd/common/say.hpp"
#include "icd/remote/link/inbox.hpp"
#include "icd/remote/link/link_control.hpp"
#include "icd/remote/link/outbox.hpp"
#include "icd/remote/transfers/bulk_lines.hpp"
#include "protocol/streams/stream_line.hpp"

namespace clique::icd {

namespace {

using namespace std::chrono_literals;
using protocol::ConnectionEnd;
using Direction = protocol::ZmqLine::Direction;

/// When one connection has broken, another one may still bring the reason for this long.
constexpr auto kLastWords = 100ms;

/// A silence that the user is told of.
constexpr auto kTellAfter = protocol::kSilence;
/// How long the daemon may take to answer before its silence counts as well.
constexpr auto kDaemonTime = 500ms;

/// Why a connection for commands or reports ended, for people.
std::string reason_for(protocol::Line& line) {
  if (const std::string why = line.why(); !why.empty())
    return "the connection to " + line.endpoint() + " ended: " + why + ". The node's log may say more";
  switch (line.end()) {
    case ConnectionEnd::Failed:
    case ConnectionEnd::Refused:
      return "the worker's port refused the connection to " + line.endpoint() +
             ". Check the firewalls on the way, and whether the node's worker-ports are open";
    case ConnectionEnd::Handshake:
      return "the worker's port does not speak Clique's protocol";
    default:
      return "the connection was closed or stopped answering. The node's log may say why";
  }
}

}  // namespace

Reconnect::Reconnect(std::string node, std::optional<protocol::StreamTarget> daemon,
                     std::shared_ptr<protocol::Line> commands, std::shared_ptr<protocol::Line> reports,
                     Outbox& outbox, Inbox& inbox, BulkLines& bulk, LinkControl& control)
    : node_(std::move(node)),
      daemon_(std::move(daemon)),
      commands_{std::move(commands)},
      reports_{std::move(reports)},
      outbox_(outbox),
      inbox_(inbox),
      bulk_(bulk),
      control_(control) {}

void Reconnect::set_timeout(std::chrono::milliseconds timeout) {
  timeout_.store(timeout);
  for (const TendedLine* tended : {&commands_, &reports_}) tended->line->set_resumable(timeout > 0ms);
}

void Reconnect::for_each(FunctionRef<void(const TendedLine&)> function) {
  function(commands_);
  if (!one_line()) function(reports_);
  bulk_.for_each([&](const TendedLine& tended, Direction /*direction*/) { function(tended); });
}

void Reconnect::watch(std::vector<int>& descriptors) {
  for_each([&](const TendedLine& tended) {
    if (const int descriptor = tended.line->news(); descriptor >= 0) descriptors.push_back(descriptor);
  });
}

bool Reconnect::look(Clock::time_point now) {
  if (stopped_.load()) return true;
  return timeout_.load() > 0ms ? mend(now) : check(now);
}

bool Reconnect::check_bulk(Clock::time_point now) {
  bool ended = false;
  bulk_.for_each([&](const TendedLine& tended, Direction /*direction*/) {
    ended = ended || tended.line->end() != ConnectionEnd::None;
  });
  if (!ended) return true;
  // If the worker has ended, the other lines say so at about the same time, with the reason.
  if (bulk_end_ == Clock::time_point{}) bulk_end_ = now;
  if (now - bulk_end_ < kLastWords) return false;
  control_.give_up(
      "a connection for large transfers was closed or stopped answering. Check the firewalls on the way");
  return true;
}

bool Reconnect::check(Clock::time_point now) {
  if (!check_bulk(now)) return false;
  const ConnectionEnd commands = commands_.line->end();
  const ConnectionEnd reports = reports_.line->end();
  if (commands == ConnectionEnd::None && reports == ConnectionEnd::None) return true;
  if (first_end_ == Clock::time_point{}) first_end_ = now;
  const auto& ended = commands != ConnectionEnd::None ? commands_.line : reports_.line;
  const bool both = commands != ConnectionEnd::None && reports != ConnectionEnd::None;
  if (ended->end() == ConnectionEnd::Closed && !both && now - first_end_ < kLastWords) return false;
  control_.give_up(reason_for(*ended));
  return true;
}

bool Reconnect::mend(TendedLine& tended, Clock::time_point now, FunctionRef<void()> reconnect) {
  switch (tended.repair.look(*tended.line, now, timeout_.load())) {
    case protocol::Repair::Advice::Fine:
      return true;
    case protocol::Repair::Advice::Wait:
      break;
    case protocol::Repair::Advice::Reconnect:
      reconnect();
      break;
    case protocol::Repair::Advice::GiveUp:
      control_.give_up(std::string(tended.repair.reason()) + ". The node's log may say why");
      break;
  }
  return false;
}

bool Reconnect::mend(Clock::time_point now) {
  // The owner of a line's socket makes the new connection: the outbox under its lock, or the receiving
  // thread.
  bool fine = mend(reports_, now, [this] { inbox_.reconnect(reports_.line); });
  if (!one_line()) fine = mend(commands_, now, [this] { outbox_.reconnect(); }) && fine;
  try {
    bulk_.for_each([&](TendedLine& tended, Direction direction) {
      if (direction == Direction::Inward) {
        fine = mend(tended, now, [&] { inbox_.reconnect(tended.line); }) && fine;
        return;
      }
      fine = mend(tended, now, [&] { tended.line->reconnect(); }) && fine;
      if (!tended.line->up()) tended.line->listen();
    });
  } catch (const std::exception& error) {
    control_.give_up(std::string("a connection for large transfers could not be made again: ") +
                     error.what());
  }
  tell(fine, now);
  return fine;
}

void Reconnect::tell(bool fine, Clock::time_point now) {
  const auto seconds = [&] {
    return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now - heard_).count()) + " s";
  };
  if (fine) {
    if (told_) say("node " + node_ + " answers again, after " + seconds());
    told_ = false;
    heard_ = {};
    asked_ = {};
    daemon_.reset();
    return;
  }
  if (heard_ == Clock::time_point{}) {
    heard_ = reports_.line->heard();
    if (heard_ == Clock::time_point{}) heard_ = now;
  }
  if (told_ || now - heard_ < kTellAfter) return;
  // Since it was asked: that may be long after the silence began.
  if (asked_ == Clock::time_point{}) asked_ = now;
  daemon_.ask();
  const bool daemon_answers = daemon_.answered();
  if (!daemon_answers && now - asked_ < kDaemonTime) return;
  told_ = true;
  const auto left = std::chrono::duration_cast<std::chrono::seconds>(timeout_.load());
  const std::string wait =
      ". Its commands wait up to " + std::to_string(left.count()) + " s more, its resume-timeout. ";
  if (daemon_answers)
    say("node " + node_ + ": its worker does not answer for " + seconds() + ", and its cliqued does" + wait +
        "The worker is stopped, or its host is overloaded: check the host's load, and the node's log");
  else
    say("node " + node_ + ": no answer for " + seconds() + wait +
        "Check that the host is up, and the network and the firewalls on the way to " +
        commands_.line->endpoint());
}

}  // namespace clique::icd
