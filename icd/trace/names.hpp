// What a trace of Clique contains: the categories of its slices, and the names of the facts about them. The
// library writes them, and `clique trace --summary` reads them.
#pragma once

#include <string_view>

namespace clique::icd::trace {

// Categories.

/// An entry point, on the track of a thread.
inline constexpr std::string_view kApi = "api";
/// What an entry point waited for, within its slice.
inline constexpr std::string_view kWait = "wait";
/// A command that launches a kernel, on the track of a queue.
inline constexpr std::string_view kKernel = "kernel";
/// Any other command, on the track of a queue.
inline constexpr std::string_view kCommand = "command";
/// A command between host memory and a memory object, on the track of its way.
inline constexpr std::string_view kTransfer = "transfer";
/// A transfer that coherence makes, because a command uses content that its device does not have.
inline constexpr std::string_view kMigration = "migration";
/// A build, a compilation or a link of a program, on the track of a node.
inline constexpr std::string_view kCompilation = "compilation";

// Facts.

inline constexpr std::string_view kStatus = "status";      ///< of a call or command that failed
inline constexpr std::string_view kWithin = "within";      ///< the call from whose callback a call came
inline constexpr std::string_view kDevice = "device";      ///< that executes a command
inline constexpr std::string_view kNode = "node";          ///< that compiles
inline constexpr std::string_view kDevices = "devices";    ///< number, that a node compiles for
inline constexpr std::string_view kBytes = "bytes";        ///< that a transfer moves
inline constexpr std::string_view kFrom = "from";          ///< the holder that sends
inline constexpr std::string_view kTo = "to";              ///< where the content goes
inline constexpr std::string_view kWay = "way";            ///< how it travels
inline constexpr std::string_view kObject = "object";      ///< the id of a memory object
inline constexpr std::string_view kBegin = "begin";        ///< of the range in the object, bytes
inline constexpr std::string_view kEnd = "end";            ///< of the range in the object, bytes
inline constexpr std::string_view kReason = "reason";      ///< of a migration, as a sentence
inline constexpr std::string_view kUser = "command";       ///< the command that needs the content
inline constexpr std::string_view kArgument = "argument";  ///< index, of the kernel that needs it
inline constexpr std::string_view kCall = "call";          ///< the entry point that enqueued a command
inline constexpr std::string_view kQueued = "queued_ns";   ///< from the call to the device, ns
inline constexpr std::string_view kProgram = "program";    ///< the id of a program

// Values of kWay.

inline constexpr std::string_view kSharedMemory = "shared memory";
/// Streams (docs/decisions/0026).
inline constexpr std::string_view kNetworkStream = "network stream";
/// Streams that go through UCX (docs/decisions/0037).
inline constexpr std::string_view kNetworkUcx = "network UCX";
/// With the commands, or in additional connections of their kind.
inline constexpr std::string_view kNetworkZeroMq = "network ZeroMQ";
/// From worker to worker. Which way they take, only they know.
inline constexpr std::string_view kPeerLink = "peer link";
inline constexpr std::string_view kPeerLinkOnHost = "peer link on one host";

/// Value of kFrom and kTo for the memory of this process.
inline constexpr std::string_view kHostMemory = "host";

}  // namespace clique::icd::trace
