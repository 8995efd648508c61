#include "icd/core/transfers/host_segment.hpp"

#include <algorithm>
#include <atomic>
#include <map>

#include "icd/common/object.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"
#include "protocol/transport/shared_memory.hpp"
#include "protocol/transport/shared_segment.hpp"

namespace clique::icd {

namespace {

/// Each segment takes a file descriptor, and the application may need most of those itself. So smaller
/// segments are created only while there are few.
constexpr std::size_t kSmall = 2U << 20U;
constexpr std::size_t kMostSmall = 64;

/// All segments of the process, by their first byte. Leaked, as everything process-wide is.
struct Segments {
  std::mutex mutex;
  std::map<const std::byte*, std::weak_ptr<HostSegment>> by_begin;
  std::atomic<std::size_t> count{0};  // mostly 0
};

Segments& segments() {
  static auto* const instance = new Segments;
  return *instance;
}

}  // namespace

HostSegment::HostSegment(protocol::ObjectId id, std::shared_ptr<protocol::SharedSegment> memory)
    : id_(id),
      memory_(std::move(memory)),
      bytes_(memory_, memory_->bytes().data()),
      size_(memory_->bytes().size()) {}

HostSegment::HostSegment(protocol::ObjectId id, std::shared_ptr<std::byte> bytes, std::size_t size,
                         Worker& worker)
    : id_(id), bytes_(std::move(bytes)), size_(size), workers_{{&worker, true}} {}

std::byte* HostSegment::data() const {
  return bytes_.get();
}

std::shared_ptr<HostSegment> HostSegment::make(std::size_t size, std::span<Worker* const> workers) {
  try {
    const protocol::ObjectId id = next_id();
    for (Worker* const worker : workers)
      if (auto bytes = worker->link().place_segment(id, size))
        return enter(std::shared_ptr<HostSegment>(new HostSegment(id, std::move(bytes), size, *worker)));
    if (size < kSmall && segments().count.load(std::memory_order_relaxed) >= kMostSmall) return nullptr;
    return enter(std::shared_ptr<HostSegment>(new HostSegment(id, protocol::SharedSegment::create(size))));
  } catch (const std::exception&) {
    return nullptr;
  }
}

std::shared_ptr<HostSegment> HostSegment::enter(std::shared_ptr<HostSegment> made) {
  Segments& all = segments();
  const std::lock_guard lock(all.mutex);
  all.by_begin.emplace(made->data(), made);
  ++all.count;
  return made;
}

HostSegment::~HostSegment() {
  {
    Segments& all = segments();
    const std::lock_guard lock(all.mutex);
    all.count -= all.by_begin.erase(data());
  }
  for (const auto& [worker, has_it] : workers_)
    if (has_it) worker->link().post(protocol::FreeSegment{id_});
}

std::optional<HostSegment::Place> HostSegment::find(std::span<const std::byte> range, Worker& worker) {
  Segments& all = segments();
  if (all.count.load(std::memory_order_relaxed) == 0 || !worker.link().shares_memory()) return std::nullopt;
  std::shared_ptr<HostSegment> segment;
  {
    const std::lock_guard lock(all.mutex);
    auto after = all.by_begin.upper_bound(range.data());
    if (after == all.by_begin.begin()) return std::nullopt;
    segment = std::prev(after)->second.lock();
  }
  if (!segment || !protocol::SharedMemory::inside({segment->data(), segment->size_}, range) ||
      !segment->on(worker))
    return std::nullopt;
  return Place{segment->id_, static_cast<std::uint64_t>(range.data() - segment->data())};
}

bool HostSegment::on(Worker& worker) {
  const std::lock_guard lock(mutex_);
  const auto asked =
      std::find_if(workers_.begin(), workers_.end(), [&](const auto& one) { return one.first == &worker; });
  if (asked != workers_.end()) return asked->second;
  if (!memory_) return false;
  return workers_.emplace_back(&worker, worker.link().give(id_, *memory_).empty()).second;
}

}  // namespace clique::icd
