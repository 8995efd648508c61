#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "common.hpp"

struct CUgraphNode_st {
  std::size_t index;  // of its work
};

namespace fake_cuda {

/// Tells ThreadSanitizer, at the beginning and the end of each piece of work, that all work on the GPU is
/// ordered. It cannot see the order if another process has arranged it.
inline void see_earlier_work() {
  static auto& done = *new std::mutex;
  const std::lock_guard lock(done);
}

/// A stream capture that has begun and not ended.
class Capture {
 public:
  void add(std::function<void()> work) {
    nodes_.push_back(std::make_unique<CUgraphNode_st>(CUgraphNode_st{works_.size()}));
    works_.push_back({std::move(work), std::exchange(last_, {nodes_.back().get()})});
  }
  const std::vector<CUgraphNode>& last() const { return last_; }
  /// @returns false if a node is named twice.
  bool come_after(std::vector<CUgraphNode> nodes) {
    std::sort(nodes.begin(), nodes.end());
    if (std::adjacent_find(nodes.begin(), nodes.end()) != nodes.end()) return false;
    last_ = std::move(nodes);
    return true;
  }
  /// The works in an order that the graph allows. If it leaves a choice, the works that were captured last
  /// come first.
  std::vector<std::function<void()>> in_order() {
    std::vector<std::function<void()>> result;
    std::vector<bool> done(works_.size());
    std::vector<std::size_t> places(works_.size());
    while (result.size() < works_.size()) {
      for (std::size_t i = works_.size(); i-- > 0;) {
        const auto& after = works_[i].after;
        if (done[i] ||
            !std::all_of(after.begin(), after.end(), [&](auto* node) { return done[node->index]; }))
          continue;
        done[i] = true;
        places[i] = result.size();
        result.push_back(std::move(works_[i].work));
        break;
      }
    }
    for (std::size_t i = 0; i < places.size(); ++i) nodes_[i]->index = places[i];
    return result;
  }
  /// The nodes, which belong to the graph once in_order() has been called.
  std::vector<std::unique_ptr<CUgraphNode_st>> take_nodes() { return std::move(nodes_); }

 private:
  struct Work {
    std::function<void()> work;
    std::vector<CUgraphNode> after;
  };
  std::vector<Work> works_;
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes_;
  std::vector<CUgraphNode> last_;
};

}  // namespace fake_cuda

struct CUstream_st {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> work;
  bool busy = false;
  std::optional<fake_cuda::Capture> captured;

  CUstream_st() {
    std::thread([this] {
      std::unique_lock lock(mutex);
      while (true) {
        changed.wait(lock, [this] { return !work.empty(); });
        auto next = std::move(work.front());
        work.pop_front();
        busy = true;
        lock.unlock();
        fake_cuda::see_earlier_work();
        if (fake_cuda::broken == CUDA_SUCCESS) next();
        fake_cuda::see_earlier_work();
        lock.lock();
        busy = false;
        changed.notify_all();
      }
    }).detach();
  }
  CUresult put(std::function<void()> what) {
    if (fake_cuda::broken != CUDA_SUCCESS) return fake_cuda::broken;
    if (captured) {
      captured->add(std::move(what));
      return CUDA_SUCCESS;
    }
    {
      const std::lock_guard lock(mutex);
      work.push_back(std::move(what));
    }
    changed.notify_all();
    return CUDA_SUCCESS;
  }
  bool idle() {
    const std::lock_guard lock(mutex);
    return work.empty() && !busy;
  }
};

namespace fake_cuda {

/// All streams.
class Streams {
 public:
  void add(CUstream stream) {
    const std::lock_guard lock(mutex_);
    all_.push_back(stream);
  }
  std::vector<CUstream> all() {
    const std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  std::mutex mutex_;
  std::vector<CUstream> all_;
};
inline Streams& streams = *new Streams;

}  // namespace fake_cuda
