#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "icd/trace/stream.hpp"
#include "icd/trace/trace.hpp"

namespace clique::icd::trace {

/// A row of the trace. Perfetto draws slices of one track inside each other, so slices that overlap are put
/// on several tracks of the same name, which it shows as one.
class Track {
 public:
  Track(std::uint64_t parent, std::string name) : parent_(parent), name_(std::move(name)) {}

 private:
  friend class Recorder;
  struct Lane {
    std::uint64_t id;
    std::int64_t end;  ///< of its last slice
  };
  const std::uint64_t parent_;
  const std::string name_;
  std::vector<Lane> lanes_;  // under Recorder::tracks_mutex_
};

/// The trace of this process. Never destroyed. Any thread.
class Recorder {
 public:
  /// @param descriptor open for appending. @param scope a random number, whose lower 40 bits are 0
  Recorder(int descriptor, std::string path, std::uint64_t scope, Process process);

  /// The stream of this thread, made with the first call.
  Stream& this_thread();
  /// Records a slice on this thread's track.
  void add(const SliceView& slice, Stream::Span span) { this_thread().add(slice, span, 0, scope_); }
  /// Records a slice on another track.
  void add(Track& track, const SliceView& slice, std::int64_t begin, std::int64_t end);
  std::string_view kept(std::string_view text);

  std::shared_ptr<Track> make_track(const std::string& group, std::string name);
  std::shared_ptr<Track> shared_track(const std::string& group, const std::string& name);

  /// Appends all buffers to the file.
  void flush() noexcept;
  /// The process ends: appends all buffers, and from now on each slice at once.
  void end() noexcept;

 private:
  static void retire(void* stream);
  std::uint64_t next_track() { return scope_ + ++tracks_; }
  std::uint64_t group_track(const std::string& group);

  File file_;
  const std::uint64_t scope_;
  std::atomic<std::uint64_t> tracks_{0};
  std::atomic<std::uint32_t> sequences_;
  const Process process_;
  Stream others_;  // of everything that is not on the track of a thread

  std::mutex tracks_mutex_;  // guards the members below; taken before the mutex of others_
  std::map<std::string, std::uint64_t> groups_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<Track>> shared_;
  std::set<std::string, std::less<>> kept_;

  std::mutex streams_mutex_;  // guards the members below; taken before the mutexes of streams
  std::vector<std::unique_ptr<Stream>> streams_;
  bool ended_ = false;
};

}  // namespace clique::icd::trace
