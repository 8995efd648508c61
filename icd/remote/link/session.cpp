#include "icd/remote/link/session.hpp"

#include <algorithm>
#include <thread>
#include <utility>
#include <variant>

#include "icd/common/error.hpp"
#include "icd/remote/link/reports.hpp"
#include "icd/remote/transfers/guest_memory.hpp"
#include "icd/remote/transfers/guest_segments.hpp"
#include "icd/remote/worker_endpoint.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"
#include "protocol/streams/stream_line.hpp"
#include "protocol/transport/shared_memory.hpp"
#include "protocol/transport/shared_offer.hpp"
#include "protocol/transport/zmq_context.hpp"
#include "protocol/transport/zmq_line.hpp"

namespace clique::icd {

namespace {

using namespace std::chrono_literals;
using protocol::ZmqLine;

/// For a Goodbye to leave.
constexpr int kGoodbyeMs = 100;

/// The longest resume timeout that a node can be configured to have: a week.
constexpr std::chrono::milliseconds kLongestResume = std::chrono::hours(7 * 24);

/// How many bytes of uploads may be in flight through shared memory: enough for the worker's stages to
/// overlap, and no more, since uploads delay other traffic.
constexpr std::size_t kSharedWindow = 4U << 20U;

/// @param segments set if the memory is a virtual machine's, and has a place for segments
std::shared_ptr<protocol::SharedMemory> take_offer(const WorkerEndpoint& worker,
                                                   std::chrono::milliseconds timeout,
                                                   std::shared_ptr<GuestSegments>& segments) {
  const auto patience = std::min(timeout, kOfferTimeout);
  if (!worker.memory.empty() && worker.memory_at != 0 && worker.has_streams())
    if (auto region = take_guest_region(worker.memory, worker.memory_at, patience)) {
      segments = GuestSegments::open(worker.memory, worker.segments_at, worker.segments_size);
      return region;
    }
  if (worker.shared.empty()) return nullptr;
  return protocol::take_shared_offer(worker.shared, worker.client.secret, protocol::Guest::Client, patience);
}

/// The line that carries both commands and reports; null if they have lines of their own, over ZeroMQ.
std::shared_ptr<protocol::StreamLine> stream_line(const WorkerEndpoint& worker, bool shared) {
  if (!worker.has_streams()) return nullptr;
  auto line =
      std::make_shared<protocol::StreamLine>(worker.stream_target(), protocol::kCommandsLine,
                                             protocol::StreamLine::Use{.pulses = true, .aside = shared});
  line->set_resumable(!shared);
  return line;
}

/// A line over ZeroMQ that exists from the session's beginning.
std::shared_ptr<ZmqLine> zmq_line(protocol::ZmqContext& zmq, const std::string& endpoint,
                                  const WorkerEndpoint& worker, protocol::LineId id,
                                  ZmqLine::Direction direction, bool shared) {
  if (endpoint.empty())
    throw Error(
        CL_DEVICE_NOT_AVAILABLE,
        "node " + worker.node +
            ": the transport is \"zeromq\" here, but its workers listen at no ports of their own. Set "
            "'worker-ports' there, or remove the setting 'transport' (CLIQUE_TRANSPORT) here");
  constexpr bool kBeginsSession = true;
  auto line = std::make_shared<ZmqLine>(zmq.get(), endpoint, worker.client, id, direction, kBeginsSession);
  line->set_resumable(!shared);
  return line;
}

}  // namespace

Session::Session(protocol::ZmqContext& zmq, const WorkerEndpoint& worker, std::chrono::milliseconds timeout)
    : worker_(worker),
      shared_(take_offer(worker, timeout, segments_)),
      stream_(stream_line(worker, shared_ != nullptr)),
      commands_(stream_ ? std::shared_ptr<protocol::Line>(stream_)
                        : zmq_line(zmq, worker.commands, worker, protocol::kCommandsLine,
                                   ZmqLine::Direction::Outward, shared_ != nullptr)),
      reports_(stream_ ? std::shared_ptr<protocol::Line>(stream_)
                       : zmq_line(zmq, worker.reports, worker, protocol::kReportsLine,
                                  ZmqLine::Direction::Inward, shared_ != nullptr)),
      upkeep_(outbox_, inbox_, reconnect_, clock_, answers_),
      answers_(worker.node),
      outbox_(commands_, shared_, upkeep_),
      inbox_(reports_, shared_, *this, upkeep_),
      bulk_(zmq, worker, inbox_, upkeep_),
      streams_(worker, dispatch_, upkeep_),
      shared_route_(shared_, outbox_),
      uploads_(upload_way()),
      dispatch_(answers_, uploads_, bulk_, inbox_, upkeep_, segments_.get()),
      reconnect_(worker_.node, worker_.daemon_target(), commands_, reports_, outbox_, inbox_, bulk_, upkeep_),
      clock_(answers_, outbox_) {
  if (!shared_) protocol::keep_payload_memory();
  upkeep_.begin();
}

Session::~Session() {
  inbox_.finish("the session was closed");
  upkeep_.end();
}

bool Session::wait(FunctionRef<bool()> done) {
  outbox_.flush();
  return inbox_.wait(done);
}

void Session::open(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  if (stream_) stream_->await_connection(deadline);
  wait([&] {
    return described_.load(std::memory_order_acquire) || std::chrono::steady_clock::now() >= deadline;
  });
  if (lost()) throw Error(CL_DEVICE_NOT_AVAILABLE, loss());
  const bool answers = described_.load(std::memory_order_acquire) && clock_.measure(inbox_, deadline);
  if (lost()) throw Error(CL_DEVICE_NOT_AVAILABLE, loss());
  if (!answers)
    throw Error(CL_DEVICE_NOT_AVAILABLE, "node " + worker_.node + ": the worker did not answer within " +
                                             std::to_string(timeout.count()) + " ms");
  if (!shared_) round_trip_ = clock_.round_trip();
  bulk_.configure(reconnect_.timeout() > 0ms, long_way());
  streams_.configure(reconnect_.timeout(), round_trip_);
  uploads_.set_window(upload_window(), stream_count());
}

Uploads::Way& Session::upload_way() {
  if (shared_) return shared_route_;
  if (streams_.usable()) return streams_;
  return bulk_;
}

bool Session::long_way() const {
  return round_trip_ > protocol::kLongWay;
}

unsigned Session::stream_count() const {
  return uses_streams() ? protocol::stream_count(round_trip_, worker_.client.encryption()) : 1;
}

std::size_t Session::largest_with_commands() const {
  return long_way() || stream_count() > 1 ? protocol::kLargeBesideCommands : protocol::kLargeTransfer;
}

std::size_t Session::upload_window() const {
  return shared_ ? kSharedWindow : protocol::window_size(round_trip_, worker_.client.encryption());
}

void Session::start(Reports& reports) {
  bool late = false;
  {
    const std::lock_guard lock(mutex_);
    dispatch_.start(reports);
    late = lost();
  }
  clock_.start();
  if (late) reports.lost(loss());
}

void Session::handle(WorkerMessage&& message) {
  auto* const attached = std::get_if<protocol::Attached>(&message);
  if (attached != nullptr && !described_.load())
    describe(std::move(*attached));
  else
    dispatch_.take(std::move(message));
}

void Session::describe(protocol::Attached&& attached) {
  // A session in shared memory ends with its connections.
  const auto resume = std::min(std::chrono::milliseconds(attached.resume_ms), kLongestResume);
  reconnect_.set_timeout(shared_ ? 0ms : resume);
  attached_ = std::move(attached);
  described_.store(true, std::memory_order_release);
}

void Session::expect_pushes() {
  if (shared_) return;
  if (streams_.usable())
    streams_.open();
  else
    bulk_.open_incoming();
}

std::string Session::loss() {
  const std::lock_guard lock(mutex_);
  return loss_;
}

void Session::say_goodbye() {
  if (!lost() && !closing_.exchange(true)) send_goodbye();
}

void Session::announce_end() {
  if (!lost() && !closing_) send_goodbye();
}

void Session::send_goodbye() {
  reconnect_.stop();
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::milliseconds(kGoodbyeMs);
  outbox_.compose([](protocol::Batch& batch) { batch.add(protocol::Goodbye{}); });
  // Not flush(), since a thread of the application's may be stuck while it sends.
  outbox_.try_flush();
  // A worker that waits for nobody to come back notices the end of this process at once.
  if (reconnect_.timeout() == 0ms) return;
  while ((outbox_.pending() || commands_->end() == protocol::ConnectionEnd::None) &&
         std::chrono::steady_clock::now() < give_up) {
    outbox_.try_flush();
    std::this_thread::sleep_for(100us);
  }
}

void Session::close() {
  if (!closing_.exchange(true)) {
    reconnect_.stop();
    outbox_.compose([](protocol::Batch& batch) { batch.add(protocol::Goodbye{}); });
    outbox_.flush();
  }
  inbox_.finish("the session was closed");
}

void Session::ended(const std::string& reason) {
  const bool by_ourselves = closing_.load();
  outbox_.close(by_ourselves ? kGoodbyeMs : 0);
  const auto cancelled = uploads_.close();
  bulk_.close();
  streams_.close();
  for (const auto& then : cancelled) then();
  const std::string& last_words = dispatch_.last_words();
  const std::string why = last_words.empty() ? reason : "the worker ended the session: " + last_words;
  Reports* receiver = nullptr;
  {
    const std::lock_guard lock(mutex_);
    loss_ = "node " + worker_.node + ": " + why;
    lost_.store(true, std::memory_order_release);
    receiver = dispatch_.receiver();  // null: start() reports the loss
  }
  if (segments_) segments_->leave();
  upkeep_.retire();
  if (receiver != nullptr && !by_ourselves) receiver->lost(loss_);
  answers_.fail_all(loss_);
}

}  // namespace clique::icd
