// Commands. They enter their queue in the order of arrival.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocol/messages/message.hpp"

namespace clique::protocol {

/// The header of every command.
struct Command {
  /// The worker keeps an event under `id`, for wait lists and notifications, until Release names it. The
  /// worker notices the end of a command with kUnhurried later if this flag is missing.
  static constexpr std::uint8_t kEvent = 1;
  /// EventState is sent when the command completes or fails. Implies kEvent.
  static constexpr std::uint8_t kReport = 2;
  /// More messages with the same id follow: they are parts of one command, whose event completes with the
  /// last part.
  static constexpr std::uint8_t kMore = 4;
  /// This is a later part of a command, and `waits` holds the numbers, from 0, of the parts that it waits
  /// for. A part without this flag waits for what the first part waits for. In an in-order queue, all parts
  /// run one after the other.
  static constexpr std::uint8_t kAfterParts = 8;
  /// With kReport: nobody waits for the EventState of success. The worker sends it with the next report of
  /// another kind, at the latest after kLongestUnhurried. Without kReport: commands of other workers rarely
  /// wait for this one, so the worker may notice its end with that of later ones.
  static constexpr std::uint8_t kUnhurried = 16;
  /// In a queue with CL_QUEUE_PROFILING_ENABLE: the client does not use the command's times, so that they
  /// need not be measured.
  static constexpr std::uint8_t kUntimed = 32;

  CommandId id = 0;
  ObjectId queue = 0;
  std::uint8_t flags = 0;
  std::vector<CommandId> waits;  ///< commands of this worker with kEvent, or announced by AwaitRemote
  CLIQUE_FIELDS(Command, id, queue, flags, waits)
};

/// A kernel argument that changed since the kernel's last launch on this worker.
struct KernelArg {
  enum Kind : std::uint8_t {
    Value = 0,
    Object = 1,
    Local = 2,
    NullObject = 3,
    Pointer = 4,  ///< into a buffer that has an address
  };
  std::uint32_t index = 0;
  std::uint8_t kind = Value;
  std::uint64_t number = 0;  ///< ObjectId of a buffer, image or sampler; size of a local argument
  Bytes value;               ///< the bytes of a Value; the offset in the buffer of a Pointer, 8 bytes
  CLIQUE_FIELDS(KernelArg, index, kind, number, value)
};

/// The work-items [begin, end) of a range in one dimension, counted from the range's offset.
struct LaunchPart {
  std::uint8_t dimension = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  ///< 0: all of the range

  bool whole() const { return end == 0; }
  friend bool operator==(const LaunchPart&, const LaunchPart&) = default;
  CLIQUE_FIELDS(LaunchPart, dimension, begin, end)
};

/// The bytes of a sparse buffer that a launch may access.
struct SparseUse {
  ObjectId buffer = 0;
  std::vector<ByteRange> ranges;
  CLIQUE_FIELDS(SparseUse, buffer, ranges)
};

/// What a launch is expected to access of an argument.
struct ExpectedAccess {
  std::uint32_t argument = 0;
  std::vector<ByteRange> reads = {};   ///< bytes of the buffer
  std::vector<ByteRange> writes = {};  ///< bytes that may also be read
  CLIQUE_FIELDS(ExpectedAccess, argument, reads, writes)
};

/// Ranges of the ExpectedAccesses of one launch.
inline constexpr std::size_t kMostExpectedRanges = 1U << 16U;

struct RunKernel {
  Command command;
  ObjectId kernel = 0;
  std::vector<KernelArg> args;
  std::vector<std::uint64_t> offset;  ///< empty: zero
  std::vector<std::uint64_t> global;  ///< 1 to 3 dimensions; empty: clEnqueueTask
  std::vector<std::uint64_t> local;   ///< empty: the driver chooses
  std::vector<ObjectId> reached =
      {};  ///< buffers with addresses that the kernel reaches by other means than `args`
  /// What runs of the range. It consists of whole work-groups if `local` is given. On a device whose
  /// footprints have no `whole_dimensions` the kernel sees the ids and sizes of the whole range.
  LaunchPart part = {};
  /// What it accesses of each sparse buffer among its arguments.
  std::vector<SparseUse> sparse = {};
  /// For a program that was built with -clique-check-footprints: what the launch is expected to access, in
  /// the order of its arguments. It fails if it accesses anything else. Empty: nothing is checked.
  std::vector<ExpectedAccess> expected = {};
  CLIQUE_MESSAGE(RunKernel, command, kernel, args, offset, global, local, reached, part, sparse, expected)
};

/// 4 bytes of an early read (ReadBuffer::early), and the flag that they have arrived. A device writes both at
/// once, so that the order of writes does not matter. Behind the bytes of ReadBuffer::landing, only the flag
/// matters.
struct alignas(8) EarlyUnit {
  std::uint32_t data;
  std::uint32_t there;  ///< 0, then 1 once `data` has arrived
};

/// The bytes that a read of `size` bytes takes at ReadBuffer::landing.
constexpr std::uint64_t landing_size(std::uint64_t size) {
  return (size + sizeof(EarlyUnit) - 1) / sizeof(EarlyUnit) * sizeof(EarlyUnit) + sizeof(EarlyUnit);
}

/// The data arrives as Data with this command's id and `part`, before the command's EventState.
///
/// A client that waits for data from a worker on its own host may look for it in the memory that both share:
/// it reserves a place in the arena that it sends payloads from. A device that supports this writes the data
/// there, where the client sees it before the worker has noticed that the command completed; no Data is sent
/// then. For a few bytes, the place is EarlyUnits, all 0, and `early` is the offset of their end in the
/// arena. For more, it is landing_size() bytes: those that are read, and as the last 8 an EarlyUnit, 0, whose
/// flag tells that all have arrived; `landing` is the offset of its end. 0: there is no such place.
struct ReadBuffer {
  Command command;
  std::uint32_t part = 0;
  ObjectId buffer = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t early = 0;
  std::uint64_t landing = 0;
  CLIQUE_MESSAGE(ReadBuffer, command, part, buffer, offset, size, early, landing)
};

struct WriteBuffer {
  Command command;
  ObjectId buffer = 0;
  std::uint64_t offset = 0;
  Payload data;
  CLIQUE_MESSAGE(WriteBuffer, command, buffer, offset, data)
};

/// The region's rows arrive as Data, without gaps.
struct ReadBufferRect {
  Command command;
  std::uint32_t part = 0;
  ObjectId buffer = 0;
  Triple origin{};  ///< x in bytes
  Triple region{};  ///< x in bytes
  std::uint64_t row_pitch = 0;
  std::uint64_t slice_pitch = 0;
  CLIQUE_MESSAGE(ReadBufferRect, command, part, buffer, origin, region, row_pitch, slice_pitch)
};

/// `data` holds the region's rows without gaps.
struct WriteBufferRect {
  Command command;
  ObjectId buffer = 0;
  Triple origin{};
  Triple region{};
  std::uint64_t row_pitch = 0;
  std::uint64_t slice_pitch = 0;
  Payload data;
  CLIQUE_MESSAGE(WriteBufferRect, command, buffer, origin, region, row_pitch, slice_pitch, data)
};

struct CopyBuffer {
  Command command;
  ObjectId source = 0;
  ObjectId destination = 0;
  std::uint64_t source_offset = 0;
  std::uint64_t destination_offset = 0;
  std::uint64_t size = 0;
  CLIQUE_MESSAGE(CopyBuffer, command, source, destination, source_offset, destination_offset, size)
};

struct CopyBufferRect {
  Command command;
  ObjectId source = 0;
  ObjectId destination = 0;
  Triple source_origin{};
  Triple destination_origin{};
  Triple region{};
  std::array<std::uint64_t, 2> source_pitch{};       ///< row, slice
  std::array<std::uint64_t, 2> destination_pitch{};  ///< row, slice
  CLIQUE_MESSAGE(CopyBufferRect, command, source, destination, source_origin, destination_origin, region,
                 source_pitch, destination_pitch)
};

struct FillBuffer {
  Command command;
  ObjectId buffer = 0;
  Bytes pattern;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  CLIQUE_MESSAGE(FillBuffer, command, buffer, pattern, offset, size)
};

/// The region arrives as Data, without gaps.
struct ReadImage {
  Command command;
  std::uint32_t part = 0;
  ObjectId image = 0;
  Triple origin{};
  Triple region{};
  std::uint64_t size = 0;  ///< of the region without gaps
  CLIQUE_MESSAGE(ReadImage, command, part, image, origin, region, size)
};

struct WriteImage {
  Command command;
  ObjectId image = 0;
  Triple origin{};
  Triple region{};
  Payload data;  ///< without gaps
  CLIQUE_MESSAGE(WriteImage, command, image, origin, region, data)
};

struct CopyImage {
  Command command;
  ObjectId source = 0;
  ObjectId destination = 0;
  Triple source_origin{};
  Triple destination_origin{};
  Triple region{};
  CLIQUE_MESSAGE(CopyImage, command, source, destination, source_origin, destination_origin, region)
};

struct CopyImageToBuffer {
  Command command;
  ObjectId source = 0;
  ObjectId destination = 0;
  Triple origin{};
  Triple region{};
  std::uint64_t offset = 0;
  CLIQUE_MESSAGE(CopyImageToBuffer, command, source, destination, origin, region, offset)
};

struct CopyBufferToImage {
  Command command;
  ObjectId source = 0;
  ObjectId destination = 0;
  std::uint64_t offset = 0;
  Triple origin{};
  Triple region{};
  CLIQUE_MESSAGE(CopyBufferToImage, command, source, destination, offset, origin, region)
};

struct FillImage {
  Command command;
  ObjectId image = 0;
  Bytes color;  ///< 16 bytes, or 4 for a depth image
  Triple origin{};
  Triple region{};
  CLIQUE_MESSAGE(FillImage, command, image, color, origin, region)
};

/// Worker to client: the data that a Read* command asked for.
struct Data {
  CommandId command = 0;
  std::uint32_t part = 0;
  Payload data;
  CLIQUE_MESSAGE(Data, command, part, data)
};

/// clEnqueueMarkerWithWaitList: without waits, completes after everything that entered the queue before.
struct Marker {
  Command command;
  CLIQUE_MESSAGE(Marker, command)
};

/// clEnqueueBarrierWithWaitList.
struct Barrier {
  Command command;
  CLIQUE_MESSAGE(Barrier, command)
};

/// Defines commands that can be run any number of times: a batch of RecordedMessages. In their headers
/// (Command) only `waits` is used: the numbers, from 0, of the earlier commands that a command comes after.
struct DefineRecording {
  /// Largest number of commands.
  static constexpr std::size_t kMaxCommands = 1U << 16U;

  ObjectId id = 0;
  Bytes commands;
  CLIQUE_MESSAGE(DefineRecording, id, commands)
};

/// Changes launches of a recording, for the runs that are requested later. `commands` is a batch of RunKernel
/// with empty headers, one for each of `numbers`. It takes the place of the RunKernel with that number,
/// except that the earlier commands that it comes after stay the same.
struct UpdateRecording {
  ObjectId id = 0;
  std::vector<CommandId> numbers;
  Bytes commands;
  CLIQUE_MESSAGE(UpdateRecording, id, numbers, commands)
};

/// Runs a recording's commands in `command.queue` as the parts of one command.
struct RunRecording {
  Command command;
  ObjectId recording = 0;
  CLIQUE_MESSAGE(RunRecording, command, recording)
};

}  // namespace clique::protocol
