// The protocol's limits, and the sizes of the parts in which data travels. All are in bytes unless they say
// otherwise.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace clique::protocol {

inline constexpr std::size_t kKiB = std::size_t{1} << 10U;
inline constexpr std::size_t kMiB = std::size_t{1} << 20U;

/// Largest payload that travels inside its message; see Payload.
inline constexpr std::size_t kInlinePayload = 1 * kKiB;

/// Largest payload of one message. Larger transfers are several messages: parts of one command
/// (Command::kMore), or PeerData.
inline constexpr std::size_t kMaxPayload = 8 * kMiB;

/// One part of a transfer. It is small enough for the stages of the route (socket, staging memory, device) to
/// overlap, and to stay in a core's cache from one stage to the next; and large, since each part wakes a
/// thread at every stage.
inline constexpr std::size_t kPartSize = 1 * kMiB;

/// Smallest part into which a transfer is divided so that several streams carry it.
inline constexpr std::size_t kLeastPartSize = 128 * kKiB;

/// Largest part of a transfer to a client on the worker's own host, which shares memory with it: several of
/// the client's threads copy such parts, and wait for each other less often if the parts are larger.
inline constexpr std::size_t kLargestSharedPart = 4 * kMiB;

/// A range of a buffer that is larger than this travels beside the commands, as a transfer of its own.
inline constexpr std::size_t kLargeTransfer = 2 * kMiB;
/// The same where several connections carry such transfers faster than the commands' one connection would:
/// it encrypts with one processor, and over a high-latency link it holds no more than kLargeTransfer.
inline constexpr std::size_t kLargeBesideCommands = 256 * kKiB;

/// Largest record of a stream that carries batches: a batch with its payloads. The sender begins another
/// batch long before.
inline constexpr std::size_t kMaxBatchRecord = 512 * kMiB;

/// Largest address by which UCX reaches a process: some hundred bytes for each of its networks.
inline constexpr std::size_t kMaxUcxAddress = 64 * kKiB;

/// A line's receiving end acknowledges after this number of batches, or this number of bytes in them. The
/// sender keeps that much until then, and acknowledgements this rare cost nothing that matters.
inline constexpr unsigned kBatchesToAcknowledge = 64;
inline constexpr std::size_t kBytesToAcknowledge = 1 * kMiB;

/// How long a worker keeps a report that nobody waits for (Command::kUnhurried).
inline constexpr std::chrono::milliseconds kLongestUnhurried{20};

/// What a program may include: files, their bytes together, and how deeply they include each other, which is
/// the depth that Clang allows.
inline constexpr std::size_t kMaxProgramFiles = 4096;
inline constexpr std::size_t kMaxProgramFileBytes = 32 * kMiB;
inline constexpr std::size_t kMaxIncludeDepth = 200;
/// Bytes of such files that a worker keeps for a session's later programs.
inline constexpr std::size_t kMaxKeptFileBytes = 64 * kMiB;
/// Bytes of a file's path, which is what Linux allows.
inline constexpr std::size_t kMaxPath = 4096;

/// Sessions in a Status: the oldest ones.
inline constexpr std::size_t kMostListedSessions = 4096;
/// Nodes in a Reach, and how long their daemon may take for it.
inline constexpr std::size_t kMostReached = 16;
inline constexpr std::uint32_t kLongestReachMs = 5000;
/// Bytes of Steer::reason. It fits into a Hello's batch.
inline constexpr std::size_t kLongestReason = 500;

/// What a received batch may hold. Decoding throws DecodeError beyond these.
struct Limits {
  static constexpr std::size_t kFrames = 1U << 16U;            ///< payloads in frames of their own
  static constexpr std::size_t kFrameBytes = 4 * kKiB * kMiB;  ///< in all of them
  static constexpr std::size_t kBatchBytes = 256 * kMiB;       ///< records; program binaries are in them
  static constexpr std::size_t kArray = 1U << 16U;             ///< elements
  static constexpr std::size_t kString = 64 * kMiB;
  static constexpr std::size_t kBin = 256 * kMiB;
  static constexpr std::size_t kDepth = 10;  ///< arrays within arrays
  /// Elements of all arrays of one record: decoding takes 24 bytes of memory for each.
  static constexpr std::size_t kElements = 1U << 20U;
  /// Records of the first batch of a connection, until which the other side is unknown.
  static constexpr std::size_t kFirstBatchBytes = 1 * kKiB;
};

}  // namespace clique::protocol
