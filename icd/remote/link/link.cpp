#include "icd/remote/link/link.hpp"

#include <zmq.hpp>

#include "icd/remote/link/errand.hpp"
#include "icd/remote/link/reports.hpp"
#include "icd/remote/link/session.hpp"
#include "icd/remote/transfers/guest_segments.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"
#include "protocol/transport/shared_memory.hpp"
#include "protocol/transport/shared_offer.hpp"
#include "protocol/transport/zmq_context.hpp"

namespace clique::icd {

namespace {

/// How long a worker may take to map memory for its devices, beside the time for pinning it: it may be
/// releasing thousands of other allocations, which takes seconds where several processes use a GPU.
constexpr std::chrono::seconds kMapTimeout{60};
/// Bytes that a worker pins in a millisecond at least: pages that nobody has used yet take the most time.
constexpr std::size_t kPinnedInMs = 64U << 10U;

constexpr const char* kForeign = "the session belongs to the process that this one was forked from";

}  // namespace

Link::Link(protocol::ZmqContext& zmq, WorkerEndpoint endpoint, std::chrono::milliseconds timeout)
    : endpoint_(std::move(endpoint)) {
  try {
    session_ = std::make_unique<Session>(zmq, endpoint_, timeout);
    session_->open(timeout);
  } catch (const zmq::error_t& error) {
    throw Error(CL_DEVICE_NOT_AVAILABLE,
                "node " + endpoint_.node + ": cannot connect to " + endpoint_.commands + ": " + error.what());
  }
}

Link::~Link() {
  if (birthplace_.foreign()) {
    [[maybe_unused]] auto* const leaked = session_.release();
    return;
  }
  close();
}

const protocol::Attached& Link::attached() const {
  return session_->attached();
}

void Link::start(Reports& reports) {
  if (birthplace_.foreign())
    reports.lost(kForeign);
  else
    session_->start(reports);
}

void Link::compose(FunctionRef<void(protocol::Batch&)> function) {
  if (!birthplace_.foreign()) session_->outbox().compose(function);
}

void Link::flush() {
  if (!birthplace_.foreign()) session_->outbox().flush();
}

bool Link::shares_memory() const {
  return !birthplace_.foreign() && session_->shared_memory() != nullptr;
}

bool Link::uses_streams() const {
  return !birthplace_.foreign() && session_->uses_streams();
}

std::size_t Link::largest_with_commands() const {
  return session_->largest_with_commands();
}

Link::SharedBlock Link::take_shared(std::size_t size) const {
  if (!shares_memory()) return {};
  protocol::SharedMemory& shared = *session_->shared_memory();
  auto block = shared.take(size);
  if (!block) return {};
  const auto offset = static_cast<std::uint64_t>(block.get() - shared.outgoing().data());
  return {std::move(block), offset};
}

std::string Link::give(protocol::ObjectId id, const protocol::SharedSegment& segment,
                       std::uint64_t address) const {
  if (lost()) return "the session has ended";
  if (!shares_memory()) return "the worker shares no memory with this process";
  std::chrono::milliseconds patience = kOfferTimeout;
  if (address != 0) patience = kMapTimeout + std::chrono::milliseconds(segment.bytes().size() / kPinnedInMs);
  return protocol::give_segment(endpoint_.shared, endpoint_.client.secret, id, segment, address, patience);
}

std::shared_ptr<std::byte> Link::place_segment(protocol::ObjectId id, std::size_t size) {
  if (lost() || !shares_memory() || session_->segments() == nullptr) return nullptr;
  auto place = session_->segments()->take(id, size);
  if (!place) return nullptr;
  post(protocol::PlaceSegment{id, place->at, size});
  return std::move(place->bytes);
}

void Link::upload(protocol::CommandId transfer, protocol::Payload content) {
  if (birthplace_.foreign()) return;
  session_->outbox().flush();
  session_->uploads().add(transfer, std::move(content));
}

void Link::cancel_upload(protocol::CommandId transfer, std::function<void()> then) {
  if (!birthplace_.foreign()) session_->uploads().cancel(transfer, std::move(then));
}

void Link::run(Errand errand) {
  session_->inbox().run(std::move(errand));
}

void Link::on_receiver(std::function<void()> function) {
  session_->inbox().post(std::move(function));
}

void Link::expect_pushes() {
  if (!birthplace_.foreign()) session_->expect_pushes();
}

void Link::expect_transfer(std::uint64_t size) {
  if (!birthplace_.foreign()) session_->inbox().expect_transfer(size);
}

protocol::RequestId Link::expect(protocol::Op reply, Answers::Answer answer, AnswerLimit limit) {
  if (!birthplace_.foreign()) return session_->answers().expect(reply, std::move(answer), std::move(limit));
  answer(nullptr, kForeign);
  return 0;
}

bool Link::wait(FunctionRef<bool()> done) {
  return birthplace_.foreign() ? done() : session_->wait(done);
}

bool Link::lost() const {
  return birthplace_.foreign() || session_->lost();
}

std::string Link::loss() const {
  return birthplace_.foreign() ? kForeign : session_->loss();
}

std::int64_t Link::clock_offset() const {
  return session_->clock_offset();
}

void Link::give_up(const std::string& reason) {
  if (!birthplace_.foreign()) session_->control().give_up(reason);
}

void Link::say_goodbye() {
  if (!birthplace_.foreign()) session_->say_goodbye();
}

void Link::announce_end() {
  if (!birthplace_.foreign()) session_->announce_end();
}

void Link::close() {
  if (!birthplace_.foreign()) session_->close();
}

}  // namespace clique::icd
