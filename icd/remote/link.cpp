#include "icd/remote/link.hpp"

#include <algorithm>
#include <thread>

#include "icd/remote/answers.hpp"
#include "icd/remote/clock.hpp"
#include "icd/remote/copy.hpp"
#include "icd/remote/reactor.hpp"
#include "icd/remote/uploads.hpp"
#include "protocol/transport/shared_offer.hpp"

namespace clique::icd {

namespace {

using namespace std::chrono_literals;

/// After an application's thread has received, the reactor leaves the descriptor to such threads for this
/// long.
constexpr auto kAttended = 5ms;
/// When one of the two connections has ended, the other may still bring why.
constexpr auto kLastWords = 100ms;
/// For a worker on this host to hand its memory over.
constexpr std::chrono::milliseconds kOfferTimeout{1000};
/// For a Goodbye to leave.
constexpr int kGoodbyeMs = 100;

/// Clock exchanges at the start: so many, unless they take too long.
constexpr int kClockExchanges = 5;
constexpr auto kClockTime = 20ms;
/// While the link is used, the clock is looked at this often.
constexpr auto kClockPeriod = 2s;

/// What may be under way to a worker: enough for its stages to overlap, and no more, since it delays others;
/// and what a way of this rate holds, where that is longer than on one host, but not without bound.
constexpr std::size_t kWindow = 4U << 20U;
constexpr double kBytesPerNs = 3;
constexpr std::size_t kLargestWindow = 64U << 20U;

using protocol::Line;
using protocol::Monitor;

constexpr const char* kForeign = "the session belongs to the process that this one was forked from";

}  // namespace

/// What a link is while it lives: the two sockets and all that belongs to them. In a forked child it is
/// leaked.
class Link::Session final : public Reactor::Client,
                            public Inbox::Handler,
                            public Outbox::Owner,
                            public Uploads::Way {
 public:
  Session(Link& link, zmq::context_t& zmq, std::chrono::milliseconds timeout)
      : Reactor::Client(Reactor::instance()),
        link_(link),
        zmq_(zmq),
        shared_(take_offer(timeout)),
        commands_{make_line(link.endpoint_.commands, protocol::kCommandsLine, Line::Direction::Outward), {}},
        reports_{make_line(link.endpoint_.reports, protocol::kReportsLine, Line::Direction::Inward), {}},
        outbox(commands_.line, shared_, *this),
        inbox(reports_.line, shared_, *this),
        uploads(*this) {
    if (!shared_) protocol::keep_payload_memory();
    Reactor::instance().add(*this);
  }
  ~Session() override {
    inbox.finish("the session was closed");
    Reactor::instance().remove(*this);
  }

  void open(std::chrono::milliseconds timeout);
  void start(Reports& reports);
  void close();
  void say_goodbye();
  void condemn(const std::string& reason) {
    if (inbox.condemn(reason)) stir();
  }
  std::string loss() {
    std::lock_guard lock(mutex_);
    return loss_;
  }

  // Reactor::Client
  void serve(Reactor::Clock::time_point now) override;
  bool watch(Reactor::Clock::time_point now, std::vector<int>& fds) override;
  // Inbox::Handler
  void handle(WorkerMessage&& message) override {
    std::visit([this](auto& one) { take(one); }, message);
  }
  void ended(const std::string& reason) override;
  void attendance_changed() override { stir(); }
  std::chrono::milliseconds idle() override {
    Reactor& reactor = Reactor::instance();
    if (!reactor.here()) return Inbox::kLookAgain;
    reactor.tend();
    return 1ms;
  }
  // Outbox::Owner
  void appended() override { stir(); }
  void failed(const std::string& reason) override { condemn(reason); }
  // Uploads::Way
  void send(protocol::PeerData&& part) override;

  /// @param more where there are lines for them already, not else
  void expect_pushes(bool more = false);
  bool shares_memory() const { return shared_ != nullptr; }
  SharedBlock take_shared(std::size_t size) const {
    auto block = shared_ ? shared_->take(size) : nullptr;
    const auto offset = block ? static_cast<std::uint64_t>(block.get() - shared_->outgoing().data()) : 0;
    return {std::move(block), offset};
  }

 private:
  std::shared_ptr<protocol::SharedMemory> take_offer(std::chrono::milliseconds timeout) const;
  std::shared_ptr<Line> make_line(const std::string& endpoint, protocol::LineId id,
                                  Line::Direction direction);
  /// A line of ours and what is done where it breaks.
  struct Tended {
    std::shared_ptr<Line> line;
    protocol::Repair repair;
  };
  /// What the lines of a session that ends with its connections have come to.
  /// @returns whether nothing is to be done about them.
  bool check_connections(Reactor::Clock::time_point now);
  /// The same for the others: has those that broke connected again.
  bool mend_connections(Reactor::Clock::time_point now);
  template <typename F>
  bool mend(Tended& tended, Reactor::Clock::time_point now, F&& reconnect);
  /// Calls function(tended) for all lines.
  template <typename F>
  void with_lines(F&& function);
  /// Makes lines for bulk, as far as there should be some and are not. Under bulk_mutex_.
  /// @returns how many were there before.
  std::size_t extend(std::vector<Tended>& lines, Line::Direction direction);
  void close_uplinks();
  void ask_clock();
  Reports& reports();

  /// Replies have the number of their request; reports have not.
  template <typename M>
  void take(M& message) {
    if constexpr (requires { message.request; }) {
      answers.deliver(message.request, M::op, &message);
    } else {
      take_report(std::move(message));
    }
  }
  void take_report(protocol::Attached&& attached);
  void take_report(protocol::SessionEnded&& end) {
    last_words_ = end.reason.empty() ? "no reason given" : end.reason;
    condemn(last_words_);
  }
  void take_report(protocol::EventState&& state) {
    // NOLINTNEXTLINE(performance-move-const-arg): all reports are handed on in one way
    reports().event_state(std::move(state));
  }
  void take_report(protocol::Data&& data) { reports().data(std::move(data)); }
  void take_report(protocol::Print&& text) { reports().print(std::move(text)); }
  void take_report(protocol::Failed&& failure) { reports().failed(std::move(failure)); }
  void take_report(protocol::PeerLost&& loss) { reports().unreachable(loss.peer); }
  void take_report(protocol::PeerData&& part) {
    expect_pushes(true);
    reports().pushed(std::move(part));
  }
  void take_report(protocol::Taken&& taken) {
    if (uploads.taken(taken)) inbox.run({[this] { uploads.go_on(); }, {}});
  }

  Link& link_;
  zmq::context_t& zmq_;
  const std::shared_ptr<protocol::SharedMemory> shared_;  // null: the worker is elsewhere
  Tended commands_;
  Tended reports_;

 public:
  Answers answers;
  Outbox outbox;
  Inbox inbox;
  Uploads uploads;

 private:
  std::atomic<bool> described_{false};  // Attached has come
  std::atomic<bool> closing_{false};    // by ourselves
  std::mutex mutex_;
  std::string loss_;
  Reports* receiver_ = nullptr;  // under mutex_ for start(); then constant
  std::atomic<bool> started_{false};
  std::atomic<bool> over_{false};

  /// How long a line may be down; 0: the session ends with its connections.
  std::atomic<std::chrono::milliseconds> patience_{0ms};

  // Lines for bulk, made when they are first needed. In shared memory there are none.
  std::mutex bulk_mutex_;
  std::vector<Tended> uplinks_;
  std::vector<Tended> downlinks_;
  std::size_t next_uplink_ = 0;
  protocol::LineId next_line_ = protocol::kFirstBulkLine;
  bool bulk_closed_ = false;
  Loans loans_;

  // The receiving thread's.
  std::string last_words_;
  ClockEstimate clock_;
  std::int64_t round_trip_ = 1'000'000'000;  // the shortest, ns, or more than any

  // The reactor's.
  Reactor::Clock::time_point first_end_;
  Reactor::Clock::time_point bulk_end_;
  Reactor::Clock::time_point attended_at_;
  Reactor::Clock::time_point clock_asked_;
  unsigned attendances_ = 0;
};

std::shared_ptr<protocol::SharedMemory> Link::Session::take_offer(std::chrono::milliseconds timeout) const {
  const WorkerEndpoint& endpoint = link_.endpoint_;
  if (endpoint.shared.empty()) return nullptr;
  return protocol::take_shared_offer(endpoint.shared, endpoint.token, protocol::Guest::Client,
                                     std::min(timeout, kOfferTimeout));
}

void Link::Session::say_goodbye() {
  if (patience_.load() == 0ms || over_.load() || closing_.exchange(true)) return;
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::milliseconds(kGoodbyeMs);
  outbox.compose([](protocol::Batch& batch) { batch.add(protocol::Goodbye{}); });
  // A thread of the application's may be stuck in the midst of sending.
  while ((outbox.pending() || commands_.line->end() == Monitor::End::None) &&
         std::chrono::steady_clock::now() < give_up) {
    outbox.try_flush();
    std::this_thread::sleep_for(100us);
  }
}

std::shared_ptr<Line> Link::Session::make_line(const std::string& endpoint, protocol::LineId id,
                                               Line::Direction direction) {
  const bool begins_session = id < protocol::kFirstBulkLine;
  auto line = std::make_shared<Line>(zmq_, endpoint, link_.endpoint_.token, id, direction, begins_session);
  line->set_resumable(begins_session ? !shared_ : patience_.load() > 0ms);
  return line;
}

void Link::Session::open(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const auto now = [] { return std::chrono::steady_clock::now(); };
  link_.wait([&] { return described_.load(std::memory_order_acquire) || now() >= deadline; });
  if (link_.lost()) throw Error(CL_DEVICE_NOT_AVAILABLE, loss());
  if (!described_.load(std::memory_order_acquire))
    throw Error(CL_DEVICE_NOT_AVAILABLE, "no answer within " + std::to_string(timeout.count()) + " ms");

  const auto enough = std::min(now() + kClockTime, deadline);
  for (int i = 0; i < kClockExchanges && now() < enough; ++i) {
    std::atomic<bool> answered{false};
    // The answer comes while we wait, or the link is lost; both end the use of `answered`.
    const auto asked = now_ns();
    const auto id =
        answers.expect(protocol::Op::ClockSynced, [&, asked](void* reply, const std::string& /*failure*/) {
          const auto arrived = now_ns();
          round_trip_ = std::min(round_trip_, arrived - asked);
          if (reply && clock_.add(asked, static_cast<protocol::ClockSynced*>(reply)->clock, arrived))
            link_.clock_offset_.store(clock_.offset(), std::memory_order_relaxed);
          answered.store(true, std::memory_order_release);
        });
    if (id == 0) break;
    link_.post(protocol::SyncClock{id});
    link_.wait([&] { return answered.load(std::memory_order_acquire); });
  }
  if (link_.lost()) throw Error(CL_DEVICE_NOT_AVAILABLE, loss());
  link_.long_way_ = !shared_ && round_trip_ > std::chrono::nanoseconds(protocol::kLongWay).count();
  const std::size_t least =
      shared_ || link_.long_way_ ? kWindow : kWindow * protocol::bulk_connections(false);
  uploads.set_window(std::clamp(static_cast<std::size_t>(static_cast<double>(round_trip_) * kBytesPerNs),
                                least, shared_ ? kWindow : kLargestWindow));
}

void Link::Session::start(Reports& reports) {
  bool late = false;
  {
    std::lock_guard lock(mutex_);
    receiver_ = &reports;
    started_.store(true, std::memory_order_release);
    late = over_.load();
  }
  if (late) reports.lost(loss());
}

Reports& Link::Session::reports() {
  if (!started_.load(std::memory_order_acquire))
    throw protocol::DecodeError("a report before there was a command");
  return *receiver_;
}

void Link::Session::take_report(protocol::Attached&& attached) {
  if (described_.load()) throw protocol::DecodeError("Attached came twice");
  if (!shared_) patience_.store(std::chrono::milliseconds(attached.resume_ms));
  for (const Tended* tended : {&commands_, &reports_}) tended->line->set_resumable(patience_.load() > 0ms);
  link_.attached_ = std::move(attached);
  described_.store(true, std::memory_order_release);
}

void Link::Session::close() {
  if (!closing_.exchange(true)) {
    outbox.compose([](protocol::Batch& batch) { batch.add(protocol::Goodbye{}); });
    outbox.flush();
  }
  inbox.finish("the session was closed");
}

std::size_t Link::Session::extend(std::vector<Tended>& lines, Line::Direction direction) {
  const std::size_t before = lines.size();
  const auto answered = [&] { return before > 0 && lines.back().line->round_trip() > 0ns; };
  while (protocol::worth_another_connection(lines.size(), answered(), link_.long_way_))
    lines.push_back({make_line(link_.endpoint_.commands, next_line_++, direction), {}});
  if (lines.size() != before) stir();
  return before;
}

void Link::Session::send(protocol::PeerData&& part) {
  if (shared_) {
    // Not while others wait to send, as the outbox does where there is no room.
    const auto from = part.data.bytes;
    if (const auto block = shared_->take(from.size())) {
      copy(block.get(), from.data(), from.size());
      part.data = {{block.get(), from.size()}, block};
    }
    outbox.compose([&](protocol::Batch& batch) { batch.add(part); });
    outbox.flush();
    return;
  }
  const std::lock_guard lock(bulk_mutex_);
  if (bulk_closed_) return;
  try {
    extend(uplinks_, Line::Direction::Outward);
    protocol::Batch batch;
    part.data.owner = loans_.lend(std::move(part.data.owner));
    batch.add(part);
    uplinks_[next_uplink_++ % uplinks_.size()].line->send(batch);
  } catch (const std::exception& error) {
    condemn(std::string("sending failed: ") + error.what());
  }
}

void Link::Session::expect_pushes(bool more) {
  if (shared_) return;
  const std::lock_guard lock(bulk_mutex_);
  if (bulk_closed_ || (more && downlinks_.empty())) return;
  try {
    for (std::size_t i = extend(downlinks_, Line::Direction::Inward); i < downlinks_.size(); ++i)
      inbox.add(downlinks_[i].line);
  } catch (const zmq::error_t& error) {
    condemn(std::string("connecting failed: ") + error.what());
  }
}

void Link::Session::close_uplinks() {
  const auto cancelled = uploads.close();
  {
    const std::lock_guard lock(bulk_mutex_);
    bulk_closed_ = true;
    for (const Tended& tended : uplinks_) tended.line->close(0);
  }
  loans_.await_return();
  for (const auto& then : cancelled) then();
}

void Link::Session::ended(const std::string& reason) {
  const bool by_ourselves = closing_.load();
  outbox.close(by_ourselves ? kGoodbyeMs : 0);
  close_uplinks();
  const std::string why = last_words_.empty() ? reason : "the worker ended the session: " + last_words_;
  Reports* receiver = nullptr;
  {
    std::lock_guard lock(mutex_);
    loss_ = "node " + link_.endpoint_.node + ": " + why;
    receiver = receiver_;
    over_.store(true);
  }
  link_.lost_.store(true, std::memory_order_release);
  if (receiver && !by_ourselves) receiver->lost(loss_);
  answers.fail_all(loss_);
}

bool Link::Session::check_connections(Reactor::Clock::time_point now) {
  const std::lock_guard lock(bulk_mutex_);
  for (const auto* lines : {&uplinks_, &downlinks_})
    for (const Tended& tended : *lines) {
      if (tended.line->end() == Monitor::End::None) continue;
      // Where the worker has ended, the others tell so at about the same time, and why.
      if (bulk_end_ == Reactor::Clock::time_point{}) bulk_end_ = now;
      if (now - bulk_end_ < kLastWords) return false;
      condemn("a connection for large transfers was closed or fell silent. Is a firewall between?");
    }
  const Monitor::End ends[] = {commands_.line->end(), reports_.line->end()};
  if (ends[0] == Monitor::End::None && ends[1] == Monitor::End::None) return true;
  if (first_end_ == Reactor::Clock::time_point{}) first_end_ = now;
  const Monitor::End end = ends[0] != Monitor::End::None ? ends[0] : ends[1];
  const bool both = ends[0] != Monitor::End::None && ends[1] != Monitor::End::None;
  if (end == Monitor::End::Closed && !both && now - first_end_ < kLastWords) return false;
  switch (end) {
    case Monitor::End::Refused:
      condemn(
          "the worker's port refused the connection. Is a firewall between, or a limit on the worker's "
          "ports?");
      break;
    case Monitor::End::Handshake:
      condemn("the worker's port does not speak Clique's protocol");
      break;
    default:
      condemn("the connection was closed or fell silent. The node's log may tell more");
      break;
  }
  return true;
}

template <typename F>
void Link::Session::with_lines(F&& function) {
  function(commands_);
  function(reports_);
  const std::lock_guard lock(bulk_mutex_);
  for (auto* lines : {&uplinks_, &downlinks_})
    for (Tended& tended : *lines) function(tended);
}

void Link::Session::serve(Reactor::Clock::time_point now) {
  if (over_.load()) return;
  outbox.try_flush();
  inbox.serve();
  if (started_.load() && now - clock_asked_ > kClockPeriod) {
    if (clock_asked_ != Reactor::Clock::time_point{}) ask_clock();
    clock_asked_ = now;
  }
}

void Link::Session::ask_clock() {
  const auto asked = now_ns();
  const auto id =
      answers.expect(protocol::Op::ClockSynced, [this, asked](void* reply, const std::string& /*failure*/) {
        if (reply && clock_.add(asked, static_cast<protocol::ClockSynced*>(reply)->clock, now_ns()))
          link_.clock_offset_.store(clock_.offset(), std::memory_order_relaxed);
      });
  if (id == 0) return;
  outbox.compose([&](protocol::Batch& batch) { batch.add(protocol::SyncClock{id}); });
  outbox.try_flush();
}

template <typename F>
bool Link::Session::mend(Tended& tended, Reactor::Clock::time_point now, F&& reconnect) {
  switch (tended.repair.look(*tended.line, now, patience_.load())) {
    case protocol::Repair::Advice::Fine:
      return true;
    case protocol::Repair::Advice::Wait:
      break;
    case protocol::Repair::Advice::Reconnect:
      reconnect();
      break;
    case protocol::Repair::Advice::GiveUp:
      condemn(std::string(tended.repair.reason()) + ". The node's log may tell more");
      break;
  }
  return false;
}

bool Link::Session::mend_connections(Reactor::Clock::time_point now) {
  bool fine = mend(commands_, now, [this] { outbox.reconnect(); });
  fine = mend(reports_, now, [this] { inbox.reconnect(reports_.line); }) && fine;
  const std::lock_guard lock(bulk_mutex_);
  if (bulk_closed_) return fine;
  for (Tended& tended : downlinks_) fine = mend(tended, now, [&] { inbox.reconnect(tended.line); }) && fine;
  try {
    for (Tended& tended : uplinks_) {
      fine = mend(tended, now, [&] { tended.line->reconnect(); }) && fine;
      if (!tended.line->up()) tended.line->listen();
    }
  } catch (const std::exception& error) {
    condemn(std::string("connecting again failed: ") + error.what());
  }
  return fine;
}

bool Link::Session::watch(Reactor::Clock::time_point now, std::vector<int>& fds) {
  const Inbox::View view = inbox.view();
  if (view.ended) return true;
  if (view.condemned) return false;
  with_lines([&](const Tended& tended) {
    if (const int fd = tended.line->news(); fd >= 0) fds.push_back(fd);
  });
  const bool connections_clear =
      closing_.load() || (patience_.load() > 0ms ? mend_connections(now) : check_connections(now));
  if (view.attendances != attendances_) {
    attendances_ = view.attendances;
    attended_at_ = now;
  }
  if (!connections_clear || outbox.pending()) return false;
  // Who leads sees everything itself, and tells when it leaves.
  if (view.led) return true;
  return view.settled && now - attended_at_ >= kAttended && inbox.rest(fds);
}

Link::Link(zmq::context_t& zmq, WorkerEndpoint endpoint, std::chrono::milliseconds timeout)
    : endpoint_(std::move(endpoint)) {
  try {
    session_ = std::make_unique<Session>(*this, zmq, timeout);
    outbox_ = &session_->outbox;
    session_->open(timeout);
  } catch (const zmq::error_t& error) {
    throw Error(CL_DEVICE_NOT_AVAILABLE, endpoint_.commands + ": " + error.what());
  }
}

Link::~Link() {
  if (birthplace_.foreign()) {
    [[maybe_unused]] auto* const leaked = session_.release();
    return;
  }
  close();
}

void Link::start(Reports& reports) {
  if (birthplace_.foreign())
    reports.lost(kForeign);
  else
    session_->start(reports);
}

void Link::flush() {
  if (!birthplace_.foreign()) outbox_->flush();
}

bool Link::shares_memory() const {
  return !birthplace_.foreign() && session_->shares_memory();
}

Link::SharedBlock Link::take_shared(std::size_t size) const {
  return birthplace_.foreign() ? SharedBlock{} : session_->take_shared(size);
}

bool Link::give(protocol::ObjectId id, const protocol::SharedSegment& segment) const {
  return shares_memory() && !lost() &&
         protocol::give_segment(endpoint_.shared, endpoint_.token, id, segment, kOfferTimeout);
}

void Link::run(Inbox::Errand errand) {
  session_->inbox.run(std::move(errand));
}

void Link::upload(protocol::CommandId transfer, protocol::Payload content) {
  if (birthplace_.foreign()) return;
  outbox_->flush();
  session_->uploads.add(transfer, std::move(content));
}

void Link::cancel_upload(protocol::CommandId transfer, std::function<void()> then) {
  if (!birthplace_.foreign()) session_->uploads.cancel(transfer, std::move(then));
}

void Link::expect_pushes() {
  if (!birthplace_.foreign()) session_->expect_pushes();
}

void Link::expect_transfer(std::uint64_t size) {
  if (!birthplace_.foreign()) session_->inbox.expect_transfer(size);
}

std::string Link::loss() const {
  return birthplace_.foreign() ? kForeign : session_->loss();
}

void Link::say_goodbye() {
  if (!birthplace_.foreign()) session_->say_goodbye();
}

void Link::give_up(const std::string& reason) {
  if (!birthplace_.foreign()) session_->condemn(reason);
}

void Link::close() {
  if (!birthplace_.foreign()) session_->close();
}

protocol::RequestId Link::expect(protocol::Op reply, std::function<void(void*, const std::string&)> answer) {
  if (!birthplace_.foreign()) return session_->answers.expect(reply, std::move(answer));
  answer(nullptr, kForeign);
  return 0;
}

bool Link::wait_for(Inbox::Done done) {
  if (birthplace_.foreign()) return done();
  outbox_->flush();
  return session_->inbox.wait(done);
}

}  // namespace clique::icd
