// Every message of Clique, once, for both sides. protocol/README.md says how they travel.
//
// A message is a plain aggregate: CLIQUE_MESSAGE(Op, fields...) gives it its number and the order of its
// fields on the wire. Numbers are never reused; a changed message gets a new number or a new protocol
// version. Values named after OpenCL types (flags, formats, statuses) have the numbers of cl.h; sizes and
// offsets are in bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "protocol/aggregate.hpp"

namespace clique::protocol {

/// Names an object of a session (context, queue, buffer, program, kernel, ...). Chosen by the client, never
/// reused within a session, never 0.
using ObjectId = std::uint64_t;
/// Names a command and its event. Chosen by the client, unique over all of its sessions, never 0.
using CommandId = std::uint64_t;
/// Pairs a request with its reply. Chosen by the client, unique within a session.
using RequestId = std::uint64_t;
/// Index of a device in Attached::devices, or the id given in CreateSubDevices for sub-devices (>=
/// kFirstSubDevice).
using DeviceId = std::uint64_t;
inline constexpr DeviceId kFirstSubDevice = 1ULL << 32;
/// Names a worker's device memory to those that read it; chosen at random.
using WindowId = std::uint64_t;
/// Names another worker of the same client, in ConnectPeer and what follows it.
using PeerId = std::uint32_t;
/// The client itself, as the receiver of a Push.
inline constexpr PeerId kClientPeer = 0xffff'ffff;

/// Raw bytes, msgpack's BIN.
using Bytes = std::vector<std::uint8_t>;
using Triple = std::array<std::uint64_t, 3>;

/// Bulk data. Up to kInlinePayload bytes travel inside the message (BIN); more travels as the next frame of
/// the same ZeroMQ message (the field is then NIL), so that it is neither copied nor parsed.
struct Payload {
  std::span<const std::byte> bytes;
  /// Keeps `bytes` alive; empty where the sender's caller guarantees their life otherwise.
  std::shared_ptr<const void> owner;
};
inline constexpr std::size_t kInlinePayload = 1024;

/// Largest payload of one message; larger transfers are parts of one command (Command::kMore).
inline constexpr std::size_t kMaxPayload = 8U << 20U;

/// Message numbers. 1-19 session, 20-59 objects, 60-99 commands, 100-119 synchronisation, 120-139 replies and
/// reports of the worker, 140-159 between workers, and bulk between client and worker.
enum class Op : std::uint16_t {
  Hello = 1,
  Welcome = 2,
  Refused = 3,
  Attach = 4,
  Attached = 5,
  Goodbye = 6,
  Starting = 7,
  AttachLine = 8,
  Received = 9,
  Offer = 10,

  CreateContext = 20,
  CreateSubDevices = 21,
  CreateQueue = 22,
  CreateBuffer = 23,
  CreateSubBuffer = 24,
  CreateImage = 25,
  CreateSampler = 26,
  CreateProgram = 27,
  BuildProgram = 28,
  CompileProgram = 29,
  LinkProgram = 30,
  CreateKernel = 31,
  Release = 32,
  GetProgramBinary = 33,
  QueryWorkGroup = 34,
  DefineRecording = 35,

  RunKernel = 60,
  ReadBuffer = 61,
  WriteBuffer = 62,
  ReadBufferRect = 63,
  WriteBufferRect = 64,
  CopyBuffer = 65,
  CopyBufferRect = 66,
  FillBuffer = 67,
  ReadImage = 68,
  WriteImage = 69,
  CopyImage = 70,
  CopyImageToBuffer = 71,
  CopyBufferToImage = 72,
  FillImage = 73,
  Marker = 74,
  Barrier = 75,
  Push = 76,
  Expect = 77,
  RunRecording = 78,
  ReadToSegment = 79,
  WriteFromSegment = 80,

  Finish = 100,
  AwaitRemote = 101,
  SetRemote = 102,
  NotifyPeer = 103,
  ConnectPeer = 104,
  SyncClock = 105,
  WatchEvent = 106,

  SubDevicesCreated = 120,
  ProgramBuilt = 121,
  ProgramBinary = 122,
  WorkGroupAnswer = 123,
  Data = 124,
  EventState = 125,
  Finished = 126,
  ClockSynced = 127,
  Print = 128,
  Failed = 129,
  SessionEnded = 130,
  Taken = 131,
  PeerLost = 132,

  PeerData = 141,
  PeerDone = 142,
  // 143 was SharedData.
  FreeSegment = 144,
  OpenWindow = 145,
  WindowData = 146,
};

// ---------------------------------------------------------------------------------------------------------------
// Session. Client <-> daemon, then client <-> worker.

/// What a client asks a daemon for.
enum class Wish : std::uint64_t {
  Session = 0,  ///< answered by Welcome
  Devices = 1   ///< answered by Offer
};

/// Client to daemon, its only message. Answered as the wish says, or by Refused; Starting may come before.
/// These fields are the same in all versions, so that others can be told which one this is.
struct Hello {
  std::uint32_t version = 0;
  Wish wish = Wish::Session;
  std::string client;  ///< program, pid and host of the client, for logs
  CLIQUE_MESSAGE(Hello, version, wish, client)
};

/// How to reach one worker. A worker serves the devices of one driver of the node.
struct WorkerAddress {
  std::uint16_t commands = 0;  ///< port of the ROUTER socket that takes commands
  std::uint16_t reports = 0;   ///< port of the ROUTER socket that sends replies and reports
  std::uint16_t peers = 0;     ///< port of the ROUTER socket that takes other workers' messages
  std::string token;           ///< secret that Attach and AttachLine have to show
  std::string shared;          ///< name under which it offers shared memory on its host; empty: it does not
  std::uint32_t driver = 0;    ///< Driver::id
  CLIQUE_FIELDS(WorkerAddress, commands, reports, peers, token, shared, driver)
};

/// Daemon to client: a session is open; attach to its workers.
struct Welcome {
  std::uint32_t version = 0;
  std::string node;       ///< the node's own name
  std::string advertise;  ///< host by which other nodes reach this one; empty: the one that the client used
  std::vector<WorkerAddress> workers;
  CLIQUE_MESSAGE(Welcome, version, node, advertise, workers)
};

/// Daemon to client: no session, and why.
struct Refused {
  std::string reason;
  CLIQUE_MESSAGE(Refused, reason)
};

/// Daemon to client: there will be a session, but its workers are still being started, which takes as long as
/// the node's drivers do. Followed by Welcome or Refused.
struct Starting {
  std::uint8_t reserved = 0;
  CLIQUE_MESSAGE(Starting, reserved)
};

/// Client to worker, first message on each of its two sockets (commands and reports), where the session
/// begins.
struct Attach {
  std::string token;
  CLIQUE_MESSAGE(Attach, token)
};

/// Names a line of a session: what travels in one direction between two processes, over one connection after
/// the other where these break. Chosen by whoever connects.
using LineId = std::uint64_t;
/// The lines that a client's Attach begins on a worker's commands and reports sockets.
inline constexpr LineId kCommandsLine = 0;
inline constexpr LineId kReportsLine = 1;
/// A client's further lines, for bulk.
inline constexpr LineId kFirstBulkLine = 2;

/// First message of a connection, alone in its batch, to a worker's commands, reports or peers socket: a line
/// goes on here. One that the worker does not know begins: of a client, a line of PeerData. The worker
/// answers with Received, or with SessionEnded where there is no such session.
struct AttachLine {
  std::string token;
  LineId line = 0;
  bool to_client = false;      ///< the worker sends, as what is pushed to kClientPeer
  std::uint64_t received = 0;  ///< where the worker sends: how many batches of the line have come
  CLIQUE_MESSAGE(AttachLine, token, line, to_client, received)
};

/// From the receiving end of a line to the sending one, alone in its batch: so many batches have come since
/// it began. As an answer to AttachLine it is the connection's first, and 0 where it comes from the sending
/// end.
struct Received {
  std::uint64_t batches = 0;
  CLIQUE_MESSAGE(Received, batches)
};

/// One property as the node's driver answers it: the bytes of clGet*Info.
struct Property {
  std::uint32_t name = 0;
  Bytes value;
  CLIQUE_FIELDS(Property, name, value)
};

/// What clGetSupportedImageFormats answers for one device.
struct ImageFormats {
  std::uint64_t flags =
      0;  ///< CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE, CL_MEM_KERNEL_READ_AND_WRITE
  std::uint32_t image_type = 0;                       ///< cl_mem_object_type
  std::vector<std::array<std::uint32_t, 2>> formats;  ///< channel order, channel type
  CLIQUE_FIELDS(ImageFormats, flags, image_type, formats)
};

/// A device with everything that clGetDeviceInfo answers for it.
struct DeviceDescription {
  std::vector<Property>
      properties;  ///< every cl_device_info that the driver knows, handles (platform, parent) left out
  std::vector<ImageFormats> image_formats;
  CLIQUE_FIELDS(DeviceDescription, properties, image_formats)
};

/// A driver of a node.
struct Driver {
  std::uint32_t id = 0;  ///< among the node's drivers, for as long as its daemon runs
  std::vector<DeviceDescription> devices;
  CLIQUE_FIELDS(Driver, id, devices)
};

/// Daemon to client: what a session here would have.
struct Offer {
  std::uint32_t version = 0;
  std::string node;  ///< as in Welcome
  std::vector<Driver> drivers;
  CLIQUE_MESSAGE(Offer, version, node, drivers)
};

/// Worker to client, on the reports socket, once both sockets are attached.
struct Attached {
  std::vector<Property> platform;  ///< clGetPlatformInfo of the node's driver
  std::vector<DeviceDescription> devices;
  std::int64_t clock = 0;  ///< the node's clock when this was sent, ns; see SyncClock
  /// How long the worker waits for lines that broke to be attached again, ms; 0: it ends with them.
  std::uint32_t resume_ms = 0;
  CLIQUE_MESSAGE(Attached, platform, devices, clock, resume_ms)
};

/// Client to worker: the session ends in good order.
struct Goodbye {
  std::uint8_t reserved = 0;
  CLIQUE_MESSAGE(Goodbye, reserved)
};

// ---------------------------------------------------------------------------------------------------------------
// Objects. Creation is not answered; an object whose creation failed makes every command that uses it fail
// with the creation's status.

struct CreateContext {
  ObjectId id = 0;
  std::vector<DeviceId> devices;
  CLIQUE_MESSAGE(CreateContext, id, devices)
};

/// Answered by SubDevicesCreated. `first` and its successors name the sub-devices.
struct CreateSubDevices {
  RequestId request = 0;
  DeviceId parent = 0;
  std::vector<std::int64_t> properties;  ///< cl_device_partition_property list, closing 0 included
  DeviceId first = 0;
  CLIQUE_MESSAGE(CreateSubDevices, request, parent, properties, first)
};

struct CreateQueue {
  ObjectId id = 0;
  ObjectId context = 0;
  DeviceId device = 0;
  std::uint64_t properties = 0;  ///< cl_command_queue_properties
  CLIQUE_MESSAGE(CreateQueue, id, context, device, properties)
};

struct CreateBuffer {
  ObjectId id = 0;
  ObjectId context = 0;
  std::uint64_t flags = 0;  ///< cl_mem_flags, only those on the access of kernels
  std::uint64_t size = 0;
  /// Where the worker has to have it, since kernels will meet pointers to it (an allocation of shared virtual
  /// memory): the beginning of a page that nothing else uses. 0: anywhere.
  std::uint64_t address = 0;
  CLIQUE_MESSAGE(CreateBuffer, id, context, flags, size, address)
};

/// A range of a buffer; of one with an address, whatever the device wants sub-buffers to be aligned to.
struct CreateSubBuffer {
  ObjectId id = 0;
  ObjectId parent = 0;
  std::uint64_t flags = 0;
  std::uint64_t origin = 0;
  std::uint64_t size = 0;
  CLIQUE_MESSAGE(CreateSubBuffer, id, parent, flags, origin, size)
};

struct CreateImage {
  ObjectId id = 0;
  ObjectId context = 0;
  std::uint64_t flags = 0;
  std::uint32_t channel_order = 0;
  std::uint32_t channel_type = 0;
  std::uint32_t image_type = 0;
  Triple extent{};  ///< width, height, depth; 1 where the type has none
  std::uint64_t array_size = 0;
  std::uint64_t row_pitch = 0;  ///< of an image over `buffer`, else 0
  ObjectId buffer = 0;          ///< the buffer below a 1D buffer image or a 2D image from a buffer, else 0
  CLIQUE_MESSAGE(CreateImage, id, context, flags, channel_order, channel_type, image_type, extent, array_size,
                 row_pitch, buffer)
};

struct CreateSampler {
  ObjectId id = 0;
  ObjectId context = 0;
  bool normalized = false;
  std::uint32_t addressing = 0;
  std::uint32_t filter = 0;
  CLIQUE_MESSAGE(CreateSampler, id, context, normalized, addressing, filter)
};

enum class ProgramKind : std::uint8_t { Source = 0, Binary = 1, Il = 2, BuiltInKernels = 3 };

/// Answered by ProgramBuilt where `kind` is not Source (the statuses are those of the binaries, one per
/// device), else not answered.
struct CreateProgram {
  RequestId request = 0;
  ObjectId id = 0;
  ObjectId context = 0;
  ProgramKind kind = ProgramKind::Source;
  std::vector<DeviceId> devices;  ///< of the binaries or built-in kernels
  std::vector<Bytes>
      code;  ///< one source, one IL module, the built-in kernels' names, or a binary per device
  CLIQUE_MESSAGE(CreateProgram, request, id, context, kind, devices, code)
};

/// Answered by ProgramBuilt.
struct BuildProgram {
  RequestId request = 0;
  ObjectId program = 0;
  std::vector<DeviceId> devices;
  std::string options;
  CLIQUE_MESSAGE(BuildProgram, request, program, devices, options)
};

/// Answered by ProgramBuilt.
struct CompileProgram {
  RequestId request = 0;
  ObjectId program = 0;
  std::vector<DeviceId> devices;
  std::string options;
  std::vector<ObjectId> headers;
  std::vector<std::string> header_names;
  CLIQUE_MESSAGE(CompileProgram, request, program, devices, options, headers, header_names)
};

/// Creates program `id` from compiled ones. Answered by ProgramBuilt.
struct LinkProgram {
  RequestId request = 0;
  ObjectId id = 0;
  ObjectId context = 0;
  std::vector<DeviceId> devices;
  std::string options;
  std::vector<ObjectId> inputs;
  CLIQUE_MESSAGE(LinkProgram, request, id, context, devices, options, inputs)
};

struct CreateKernel {
  ObjectId id = 0;
  ObjectId program = 0;
  std::string name;
  CLIQUE_MESSAGE(CreateKernel, id, program, name)
};

/// Objects and events that the client holds no longer. The driver keeps what pending commands need.
struct Release {
  std::vector<ObjectId> objects;
  std::vector<CommandId> events;
  CLIQUE_MESSAGE(Release, objects, events)
};

/// Answered by ProgramBinary.
struct GetProgramBinary {
  RequestId request = 0;
  ObjectId program = 0;
  DeviceId device = 0;
  CLIQUE_MESSAGE(GetProgramBinary, request, program, device)
};

/// clGetKernelWorkGroupInfo, clGetKernelSubGroupInfo or clGetKernelSuggestedLocalWorkSizeKHR where the answer
/// depends on what only the node knows (arguments set, local size). Answered by WorkGroupAnswer.
struct QueryWorkGroup {
  /// `name` of clGetKernelSuggestedLocalWorkSizeKHR. `input` is the offset and then the size of each
  /// dimension, the answer a local size for each; 8 bytes a number.
  static constexpr std::uint32_t kSuggestedLocalSize = 0;

  RequestId request = 0;
  ObjectId kernel = 0;
  DeviceId device = 0;
  std::uint32_t name = 0;  ///< cl_kernel_sub_group_info
  Bytes input;
  std::uint64_t answer_size = 0;
  CLIQUE_MESSAGE(QueryWorkGroup, request, kernel, device, name, input, answer_size)
};

// ---------------------------------------------------------------------------------------------------------------
// Commands. They enter `queue` in the order of their arrival.

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

/// A read to memory that the client shares with the worker (protocol/README.md): it has no other notice of
/// the data than the command's end.
struct ReadToSegment {
  Command command;
  ObjectId buffer = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  ObjectId segment = 0;
  std::uint64_t at = 0;  ///< in the segment
  CLIQUE_MESSAGE(ReadToSegment, command, buffer, offset, size, segment, at)
};

/// The data stays in the segment until the command has ended.
struct WriteFromSegment {
  Command command;
  ObjectId buffer = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  ObjectId segment = 0;
  std::uint64_t at = 0;  ///< in the segment
  CLIQUE_MESSAGE(WriteFromSegment, command, buffer, offset, size, segment, at)
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

/// Sends the content of [offset, offset+size) of a buffer, or of a whole image (offset 0, size its bytes
/// without gaps), to `peer`, which has been told to Expect `transfer`; the client itself knows what it has
/// asked for. Ordered by `command.waits` alone: `command.queue` only says where it runs, and is an
/// out-of-order queue where the device has them.
struct Push {
  Command command;
  ObjectId object = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  PeerId peer = 0;
  CommandId transfer = 0;  ///< id of the Expect command
  std::uint64_t at = 0;    ///< where in the transfer the range begins
  /// A buffer whose first 8 bytes, once the waits have ended, say how many bytes of the object mean anything,
  /// so that the rest need not be sent; 0: all do.
  ObjectId content_size = 0;
  CLIQUE_MESSAGE(Push, command, object, offset, size, peer, transfer, at, content_size)
};

/// Receives what another worker pushes, or the client sends, with transfer = command.id; ends when all of it
/// is in place. Incoming data is written after `command.waits`.
struct Expect {
  Command command;
  ObjectId object = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  CLIQUE_MESSAGE(Expect, command, object, offset, size)
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

// ---------------------------------------------------------------------------------------------------------------
// Synchronisation.

/// Answered by Finished when everything that entered `queue` before has ended.
struct Finish {
  RequestId request = 0;
  ObjectId queue = 0;
  CLIQUE_MESSAGE(Finish, request, queue)
};

/// `command` runs elsewhere (another worker, or it is a user event); its end will be told by PeerDone or
/// SetRemote.
struct AwaitRemote {
  CommandId command = 0;
  ObjectId context = 0;
  CLIQUE_MESSAGE(AwaitRemote, command, context)
};

/// The client tells how a command of elsewhere ended. Also fails an Expect whose pushing worker is lost.
struct SetRemote {
  CommandId command = 0;
  std::int32_t status = 0;  ///< CL_COMPLETE or a negative status
  CLIQUE_MESSAGE(SetRemote, command, status)
};

/// When `command` (of this worker, kEvent) ends, PeerDone goes to `peer`.
struct NotifyPeer {
  CommandId command = 0;
  PeerId peer = 0;
  CLIQUE_MESSAGE(NotifyPeer, command, peer)
};

/// Where to reach another worker of the same client.
struct ConnectPeer {
  PeerId peer = 0;
  std::string endpoint;  ///< ZeroMQ endpoint of the peer's `peers` socket
  std::string token;
  std::string shared;  ///< WorkerAddress::shared; empty: not to be used
  CLIQUE_MESSAGE(ConnectPeer, peer, endpoint, token, shared)
};

/// Answered at once by ClockSynced, so that the client can estimate the offset of the node's clock.
struct SyncClock {
  RequestId request = 0;
  CLIQUE_MESSAGE(SyncClock, request)
};

/// EventState is wanted also when `command` becomes CL_RUNNING, because somebody looks.
struct WatchEvent {
  CommandId command = 0;
  CLIQUE_MESSAGE(WatchEvent, command)
};

// ---------------------------------------------------------------------------------------------------------------
// Worker to client, on the reports socket.

struct SubDevicesCreated {
  RequestId request = 0;
  std::int32_t status = 0;
  std::vector<DeviceDescription> devices;
  CLIQUE_MESSAGE(SubDevicesCreated, request, status, devices)
};

/// A kernel's argument as clGetKernelArgInfo describes it.
struct ArgDescription {
  /// cl_kernel_arg_address_qualifier; 0: `size` bytes that are a value, or the address of a buffer where it
  /// is set to one.
  std::uint32_t address = 0;
  std::uint32_t access = 0;     ///< cl_kernel_arg_access_qualifier
  std::string type;             ///< type name
  std::uint64_t qualifier = 0;  ///< cl_kernel_arg_type_qualifier
  std::string name;
  std::uint64_t size = 0;  ///< of a value, where the worker knows it, else 0
  CLIQUE_FIELDS(ArgDescription, address, access, type, qualifier, name, size)
};

/// clGetKernelWorkGroupInfo of one device.
struct KernelOnDevice {
  DeviceId device = 0;
  std::vector<Property> work_group;  ///< cl_kernel_work_group_info
  CLIQUE_FIELDS(KernelOnDevice, device, work_group)
};

struct KernelDescription {
  std::string name;
  std::string attributes;
  std::uint32_t arg_count = 0;
  std::vector<ArgDescription> args;  ///< empty where the driver has no argument information
  std::vector<KernelOnDevice> devices;
  std::string entry = {};  ///< another name by which clCreateKernel finds it; empty: none
  CLIQUE_FIELDS(KernelDescription, name, attributes, arg_count, args, devices, entry)
};

/// One device's view of a build.
struct BuildResult {
  DeviceId device = 0;
  std::int32_t build_status = 0;       ///< cl_build_status
  std::int32_t binary_status = 0;      ///< of a program made from binaries
  std::uint32_t binary_type = 0;       ///< cl_program_binary_type
  std::uint64_t global_variables = 0;  ///< CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE
  std::string log;
  CLIQUE_FIELDS(BuildResult, device, build_status, binary_status, binary_type, global_variables, log)
};

struct ProgramBuilt {
  RequestId request = 0;
  std::int32_t status = 0;  ///< what the driver's call returned
  std::vector<BuildResult> devices;
  std::vector<KernelDescription> kernels;  ///< of an executable
  CLIQUE_MESSAGE(ProgramBuilt, request, status, devices, kernels)
};

/// `binary` is empty where there is none.
struct ProgramBinary {
  RequestId request = 0;
  std::int32_t status = 0;
  Bytes binary;
  CLIQUE_MESSAGE(ProgramBinary, request, status, binary)
};

struct WorkGroupAnswer {
  RequestId request = 0;
  std::int32_t status = 0;
  Bytes value;
  CLIQUE_MESSAGE(WorkGroupAnswer, request, status, value)
};

/// Data that a Read* command asked for.
struct Data {
  CommandId command = 0;
  std::uint32_t part = 0;
  Payload data;
  CLIQUE_MESSAGE(Data, command, part, data)
};

/// A command's state. `times` are CL_PROFILING_COMMAND_QUEUED, SUBMIT, START, END on the node's clock, 0
/// where unknown.
struct EventState {
  CommandId command = 0;
  std::int32_t status = 0;  ///< CL_SUBMITTED, CL_RUNNING, CL_COMPLETE or negative
  std::array<std::uint64_t, 4> times{};
  CLIQUE_MESSAGE(EventState, command, status, times)
};

struct Finished {
  RequestId request = 0;
  std::int32_t status =
      0;  ///< first failure of a command without an event since the last Finish, or of the queue
  CLIQUE_MESSAGE(Finished, request, status)
};

struct ClockSynced {
  RequestId request = 0;
  std::int64_t clock = 0;
  CLIQUE_MESSAGE(ClockSynced, request, clock)
};

/// What kernels printed; sent before the EventState or Finished of the command that printed it.
struct Print {
  Bytes text;
  /// Commands of other workers whose end this one was told before: what they printed comes first.
  std::vector<CommandId> after;
  CLIQUE_MESSAGE(Print, text, after)
};

/// Something that nobody waits for went wrong: for the context's error callback.
struct Failed {
  ObjectId object = 0;  ///< or 0
  std::int32_t status = 0;
  std::string what;
  CLIQUE_MESSAGE(Failed, object, status, what)
};

/// The worker ends the session, for a reason that is not the client's Goodbye.
struct SessionEnded {
  std::string reason;
  CLIQUE_MESSAGE(SessionEnded, reason)
};

/// Of what the client sends of a transfer, `bytes` more are where they belong (or were dropped, since it
/// failed): the client may send as many.
struct Taken {
  CommandId transfer = 0;
  std::uint64_t bytes = 0;
  CLIQUE_MESSAGE(Taken, transfer, bytes)
};

/// The worker cannot reach another one any more, which may wait for what it sends.
struct PeerLost {
  PeerId peer = 0;
  CLIQUE_MESSAGE(PeerLost, peer)
};

// ---------------------------------------------------------------------------------------------------------------
// Worker to worker, on the receiver's `peers` socket, after AttachLine.

/// Part of a transfer: pushed to another worker or to the client, or sent by the client. A negative `status`
/// means that the push failed, and carries no data. No data otherwise means that the transfer ends at
/// `offset`, and what was expected behind that does not come.
struct PeerData {
  CommandId transfer = 0;
  std::uint64_t offset = 0;  ///< relative to the transfer's begin
  std::int32_t status = 0;
  Payload data;
  CLIQUE_MESSAGE(PeerData, transfer, offset, status, data)
};

struct PeerDone {
  CommandId command = 0;
  std::int32_t status = 0;
  CLIQUE_MESSAGE(PeerDone, command, status)
};

/// Device memory of the sender's, in which parts of transfers will lie for the receiver to copy them from
/// there. Through memory that both share. Giving `consent` back, the receiver says that it has opened it;
/// where it cannot it keeps it.
struct OpenWindow {
  WindowId window = 0;
  Bytes handle;     ///< CUDA's, for other processes of the host
  Payload consent;  ///< means nothing, but is more than kInlinePayload bytes, so that it is lent
  CLIQUE_MESSAGE(OpenWindow, window, handle, consent)
};

/// Part of a transfer that lies in a window which the receiver has opened. It stays there until the receiver
/// gives `hold` back.
struct WindowData {
  CommandId transfer = 0;
  std::uint64_t offset = 0;  ///< relative to the transfer's begin
  WindowId window = 0;
  std::uint64_t at = 0;
  std::uint64_t size = 0;
  Payload hold;  ///< as OpenWindow::consent
  CLIQUE_MESSAGE(WindowData, transfer, offset, window, at, size, hold)
};

/// The client does not use the segment any more.
struct FreeSegment {
  ObjectId segment = 0;
  CLIQUE_MESSAGE(FreeSegment, segment)
};

// ---------------------------------------------------------------------------------------------------------------

template <typename... M>
struct MessageList {};

/// What a worker takes on its commands socket, after Attach.
using ClientMessages =
    MessageList<CreateContext, CreateSubDevices, CreateQueue, CreateBuffer, CreateSubBuffer, CreateImage,
                CreateSampler, CreateProgram, BuildProgram, CompileProgram, LinkProgram, CreateKernel,
                Release, GetProgramBinary, QueryWorkGroup, RunKernel, ReadBuffer, WriteBuffer, ReadToSegment,
                WriteFromSegment, ReadBufferRect, WriteBufferRect, CopyBuffer, CopyBufferRect, FillBuffer,
                ReadImage, WriteImage, CopyImage, CopyImageToBuffer, CopyBufferToImage, FillImage, Marker,
                Barrier, Push, Expect, DefineRecording, RunRecording, Finish, AwaitRemote, SetRemote,
                NotifyPeer, ConnectPeer, SyncClock, WatchEvent, PeerData, FreeSegment, Goodbye>;
/// What a recording consists of: commands that wait for nobody else, and whose data is on the worker.
using RecordedMessages = MessageList<RunKernel, CopyBuffer, CopyBufferRect, FillBuffer, CopyImage,
                                     CopyImageToBuffer, CopyBufferToImage, FillImage>;
/// What a client takes on its reports socket.
using WorkerMessages =
    MessageList<Attached, SubDevicesCreated, ProgramBuilt, ProgramBinary, WorkGroupAnswer, Data, EventState,
                Finished, ClockSynced, Print, Failed, SessionEnded, Taken, PeerLost, PeerData>;
/// What a worker takes on its peers socket.
using PeerMessages = MessageList<PeerData, PeerDone, OpenWindow, WindowData>;
/// What a worker or a client takes on a connection for bulk.
using BulkMessages = MessageList<PeerData>;
/// What the two ends of a line tell each other.
using LineMessages = MessageList<Received, SessionEnded>;
/// What opens a session: the daemon's socket, and a worker's sockets before they are attached.
using HandshakeMessages = MessageList<Hello, Welcome, Offer, Refused, Starting, Attach, AttachLine>;

}  // namespace clique::protocol
