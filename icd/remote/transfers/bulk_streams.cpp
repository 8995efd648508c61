#include "icd/remote/transfers/bulk_streams.hpp"

#include <utility>

#include "icd/remote/link/link_control.hpp"
#include "icd/remote/link/report_dispatch.hpp"
#include "icd/remote/link/reports.hpp"
#include "icd/remote/worker_endpoint.hpp"
#include "protocol/decode_error.hpp"

namespace clique::icd {

bool BulkStreams::usable() const {
  return worker_.has_streams();
}

void BulkStreams::configure(std::chrono::milliseconds patience, std::chrono::nanoseconds round_trip) {
  const std::lock_guard lock(mutex_);
  patience_ = patience;
  round_trip_ = round_trip;
}

protocol::StreamSet* BulkStreams::opened() {
  const std::lock_guard lock(mutex_);
  if (closed_) return nullptr;
  if (!set_) {
    set_ =
        std::make_unique<protocol::StreamSet>(static_cast<Owner&>(*this), patience_, worker_.stream_target());
    set_->open(protocol::stream_count(round_trip_, worker_.client.encryption()), protocol::kFirstBulkLine);
  }
  return set_.get();
}

void BulkStreams::open() {
  try {
    opened();
  } catch (const std::exception& error) {
    failed(error.what());
  }
}

void BulkStreams::send(protocol::PeerData&& part) {
  try {
    if (protocol::StreamSet* const set = opened()) set->send(std::move(part));
  } catch (const std::exception& error) {
    failed(error.what());
  }
}

void BulkStreams::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  // From now on nobody replaces it.
  if (set_) set_->close();
}

std::shared_ptr<std::byte> BulkStreams::place(const protocol::RecordHeader& part) {
  Reports* const reports = dispatch_.receiver();
  return reports == nullptr ? nullptr : reports->place(part.transfer, part.offset, part.size);
}

void BulkStreams::arrived(protocol::PeerData&& part) {
  Reports* const reports = dispatch_.receiver();
  if (reports == nullptr) throw protocol::DecodeError("a part of a large transfer before the first command");
  reports->arrived(std::move(part));
}

void BulkStreams::failed(const std::string& reason) {
  control_.give_up(reason);
}

}  // namespace clique::icd
