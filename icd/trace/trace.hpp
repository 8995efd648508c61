// Recording what this process does, for `clique trace` (docs/tracing.md). Nothing is recorded, and on() costs
// one load, unless CLIQUE_TRACE names a file.
//
// Slices are written in Perfetto's format (perfetto.hpp) into buffers: one for each thread that calls the
// API, and one for everything else. A buffer is appended to the file when it is large, every 200 ms, and at
// the end of the process. No function here throws, takes a lock of other code, or calls other code of Clique.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "icd/common/function_ref.hpp"

namespace clique::icd::trace {

class Recorder;
class Track;

namespace detail {
extern std::atomic<Recorder*> recorder;
}

/// Whether this process records. Any thread.
inline bool on() {
  return detail::recorder.load(std::memory_order_relaxed) != nullptr;
}
/// Begins to record if CLIQUE_TRACE names a file; says on standard error why that is not possible. Later
/// calls do nothing. A child that the process forks does not record.
/// @returns whether it has begun, also in such a child.
bool start();

/// CLOCK_MONOTONIC, ns: the time of all slices.
std::int64_t now();

/// A copy of a text that is never freed; equal texts share one. For a limited number of texts. Empty if this
/// process does not record.
std::string_view kept(std::string_view text);

/// A fact about a slice, shown when the slice is selected.
struct Fact {
  std::string_view name;  ///< of names.hpp
  /// A view refers to a text that is never changed or freed, as a literal or kept().
  std::variant<std::uint64_t, std::string, std::string_view> value;
};

/// A number that connects slices: an arrow leads from each slice with the number to the next one. The library
/// uses the ids of commands.
using Flow = std::uint64_t;

/// Something that took time.
struct Slice {
  std::shared_ptr<Track> track;
  std::string_view category;  ///< of names.hpp
  std::string name;
  std::vector<Flow> flows = {};
  std::vector<Fact> facts = {};
};

/// A slice with references to what it says.
struct SliceView {
  std::string_view category;  ///< of names.hpp
  std::string_view name;
  std::span<const Flow> flows = {};
  std::span<const Fact> facts = {};
  bool is_constant = false;  ///< whether the name is never changed or freed, as a literal or kept()
};

/// Makes a track, a row of the trace, within a named group of rows. Its slices may overlap.
/// @returns null if this process does not record
std::shared_ptr<Track> make_track(const std::string& group, std::string name);
/// make_track(), or the track of the same group and name that an earlier call made. For a limited number of
/// names.
std::shared_ptr<Track> shared_track(const std::string& group, const std::string& name);

/// Records a slice. Times as now(). Without a track it does nothing.
void record(const Slice& slice, std::int64_t begin, std::int64_t end) noexcept;
/// Records a slice on a track, unless that is null.
void record(Track* track, const SliceView& slice, std::int64_t begin, std::int64_t end) noexcept;

/// The call of an entry point by the application, on the track of the thread: from construction to
/// destruction.
class Call {
 public:
  /// @param name of the entry point; must outlive the call.
  explicit Call(const char* name) noexcept;
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Adds a fact. `value` must be null or outlive the call.
  void say(std::string_view name, const char* value) noexcept;
  void say(std::string_view name, std::uint64_t value) noexcept;

  /// The call that this thread is in; null if it is in none, as a thread of the library.
  static Call* current() noexcept;
  const char* name() const { return name_; }
  /// When it began, as now().
  std::int64_t begin() const { return begin_; }
  /// Connects the call with a command.
  void connect(Flow flow) noexcept;

 private:
  friend class Wait;

  /// The largest number of commands that the trace connects with one call.
  static constexpr std::size_t kMostFlows = 128;

  const char* name_;
  Recorder* recorder_;
  Call* outer_ = nullptr;
  bool waits_ = false;
  std::int64_t begin_ = 0;
  std::size_t flow_count_ = 0;
  std::array<Flow, kMostFlows> flows_;  // the first flow_count_; an array needs no memory of its own
  std::vector<Fact> facts_;
};

/// Time that a call waits, from construction to destruction. Within another Wait it records nothing.
class Wait {
 public:
  /// @param what called if the wait is recorded; returns what the call waits for
  explicit Wait(FunctionRef<std::string()> what) noexcept;
  ~Wait();
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

 private:
  Call* call_ = nullptr;  // null: not recorded
  std::int64_t begin_ = 0;
  std::string what_;
};

}  // namespace clique::icd::trace
