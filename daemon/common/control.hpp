// The channel between a process of cliqued and the process that started it: a SOCK_SEQPACKET socketpair, one
// end of which is inherited. Every packet is one msgpack array.
//
// What `cliqued PROCESS --control-fd N` sends:
// - worker: before all else, if it was started for any GPU, a list of ListedPlatform with the GPUs that are
// used through CUDA, and a protocol::Driver for each of them, whose id is the GPU's number; in any case a
// protocol::DeviceDescription for each of its devices, then WorkerReady; during its session FileRequests,
// each of which waits for the answer to the one before, and DialRequests, of which at most kMostDials wait
// for answers; and at its session's end SessionRecord; then it exits;
// - embedded: a protocol::Driver for each driver of this host, then WorkersStarted without workers, and a
// WorkersStarted for each driver that its starter asks for with StartWorkers; it lives until end of file;
// - probe: a list of ListedPlatform; then it exits;
// - trial: a list of Finding, one for each wall that this host cannot put up; then it exits.
//
// A process that cannot do its work sends [reason] (STR) instead, and exits. The ports are on 127.0.0.1, or
// on the address that `cliqued worker --bind` names. The starter sends Notices, to workers only, and
// StartWorkers, to `embedded` only.
// End of file on the channel ends the process that inherited it, and everything that this one started, at any
// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "daemon/common/link_usage.hpp"
#include "protocol/buffer.hpp"
#include "protocol/fd.hpp"
#include "protocol/messages/session.hpp"
#include "protocol/messages/status.hpp"
#include "protocol/streams/handshake.hpp"

namespace clique::daemon {

using protocol::StartWorkers;
using protocol::WorkerReady;
using protocol::WorkersStarted;

/// Why a session ended, and what it has used of one worker.
struct SessionRecord {
  std::string end;  ///< the reason; empty: the client's Goodbye
  protocol::Usage usage;
  SessionLinks links;
  CLIQUE_FIELDS(SessionRecord, end, usage, links)
};

/// A file of the node that the worker's session wants to use, answered by Notice::Kind::File.
struct FileRequest {
  std::string path;
  std::uint8_t access = 0;  ///< of protocol::file_access
  bool direct = false;      ///< for transfers around the page cache (O_DIRECT), which not every file allows
  CLIQUE_FIELDS(FileRequest, path, access, direct)
};

/// A connection to another worker that the worker's session needs, answered by Notice::Kind::Dialled. The
/// fields are those of protocol::StreamTarget and protocol::StreamRequest.
struct DialRequest {
  std::uint64_t number = 0;  ///< names the request in its answer
  std::string endpoint;
  protocol::StreamAddress worker{};
  protocol::Bytes secret;
  protocol::Encryption encryption = protocol::Encryption::All;
  protocol::KnownCiphers known = {};
  protocol::StreamRequest::Content content = protocol::StreamRequest::Content::Parts;
  protocol::LineId line = 0;
  std::uint32_t attempt = 0;
  std::uint64_t received = 0;
  CLIQUE_FIELDS(DialRequest, number, endpoint, worker, secret, encryption, known, content, line, attempt,
                received)
};

/// How many connections a worker may ask for before it has the answers.
inline constexpr std::size_t kMostDials = 64;

/// The answer, beside the connection. The fields are those of protocol::Dialled.
struct DialAnswer {
  std::uint64_t number = 0;
  protocol::StreamCipher cipher = protocol::StreamCipher::None;
  protocol::StreamKey to_worker{};
  protocol::StreamKey from_worker{};
  std::uint64_t received = 0;
  CLIQUE_FIELDS(DialAnswer, number, cipher, to_worker, from_worker, received)
};

/// A device as the node's driver lists it.
struct ListedDevice {
  std::string name;
  std::uint64_t type = 0;  ///< cl_device_type
  CLIQUE_FIELDS(ListedDevice, name, type)
};

/// Which backend runs a platform's devices.
enum class PlatformKind : std::uint8_t { OpenCl = 0, Cuda = 1 };

/// A driver of the node with its devices, which one worker serves.
struct ListedPlatform {
  PlatformKind kind = PlatformKind::OpenCl;
  std::uint32_t index = 0;  ///< in clGetPlatformIDs; for CUDA the number of the GPU
  std::string name;
  std::vector<ListedDevice> devices;
  std::string vendor = {};
  CLIQUE_FIELDS(ListedPlatform, kind, index, name, devices, vendor)
};

/// What a process has found out about the host.
struct Finding {
  std::string subject;
  std::string text;
  CLIQUE_FIELDS(Finding, subject, text)
};

/// A message of the starter to its worker.
struct Notice {
  enum class Kind : std::uint8_t {
    Taken = 0,  ///< the client `text` (for logs) has got its address, and has to attach within kAttachSeconds
    HungUp = 1,  ///< the client has left the daemon: if it has not attached by now, it never will
    Stop = 2,    ///< the session has to end, for the reason `text`
    Stream = 3,  ///< a connection, which comes with the notice, is for a stream and has sent `request`
    Usage = 4,  ///< the worker has to keep the memory of a UsagePage, which comes with the notice, up to date
    Pace = 5,   ///< the worker has to obey a PacePage, whose memory comes with the notice
    Bell = 6,   ///< the eventfd that it rings comes with the notice
    File = 7,   ///< the file of a FileRequest comes with the notice; or `status` and `text` say why not
    GuestMemory = 8,  ///< a file comes with the notice; the session's region begins at `memory` in it, and
                      ///< its place for segments at `segments_at`
    Dialled =
        9,  ///< the connection of a DialRequest comes with the notice; or `status` and `text` say why not
    Serve =
        10,  ///< the worker, which was started for any GPU, has to serve the one with the number in `devices`
  };
  Kind kind = Kind::Taken;
  std::string text;
  /// Taken: the client's own limit on the session's memory, in bytes; 0: none. GuestMemory: a position.
  std::uint64_t memory = 0;
  /// Taken: the worker's devices that the client may use, by their places; empty: all. Serve: one number
  std::vector<std::uint32_t> devices = {};
  protocol::Bytes request = {};  ///< Stream: a protocol::StreamRequest. Dialled: a DialAnswer
  std::string title = {};        ///< Taken: what the process calls itself, see set_process_title()
  std::int32_t status = 0;  ///< 0. File: or a protocol::FileStatus. Dialled: or a protocol::DialFailed::Kind
  /// GuestMemory: protocol::WorkerAddress::segments_at and segments_size
  std::uint64_t segments_at = 0;
  std::uint64_t segments_size = 0;
  CLIQUE_FIELDS(Notice, kind, text, memory, devices, request, title, status, segments_at, segments_size)
};

/// How long a client that was given a worker's address may take to attach.
inline constexpr int kAttachSeconds = 5;

/// One end of the channel. Any thread may send, and one receives.
class ControlChannel {
 public:
  explicit ControlChannel(Fd fd) : fd_(std::move(fd)) {}

  int fd() const { return fd_.get(); }

  void send(const protocol::DeviceDescription& device) const;
  void send(const WorkerReady& ready) const;
  void send(const SessionRecord& record) const;
  void send(const FileRequest& request) const;
  void send(const DialRequest& request) const;
  void send(const protocol::Driver& driver) const;
  void send(const WorkersStarted& started) const;
  void send(const std::vector<ListedPlatform>& platforms) const;
  void send(const std::vector<Finding>& findings) const;
  void send(const Notice& notice) const;
  /// Hands a descriptor over with the notice. Does not wait.
  /// @param descriptor -1: none
  /// @returns false if the process is too busy to take it, or has gone
  bool send(const Notice& notice, int descriptor) const;
  /// Sends the reason why the process cannot do its work.
  void send(const std::string& reason) const;

  /// Waits for a packet. Throws std::system_error. @returns nothing at end of file.
  /// @param descriptor receives what the packet hands over; null: that is closed
  std::optional<std::vector<std::byte>> receive(Fd* descriptor = nullptr) const;

 private:
  void send_packet(const protocol::Buffer& packet) const;

  Fd fd_;
};

/// Decode a packet. They throw DecodeError, and std::runtime_error with the reason that the process sent
/// instead.
std::variant<protocol::DeviceDescription, WorkerReady> parse_worker(std::span<const std::byte> packet);
std::variant<SessionRecord, FileRequest, DialRequest> parse_from_session(std::span<const std::byte> packet);
std::vector<ListedPlatform> parse_platforms(std::span<const std::byte> packet);
protocol::Driver parse_driver(std::span<const std::byte> packet);
StartWorkers parse_start_workers(std::span<const std::byte> packet);
std::vector<Finding> parse_findings(std::span<const std::byte> packet);
Notice parse_notice(std::span<const std::byte> packet);

/// Notice::request of a Notice::Kind::Dialled, as the starter writes and the worker reads it. The latter
/// throws DecodeError.
protocol::Bytes to_bytes(const DialAnswer& answer);
DialAnswer parse_dial_answer(const protocol::Bytes& bytes);

}  // namespace clique::daemon
