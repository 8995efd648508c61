#include "daemon/worker/transfers/transfers.hpp"

#include <algorithm>

#include "daemon/common/log.hpp"

namespace clique::daemon {

namespace {
/// The most data that may arrive before its Expect. A correct client causes far less.
constexpr std::uint64_t kMaxEarlyBytes = 4ULL << 30U;
/// The memory that a part takes without its data.
constexpr std::uint64_t kBytesOfPart = 512;
/// CL_OUT_OF_RESOURCES: the status of a transfer that cannot be received.
constexpr std::int32_t kBadTransfer = -5;
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
  std::vector<Part> early;
  early.swap(transfer.early);
  for (const auto& part : early) early_bytes_ -= size_of(part) + kBytesOfPart;
  bool over = false;
  for (auto& part : early) over = over || place(transfer, std::move(part));
  if (over)
    transfers_.erase(id);
  else
    awaited_ += missing(transfer);
}

std::uint64_t Transfers::missing(const Transfer& transfer) {
  return transfer.expected && transfer.sink ? transfer.size - transfer.received : 0;
}

std::uint64_t Transfers::size_of(const Part& part) {
  const auto* window = std::get_if<protocol::WindowData>(&part);
  return window != nullptr ? window->size : std::get<protocol::PeerData>(part).data.bytes.size();
}

void Transfers::receive(Part&& part) {
  const auto id = std::visit([](const auto& any) { return any.transfer; }, part);
  Transfer& transfer = transfers_[id];
  if (!transfer.expected) {
    const std::uint64_t size = size_of(part);
    // A window's part has any size that the sender names.
    if (size > kMaxEarlyBytes || size + kBytesOfPart > kMaxEarlyBytes - early_bytes_)
      throw RuleBroken("other workers have pushed more than " + std::to_string(kMaxEarlyBytes) +
                       " bytes that no Expect waits for");
    early_bytes_ += size + kBytesOfPart;
    transfer.early.push_back(std::move(part));
    return;
  }
  awaited_ -= missing(transfer);
  const bool over = place(transfer, std::move(part));
  if (over)
    transfers_.erase(id);
  else
    awaited_ += missing(transfer);
}

bool Transfers::fail(protocol::CommandId id, std::int32_t status) {
  const auto found = transfers_.find(id);
  if (found == transfers_.end() || !found->second.expected) return false;
  // The transfer stays, so that parts that still arrive are dropped.
  awaited_ -= missing(found->second);
  fail(found->second, status);
  return true;
}

bool Transfers::map(protocol::CommandId id, std::uint64_t size, TransferSink::Writer writer,
                    std::function<void(std::shared_ptr<std::byte>)> action) {
  const auto found = transfers_.find(id);
  if (found == transfers_.end()) return false;
  Transfer& transfer = found->second;
  if (!transfer.sink || transfer.size != size || transfer.received > 0 || transfer.mapped ||
      !transfer.relays.empty())
    return false;
  transfer.mapped = transfer.sink->map(writer, std::move(action));
  return transfer.mapped;
}

void Transfers::fail(Transfer& transfer, std::int32_t status) {
  if (transfer.sink) transfer.sink->fail(status);
  transfer.sink.reset();
  for (const Relay& relay : transfer.relays) relay.onward.send({relay.push.transfer, 0, status, {}});
  transfer.relays.clear();
}

bool Transfers::relay(const protocol::Push& push, Onward onward) {
  const auto& waits = push.command.waits;
  if (push.command.flags != 0 || push.at != 0 || waits.size() != 1) return false;
  const auto found = transfers_.find(waits.front());
  if (found == transfers_.end() || !found->second.sink || found->second.mapped) return false;
  Transfer& transfer = found->second;
  if (push.object != transfer.object || push.offset != transfer.offset || push.size != transfer.size ||
      !(transfer.places.empty() || transfer.sink->divisible()))
    return false;
  transfer.relays.push_back({push, std::move(onward)});
  for (const auto& [begin, end] : transfer.places) push_again(transfer.relays.back(), begin, end);
  return true;
}

void Transfers::push_again(const Relay& relay, std::uint64_t begin, std::uint64_t end) {
  protocol::Push part = relay.push;
  part.offset += begin;
  part.size = end - begin;
  part.at = begin;
  part.content_size = 0;
  relay.onward.push(std::move(part));
}

bool Transfers::place(Transfer& transfer, Part&& part) {
  const std::uint64_t size = size_of(part);
  const std::uint64_t offset = std::visit([](const auto& any) { return any.offset; }, part);
  const auto* data = std::get_if<protocol::PeerData>(&part);
  const std::int32_t told = data != nullptr ? data->status : 0;
  const bool ends = data != nullptr && told == 0 && size == 0;
  std::int32_t status = told;
  const bool fits = ends ? offset != 0 && transfer.received <= offset && offset <= transfer.size
                         : size <= transfer.size - transfer.received && offset <= transfer.size - size;
  if (status == 0 && !fits) {
    spdlog::warn("transfer {} fails: a part of {} bytes at {} does not fit into its {} bytes",
                 std::visit([](const auto& any) { return any.transfer; }, part), size, offset, transfer.size);
    status = kBadTransfer;
  }
  if (status != 0) {
    fail(transfer, status < 0 ? status : kBadTransfer);
    // After a failed push no more parts arrive; after a bad part, they may.
    return told != 0;
  }
  if (ends) {
    for (const Relay& relay : transfer.relays) relay.onward.send({relay.push.transfer, offset, 0, {}});
    if (transfer.sink && offset < transfer.size) transfer.sink->come_short(transfer.size - offset);
    transfer.size = offset;
    return transfer.received == transfer.size;
  }
  transfer.received += size;
  if (!transfer.places.empty() && transfer.places.back().second == offset) {
    transfer.places.back().second += size;
  } else {
    transfer.places.emplace_back(offset, offset + size);
  }
  std::visit([&transfer](auto&& any) { put(transfer, std::forward<decltype(any)>(any)); }, std::move(part));
  return transfer.received == transfer.size;
}

void Transfers::put(Transfer& transfer, protocol::PeerData&& part) {
  for (const Relay& relay : transfer.relays)
    for (std::uint64_t at = 0; at < part.data.bytes.size(); at += protocol::kPartSize)
      relay.onward.send(
          {relay.push.transfer,
           part.offset + at,
           0,
           {part.data.bytes.subspan(at, std::min(protocol::kPartSize, part.data.bytes.size() - at)),
            part.data.owner}});
  if (transfer.sink) transfer.sink->write(part.offset, std::move(part.data));
}

void Transfers::put(Transfer& transfer, protocol::WindowData&& part) {
  for (const Relay& relay : transfer.relays) push_again(relay, part.offset, part.offset + part.size);
  if (transfer.sink) transfer.sink->fetch(std::move(part));
}

}  // namespace clique::daemon
