// Commands. They enter `queue` in the order of their arrival.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocol/messages/message.hpp"

namespace clique::protocol {

/// What all commands begin with.
struct Command {
  /// An event is kept under `id`, for wait lists and notifications, until Release names it.
  static constexpr std::uint8_t kEvent = 1;
  /// EventState is sent when it ends. Implies kEvent.
  static constexpr std::uint8_t kReport = 2;
  /// More messages with the same id follow; together they are one command, whose event ends with the last
  /// part.
  static constexpr std::uint8_t kMore = 4;
  /// The command is not the first part of one, and `waits` are the numbers, from 0, of earlier parts. Other
  /// parts wait for what the first one waits for. In a queue that is in order, all come one after the other.
  static constexpr std::uint8_t kAfterParts = 8;

  CommandId id = 0;
  ObjectId queue = 0;
  std::uint8_t flags = 0;
  std::vector<CommandId> waits;  ///< commands of this worker with kEvent, or announced by AwaitRemote
  CLIQUE_FIELDS(Command, id, queue, flags, waits)
};

/// One kernel argument that changed since the kernel's last launch on this worker.
struct KernelArg {
  enum Kind : std::uint8_t {
    Value = 0,
    Object = 1,
    Local = 2,
    NullObject = 3,
    Pointer = 4,  ///< into a buffer with an address
  };
  std::uint32_t index = 0;
  std::uint8_t kind = Value;
  std::uint64_t number = 0;  ///< ObjectId of a buffer, image or sampler; size of a local argument
  Bytes value;               ///< a value's bytes; how far into the buffer a pointer points, 8 bytes
  CLIQUE_FIELDS(KernelArg, index, kind, number, value)
};

struct RunKernel {
  Command command;
  ObjectId kernel = 0;
  std::vector<KernelArg> args;
  std::vector<std::uint64_t> offset;  ///< empty: zero
  std::vector<std::uint64_t> global;  ///< 1 to 3 dimensions; empty: clEnqueueTask
  std::vector<std::uint64_t> local;   ///< empty: the driver's choice
  std::vector<ObjectId> reached =
      {};  ///< buffers with addresses that the kernel reaches otherwise than by args
  CLIQUE_MESSAGE(RunKernel, command, kernel, args, offset, global, local, reached)
};

/// Of data that is watched for: 4 bytes of it, and that they are there. A device writes both at once, so
/// that nothing need come before anything else.
struct alignas(8) EarlyUnit {
  std::uint32_t data;
  std::uint32_t there;  ///< 0, and then 1
};

/// The data comes as Data with this command's id and `part`, before the command's EventState.
///
/// Who waits for a few bytes of a worker on its own host may watch for them in the memory that the two share:
/// there, in what the client sends payloads from, lie EarlyUnits for them, all 0, that end at `early`; 0:
/// nowhere. A device that can do it leaves the data in these, which the client sees before the worker has
/// noticed the end, and then no Data comes.
struct ReadBuffer {
  Command command;
  std::uint32_t part = 0;
  ObjectId buffer = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t early = 0;
  CLIQUE_MESSAGE(ReadBuffer, command, part, buffer, offset, size, early)
};

struct WriteBuffer {
  Command command;
  ObjectId buffer = 0;
  std::uint64_t offset = 0;
  Payload data;
  CLIQUE_MESSAGE(WriteBuffer, command, buffer, offset, data)
};

/// The region's rows arrive without gaps.
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

/// The region's rows come without gaps.
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

/// The region arrives without gaps, as Data.
struct ReadImage {
  Command command;
  std::uint32_t part = 0;
  ObjectId image = 0;
  Triple origin{};
  Triple region{};
  std::uint64_t size = 0;  ///< bytes of the region without gaps
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

/// Data that a Read* command asked for.
struct Data {
  CommandId command = 0;
  std::uint32_t part = 0;
  Payload data;
  CLIQUE_MESSAGE(Data, command, part, data)
};

/// clEnqueueMarkerWithWaitList: without waits, after all that entered the queue before.
struct Marker {
  Command command;
  CLIQUE_MESSAGE(Marker, command)
};

/// clEnqueueBarrierWithWaitList.
struct Barrier {
  Command command;
  CLIQUE_MESSAGE(Barrier, command)
};

/// Commands to be run any number of times: a batch of RecordedMessages. Of their headers (Command) only
/// `waits` says something: the numbers, from 0, of earlier ones that a command comes after.
struct DefineRecording {
  /// How many commands there may be.
  static constexpr std::size_t kMaxCommands = 1U << 16U;

  ObjectId id = 0;
  Bytes commands;
  CLIQUE_MESSAGE(DefineRecording, id, commands)
};

/// Runs a recording's commands in `command.queue` as the parts of one command. All queues that a recording
/// runs in are in order, or none is.
struct RunRecording {
  Command command;
  ObjectId recording = 0;
  CLIQUE_MESSAGE(RunRecording, command, recording)
};

}  // namespace clique::protocol
