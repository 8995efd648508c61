// Which fields of messages and structures are younger than the oldest version of the protocol that is still
// spoken (kOldestVersion in version.hpp).
//
// A record may lack these fields: the sender is older, and they keep their defaults. A record may have more
// fields than this version knows: the sender is newer, and they are ignored. So a field may be added without
// raising kOldestVersion if
// - it is the last one of its message or structure,
// - its default means what the older version does,
// - it neither is nor contains a Payload, because an older receiver would not know whose the frame is.
#pragma once

#include <cstddef>

namespace clique::protocol {

struct CreateQueue;
struct Failed;
struct Offer;
struct Pass;
struct ReadBuffer;
struct RunKernel;
struct WorkerAddress;

/// How many of the last fields of T may be missing. Each version that appends fields adds a line below, as in
///   template <> inline constexpr std::size_t kAppendedFields<Status> = 1;  // 27: temperature
/// and raising kOldestVersion removes the lines of the versions that are no longer spoken.
template <typename T>
inline constexpr std::size_t kAppendedFields = 0;

template <>
inline constexpr std::size_t kAppendedFields<WorkerAddress> = 2;  // 27: segments_at, segments_size
template <>
inline constexpr std::size_t kAppendedFields<Pass> = 2;  // 28: sealed_headers; 29: sealed_pieces
template <>
inline constexpr std::size_t kAppendedFields<RunKernel> = 1;  // 29: expected
template <>
inline constexpr std::size_t kAppendedFields<CreateQueue> = 1;  // 30: traced
template <>
inline constexpr std::size_t kAppendedFields<ReadBuffer> = 1;  // 31: landing
template <>
inline constexpr std::size_t kAppendedFields<Offer> = 1;  // 31: host
template <>
inline constexpr std::size_t kAppendedFields<Failed> = 1;  // 32: command

}  // namespace clique::protocol
