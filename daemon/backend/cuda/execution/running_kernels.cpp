#include "daemon/backend/cuda/execution/running_kernels.hpp"

#include <cstddef>

namespace clique::daemon::cuda {

namespace {

using namespace std::chrono_literals;

/// From a kernel's submission to its end.
constexpr auto kShort = 100us;
/// How many kernels in a row have to be short before the next ones of their stream are expected to be.
constexpr unsigned kShortBefore = 8;
/// Looking at more streams than this would take too long.
constexpr std::size_t kMostStreams = 16;

}  // namespace

void RunningKernels::submitted(Stream& stream, std::uint32_t sequence) {
  stream.last_kernel_ = sequence;
  if (stream.runs_kernels_) return;
  stream.runs_kernels_ = true;
  stream.kernels_since_ = now_();
  streams_.push_back(&stream);
}

bool RunningKernels::block(const Stream& stream) {
  // Mostly, one program uses one queue.
  if (streams_.empty() || (streams_.size() == 1 && streams_.front() == &stream)) return false;
  const auto now = now_();
  bool blocked = false;
  std::size_t looks = 0;
  // Backwards, so that streams can be taken out on the way.
  for (std::size_t i = streams_.size(); i-- > 0;) {
    if (++looks > kMostStreams) return true;
    Stream& other = *streams_[i];
    const bool brief = now - other.kernels_since_ <= kShort;
    if (other.reached(other.last_kernel_)) {
      // If nobody looked in time, it is not known how long the kernels took.
      if (brief) ++other.short_kernels_;
      other.runs_kernels_ = false;
      streams_[i] = streams_.back();
      streams_.pop_back();
      continue;
    }
    if (!brief) other.short_kernels_ = 0;
    blocked = blocked || (&other != &stream && other.short_kernels_ < kShortBefore);
  }
  return blocked;
}

}  // namespace clique::daemon::cuda
