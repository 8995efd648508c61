// Names for the ids that the tests of the daemon give their objects.
#pragma once

#include "protocol/messages.hpp"

namespace clique::test {

/// What Client::set_up() and FakeGpuClient create.
inline constexpr protocol::ObjectId kContext = 1;
inline constexpr protocol::ObjectId kInOrder = 2;     ///< a queue; of FakeGpuClient, with profiling
inline constexpr protocol::ObjectId kOutOfOrder = 3;  ///< a queue
inline constexpr protocol::ObjectId kProgram = 4;

// For objects that tests create.
inline constexpr protocol::ObjectId kBuffer = 5;
inline constexpr protocol::ObjectId kOther = 6;
inline constexpr protocol::ObjectId kThird = 7;
inline constexpr protocol::ObjectId kImage = 5;
inline constexpr protocol::ObjectId kKernel = 6;
inline constexpr protocol::ObjectId kOtherKernel = 7;
inline constexpr protocol::ObjectId kSegment = 900;  ///< memory that the client shares

/// An event of another node.
inline constexpr protocol::CommandId kRemote = 50;

/// For requests whose replies a test tells apart by what they are.
inline constexpr protocol::RequestId kRequest = 1;

/// CL_MEM_READ_WRITE
inline constexpr std::uint64_t kReadWrite = 1;

}  // namespace clique::test
