// Files of a node: content goes between them and buffers without the client
// (docs/extensions/cl_clique_file.md).
#pragma once

#include <cstdint>
#include <string>

#include "protocol/messages/commands.hpp"

namespace clique::protocol {

/// What a file is opened for. The numbers are those of cl_file_flags_clique.
namespace file_access {
inline constexpr std::uint8_t kRead = 1;
inline constexpr std::uint8_t kWrite = 2;
inline constexpr std::uint8_t kCreate = 4;  ///< if it does not exist; with kWrite
}  // namespace file_access

/// Why a command on a file fails. The numbers are those of CL/cl_ext_clique.h.
enum class FileStatus : std::int32_t {
  NotFound = -1301,
  AccessDenied = -1302,  ///< by the operating system, or the path is outside of the node's file-roots
  NotRegular = -1303,
  End = -1304,  ///< the file has fewer bytes than were to be read
  NoSpace = -1305,
  IoError = -1306,
};
/// Whether a command has failed with a FileStatus.
constexpr bool is_file_status(std::int32_t status) {
  return status <= static_cast<std::int32_t>(FileStatus::NotFound) &&
         status >= static_cast<std::int32_t>(FileStatus::IoError);
}

/// Opens a file of the worker's node. Not answered: if it cannot be opened, the commands that use it fail
/// with a FileStatus. The worker asks its daemon for the file, which knows what the client may open.
struct CreateFile {
  ObjectId id = 0;
  ObjectId context = 0;
  std::string path;         ///< absolute, at most kMaxPath bytes
  std::uint8_t access = 0;  ///< of file_access
  CLIQUE_MESSAGE(CreateFile, id, context, path, access)
};

/// Asks about a file. Answered by FileAnswer.
struct QueryFile {
  RequestId request = 0;
  ObjectId file = 0;
  CLIQUE_MESSAGE(QueryFile, request, file)
};

struct FileAnswer {
  RequestId request = 0;
  std::int32_t status = 0;  ///< 0, or a FileStatus
  std::string failure;      ///< why, for people; empty: `size` and `block_size` are valid
  std::uint64_t size = 0;   ///< at this moment
  std::uint32_t block_size = 0;
  CLIQUE_MESSAGE(FileAnswer, request, status, failure, size, block_size)
};

/// Pushes the bytes [offset, offset + size) of a file: to another worker, or, if `peer` is kOwnPeer, to this
/// one. The receiver has been told to Expect `transfer`. Ordered by `command.waits` alone; the command has no
/// event, and its other fields mean nothing.
struct ReadFile {
  Command command;
  ObjectId file = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  PeerId peer = 0;
  CommandId transfer = 0;  ///< id of the Expect command
  CLIQUE_MESSAGE(ReadFile, command, file, offset, size, peer, transfer)
};

/// Receives the transfer `command.id` into a file, as Expect does into a buffer. Waits for nothing but the
/// data, which a worker pushes when it is time to. Completes when all of it has been written.
struct WriteFile {
  Command command;
  ObjectId file = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  CLIQUE_MESSAGE(WriteFile, command, file, offset, size)
};

}  // namespace clique::protocol
