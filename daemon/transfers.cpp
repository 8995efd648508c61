#include "daemon/transfers.hpp"

#include <algorithm>

#include "daemon/log.hpp"

namespace clique::daemon {

namespace {
/// How much data may lie here that nobody expects yet: far more than a client lets happen.
constexpr std::uint64_t kMaxEarlyBytes = 4ULL << 30U;
/// CL_OUT_OF_RESOURCES: what a transfer that cannot be received ends with.
constexpr std::int32_t kBadTransfer = -5;
/// What is sent on at a time of a part that came through a segment, in one piece.
constexpr std::uint64_t kChunk = 1U << 20U;
}  // namespace

void Transfers::expect(const protocol::Expect& command, std::unique_ptr<TransferSink> sink) {
  const protocol::CommandId id = command.command.id;
  Transfer& transfer = transfers_[id];
  if (transfer.expected) throw RuleBroken("transfer " + std::to_string(id) + " is expected twice");
  transfer.expected = true;
  transfer.object = command.object;
  transfer.offset = command.offset;
  transfer.size = command.size;
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
  // The transfer stays, for parts that come all the same to be dropped.
  fail(found->second, status);
  return true;
}

void Transfers::fail(Transfer& transfer, std::int32_t status) {
  if (transfer.sink) transfer.sink->fail(status);
  transfer.sink.reset();
  for (const Relay& relay : transfer.relays) relay.send({relay.transfer, 0, status, {}});
  transfer.relays.clear();
}

std::optional<std::vector<protocol::Push>> Transfers::relay(const protocol::Push& push, Send send) {
  const auto& waits = push.command.waits;
  if (push.command.flags != 0 || push.segment != 0 || push.at != 0 || waits.size() != 1) return {};
  const auto found = transfers_.find(waits.front());
  if (found == transfers_.end() || !found->second.sink) return {};
  Transfer& transfer = found->second;
  if (push.object != transfer.object || push.offset != transfer.offset || push.size != transfer.size ||
      !(transfer.places.empty() || transfer.sink->divisible()))
    return {};
  std::vector<protocol::Push> before;
  for (const auto& [begin, end] : transfer.places) {
    protocol::Push part = push;
    part.offset += begin;
    part.size = end - begin;
    part.at = begin;
    part.content_size = 0;
    before.push_back(std::move(part));
  }
  transfer.relays.push_back({push.transfer, std::move(send)});
  return before;
}

bool Transfers::place(Transfer& transfer, protocol::PeerData&& part) {
  const std::uint64_t size = part.data.bytes.size();
  const bool ends = part.status == 0 && size == 0;
  std::int32_t status = part.status;
  const bool fits = ends
                        ? part.offset != 0 && transfer.received <= part.offset && part.offset <= transfer.size
                        : size <= transfer.size - transfer.received && part.offset <= transfer.size - size;
  if (status == 0 && !fits) {
    spdlog::warn("transfer {}: a part of {} bytes at {} does not fit into {} bytes", part.transfer, size,
                 part.offset, transfer.size);
    status = kBadTransfer;
  }
  if (status != 0) {
    fail(transfer, status < 0 ? status : kBadTransfer);
    // After a failed push nothing more comes; after a bad part, more of them might.
    return part.status != 0;
  }
  if (ends) {
    for (const Relay& relay : transfer.relays) relay.send({relay.transfer, part.offset, 0, {}});
    if (transfer.sink && part.offset < transfer.size) transfer.sink->come_short(transfer.size - part.offset);
    transfer.size = part.offset;
    return transfer.received == transfer.size;
  }
  transfer.received += size;
  if (!transfer.places.empty() && transfer.places.back().second == part.offset) {
    transfer.places.back().second += size;
  } else {
    transfer.places.emplace_back(part.offset, part.offset + size);
  }
  for (const Relay& relay : transfer.relays)
    for (std::uint64_t at = 0; at < size; at += kChunk)
      relay.send({relay.transfer,
                  part.offset + at,
                  0,
                  {part.data.bytes.subspan(at, std::min(kChunk, size - at)), part.data.owner}});
  if (transfer.sink) transfer.sink->write(part.offset, std::move(part.data));
  return transfer.received == transfer.size;
}

}  // namespace clique::daemon
