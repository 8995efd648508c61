#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "icd/trace/trace.hpp"

namespace clique::icd::trace {

/// The file of a trace, to which this process appends. Other processes may append, too. Any thread.
class File {
 public:
  /// @param descriptor open for appending; the file closes it.
  File(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  /// Appends whole packets. If that fails, says so once, and drops them and all that follow.
  void append(std::string_view packets) noexcept;

 private:
  std::mutex mutex_;  // guards the members below
  int descriptor_;
  std::string path_;
};

/// What a stream says of the process that it belongs to.
struct Process {
  std::uint64_t track;  ///< its uuid
  int pid;
  std::vector<std::string> arguments;
};

/// A sequence of packets, with a buffer and names of its own. One thread at a time adds to it, without a
/// lock; any thread may flush it meanwhile. May throw std::bad_alloc, and then has lost a packet.
class Stream {
 public:
  /// @param sequence differs from that of every other stream in the file
  Stream(File& file, std::uint32_t sequence);

  /// Adds the packet that describes a process, and how its clocks compare.
  void describe(const Process& process);
  /// Adds the packet that describes a thread of a process. Slices without a track belong to it from now on.
  void describe_thread(const Process& process, std::uint64_t track, std::int64_t id, std::string_view name);
  /// Adds the packet that describes another track. @param parent a track that contains it
  void describe_track(std::uint64_t track, std::uint64_t parent, std::string_view name);

  /// When a slice begins and ends, as now().
  struct Span {
    std::int64_t begin;
    std::int64_t end;
  };
  /// Adds a slice. @param track 0: that of the thread
  /// @param scope what flows are relative to
  void add(const SliceView& slice, Span span, std::uint64_t track, std::uint64_t scope);

  /// Appends what was added to the file. Any thread.
  void flush() noexcept;
  /// From now on, each packet is appended at once. Any thread.
  void write_through() noexcept;

 private:
  /// Names of one kind, and the numbers that stand for them.
  struct Names {
    /// Finds views without copying them.
    struct Hash {
      using is_transparent = void;
      std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
    };
    std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>> iids;
    /// Where constants are in memory, and their numbers: of those that were used last, by address.
    std::array<std::pair<const char*, std::uint64_t>, 64> constants = {};
  };
  /// A name in a packet: a number, or, if there are too many names, the name itself.
  struct Name {
    std::uint64_t iid;  ///< 0: none
    std::string_view text;
    bool is_new;
  };

  static Name intern(Names& names, std::string_view text);
  /// intern() of a text that is never changed or freed.
  static Name intern_constant(Names& names, std::string_view text);
  /// Adds whole packets.
  void append(std::string_view packets) noexcept;
  /// Ends a packet, which was encoded behind the others. @param size of the buffer with it, in bytes
  void publish(std::size_t size) noexcept;
  /// Appends what was published to the file. Under mutex_.
  void append_published() noexcept;

  File& file_;
  const std::uint32_t sequence_;
  /// What names the sequence in each packet, encoded.
  std::array<char, 8> encoded_sequence_ = {};
  std::size_t encoded_sequence_size_ = 0;
  const std::unique_ptr<char[]> buffer_;
  /// How many bytes of the buffer are whole packets. Whoever adds changes it, and sets it back under mutex_.
  std::atomic<std::size_t> published_{0};
  std::atomic<bool> write_through_{false};
  std::mutex mutex_;
  std::size_t appended_ = 0;  // bytes of the buffer that the file has; under mutex_
  // The members below are of whoever adds.
  bool begun_ = false;
  Names categories_;
  Names names_;
  Names facts_;
  Names values_;
  /// Of the slice that add() adds: the names of its facts, and their values that are texts. Kept for its
  /// memory.
  std::vector<std::pair<Name, Name>> added_facts_;
};

}  // namespace clique::icd::trace
