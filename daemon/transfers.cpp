#include "daemon/transfers.hpp"

#include "daemon/log.hpp"

namespace clique::daemon {

namespace {
/// How much data may lie here that nobody expects yet: far more than a client lets happen.
constexpr std::uint64_t kMaxEarlyBytes = 4ULL << 30U;
/// CL_OUT_OF_RESOURCES: what a transfer that cannot be received ends with.
constexpr std::int32_t kBadTransfer = -5;
}  // namespace

void Transfers::expect(protocol::CommandId id, std::uint64_t size, std::unique_ptr<TransferSink> sink) {
  Transfer& transfer = transfers_[id];
  if (transfer.expected) throw RuleBroken("transfer " + std::to_string(id) + " is expected twice");
  transfer.expected = true;
  transfer.size = size;
  transfer.sink = std::move(sink);
  std::vector<protocol::PeerData> early;
  early.swap(transfer.early);
  for (const auto& part : early) early_bytes_ -= part.data.bytes.size();
  bool over = false;
  for (auto& part : early) over = over || place(transfer, std::move(part));
  if (over) transfers_.erase(id);
}

void Transfers::receive(protocol::PeerData&& part) {
  const auto id = part.transfer;
  Transfer& transfer = transfers_[id];
  if (!transfer.expected) {
    early_bytes_ += part.data.bytes.size();
    if (early_bytes_ > kMaxEarlyBytes)
      throw RuleBroken("other workers pushed too much that was never expected");
    transfer.early.push_back(std::move(part));
    return;
  }
  if (place(transfer, std::move(part))) transfers_.erase(id);
}

bool Transfers::fail(protocol::CommandId id, std::int32_t status) {
  const auto found = transfers_.find(id);
  if (found == transfers_.end() || !found->second.expected) return false;
  if (found->second.sink) found->second.sink->fail(status);
  // The transfer stays, for parts that come all the same to be dropped.
  found->second.sink.reset();
  return true;
}

bool Transfers::place(Transfer& transfer, protocol::PeerData&& part) {
  const std::uint64_t size = part.data.bytes.size();
  std::int32_t status = part.status;
  const bool fits = size <= transfer.size - transfer.received && part.offset <= transfer.size - size;
  if (status == 0 && (!fits || size == 0)) {
    spdlog::warn("transfer {}: a part of {} bytes at {} does not fit into {} bytes", part.transfer, size,
                 part.offset, transfer.size);
    status = kBadTransfer;
  }
  if (status != 0) {
    if (transfer.sink) transfer.sink->fail(status < 0 ? status : kBadTransfer);
    transfer.sink.reset();
    // After a failed push nothing more comes; after a bad part, more of them might.
    return part.status != 0;
  }
  transfer.received += size;
  if (transfer.sink) transfer.sink->write(part.offset, std::move(part.data));
  return transfer.received == transfer.size;
}

}  // namespace clique::daemon
