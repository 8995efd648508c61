// What every message is made of.
//
// A message is a plain aggregate: CLIQUE_MESSAGE(Op, fields...) gives it its number and the order of its
// fields on the wire. Numbers are never reused; a changed message gets a new number or a new protocol
// version. Values named after OpenCL types (flags, formats, statuses) have the numbers of cl.h; sizes and
// offsets are in bytes.
#pragma once

#include <array>
#include <cstdint>

#include "protocol/aggregate.hpp"
#include "protocol/ids.hpp"
#include "protocol/limits.hpp"
#include "protocol/payload.hpp"

namespace clique::protocol {

/// Three numbers, one for each dimension.
using Triple = std::array<std::uint64_t, 3>;

/// Bytes of a memory object.
struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  CLIQUE_FIELDS(ByteRange, offset, size)
};

/// Messages that a socket accepts.
template <typename... M>
struct MessageList {};

/// Message numbers: 1-19 session; 20-59 objects and programs; 60-99 commands; 100-119 synchronisation;
/// 120-139 replies and reports of the worker; 140-159 between workers, and bulk data between client and
/// worker; 200-209 the files that programs include.
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
  Status = 11,
  Steer = 12,
  Steered = 13,
  Choice = 14,
  Loads = 15,
  Reach = 16,
  Reached = 17,

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
  AnalyseProgram = 36,
  CreateFile = 37,
  QueryFile = 38,
  UpdateRecording = 39,
  TrimBuffer = 40,

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
  ReadFile = 81,
  WriteFile = 82,

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
  ProgramAnalysed = 133,
  FileAnswer = 134,
  PeerSilent = 135,
  SegmentFreed = 136,

  PeerData = 141,
  PeerDone = 142,
  // 143 was SharedData.
  FreeSegment = 144,
  OpenWindow = 145,
  WindowData = 146,
  PlaceSegment = 147,

  ProgramFiles = 200,
};
}  // namespace clique::protocol
