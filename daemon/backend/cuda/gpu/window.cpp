#include "daemon/backend/cuda/gpu/window.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "daemon/backend/cuda/gpu/memory.hpp"
#include "daemon/common/log.hpp"
#include "daemon/worker/errors.hpp"

namespace clique::daemon::cuda {

namespace {
/// Size of the window: enough for several transfers at a time, but only a small share of the GPU's memory.
constexpr std::size_t kLargestWindow = 512U << 20U;
constexpr std::size_t kLeastShare = 32;
/// CUDA aligns its own allocations to this, and copies between such addresses are the fastest.
constexpr std::size_t kAlignment = 256;
/// Windows that may be open at a time: more than a host has GPUs.
constexpr std::size_t kMostWindows = 256;

/// Size of a token: the smallest payload that is lent to the receiver, instead of copied, so that it comes
/// back. Its content has no meaning.
constexpr std::size_t kToken = protocol::kInlinePayload + 1;

/// @param place kToken bytes in memory that is shared with the peer
/// @param returned released when the peer returns the token
protocol::Payload token(const std::shared_ptr<std::byte>& place, std::shared_ptr<const void> returned) {
  const auto both = std::make_shared<std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(
      place, std::move(returned));
  return {{place.get(), kToken}, both};
}
}  // namespace

bool Window::make() {
  if (std::exchange(tried_, true)) return base_ != 0;
  CUipcMemHandle handle{};
  CUdeviceptr memory = 0;
  std::size_t size = 0;
  CUresult result = driver().DeviceTotalMem(&size, device_);
  size = std::min(kLargestWindow, size / kLeastShare);
  if (result == CUDA_SUCCESS) result = driver().MemAlloc(&memory, size);
  if (result == CUDA_SUCCESS) {
    result = driver().IpcGetMemHandle(&handle, memory);
    if (result != CUDA_SUCCESS) driver().MemFree(memory);
  }
  if (result != CUDA_SUCCESS) {
    spdlog::info(
        "other GPUs of this host cannot read this one's memory ({}): transfers to them use the host's memory",
        name_of(result));
    return false;
  }
  offer_.window = random_id();
  offer_.handle.assign(std::begin(handle.reserved), std::end(handle.reserved));
  rooms_ = std::make_shared<Rooms>(size);
  base_ = memory;
  return true;
}

bool Window::open_to(protocol::PeerId peer) {
  auto& consent = consents_[peer];
  if (consent) return *consent;
  auto place = peers_.take(peer, kToken);
  if (!place || !make()) return false;
  auto given = std::make_shared<std::atomic<bool>>(false);
  protocol::OpenWindow offer = offer_;
  offer.consent = token(place, {given.get(), [given](const void*) { *given = true; }});
  if (peers_.send_shared(peer, offer)) consent = std::move(given);
  return false;
}

std::shared_ptr<const Window::Room> Window::take(protocol::PeerId peer, std::uint64_t size) {
  auto place = peers_.take(peer, kToken);
  if (!place) return nullptr;
  const std::size_t bytes = rounded(size, kAlignment);
  const std::lock_guard lock(rooms_->mutex);
  const auto offset = rooms_->free.take(bytes);
  if (!offset) return nullptr;
  return {new Room{base_ + *offset, std::move(place)},
          [rooms = rooms_, offset = *offset, bytes](const Room* room) {
            delete room;
            const std::lock_guard giving(rooms->mutex);
            rooms->free.give_back(offset, bytes);
          }};
}

bool Window::send(protocol::PeerId peer, protocol::CommandId transfer, std::uint64_t offset,
                  const std::shared_ptr<const Room>& room, std::uint64_t size,
                  const std::shared_ptr<const void>& taken) {
  protocol::WindowData part{transfer, offset, offer_.window, room->address - base_, size, {}};
  part.hold = token(room->token, taken);
  return peers_.send_shared(peer, part);
}

bool PeerWindows::open(const protocol::OpenWindow& offer) {
  CUipcMemHandle handle{};
  if (offer.handle.size() != sizeof handle.reserved || opened_.size() >= kMostWindows ||
      opened_.contains(offer.window))
    return false;
  std::memcpy(handle.reserved, offer.handle.data(), sizeof handle.reserved);
  CUdeviceptr base = 0;
  std::size_t size = 0;
  CUresult result = driver().IpcOpenMemHandle(&base, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  if (result == CUDA_SUCCESS) result = driver().MemGetAddressRange(nullptr, &size, base);
  if (result != CUDA_SUCCESS) {
    spdlog::info(
        "this GPU cannot read the memory of another GPU of this host ({}): transfers from it use the host's "
        "memory",
        name_of(result));
    return false;
  }
  spdlog::info("transfers from another GPU of this host are copied directly from its memory");
  opened_.emplace(offer.window, Opened{base, size});
  return true;
}

CUdeviceptr PeerWindows::address(const protocol::WindowData& part) const {
  const auto found = opened_.find(part.window);
  if (found == opened_.end()) throw RuleBroken("window " + std::to_string(part.window) + " is not open");
  const auto& [base, size] = found->second;
  if (part.size == 0 || part.size > size || part.at > size - part.size)
    throw RuleBroken("transfer " + std::to_string(part.transfer) + ": a part of " +
                     std::to_string(part.size) + " bytes at " + std::to_string(part.at) +
                     " is outside of its window of " + std::to_string(size) + " bytes");
  return base + part.at;
}

}  // namespace clique::daemon::cuda
