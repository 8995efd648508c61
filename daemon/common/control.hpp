// The channel between the process that starts a worker and the worker: a SOCK_SEQPACKET socketpair, whose
// worker end is inherited. Every packet is one msgpack array.
//
// What `cliqued PROCESS --control-fd N` sends:
// - worker: each of its devices, as protocol::DeviceDescription has them; then [platform, address], where the
//   address is a protocol::WorkerAddress; and lives until the session's end;
// - embedded: a list of the latter, and lives until end of file;
// - probe: [[kind, index, platform, [[device, type], ...]], ...], and ends.
//
// `platform` and `device`: STR; `kind` (PlatformKind), `index` and `type` (cl_device_type): integers. A
// process that cannot do its work writes [reason] (STR) instead, and ends. The ports are on 127.0.0.1, or on
// the address that `cliqued worker --bind` names. The starter writes nothing but Notices, and those to
// workers only. End of file on the channel, in any phase, ends the process that inherited it and everything
// that it started.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "protocol/codec.hpp"
#include "protocol/fd.hpp"

namespace clique::daemon {

/// What a worker says last: its driver is loaded, and its sockets are bound.
struct WorkerReady {
  std::string platform;  ///< the driver's platform name
  protocol::WorkerAddress address;
  CLIQUE_FIELDS(WorkerReady, platform, address)
};

/// A device as the node's driver lists it.
struct ListedDevice {
  std::string name;
  std::uint64_t type = 0;  ///< cl_device_type
  CLIQUE_FIELDS(ListedDevice, name, type)
};

/// Which backend runs a platform's devices.
enum class PlatformKind : std::uint8_t { OpenCl = 0, Cuda = 1 };

/// A driver of the node with its devices: what one worker serves.
struct ListedPlatform {
  PlatformKind kind = PlatformKind::OpenCl;
  std::uint32_t index = 0;  ///< in clGetPlatformIDs; of a GPU with CUDA
  std::string name;
  std::vector<ListedDevice> devices;
  CLIQUE_FIELDS(ListedPlatform, kind, index, name, devices)
};

/// What a worker is told.
struct Notice {
  enum class Kind : std::uint8_t {
    Taken = 0,   ///< its address is given away, to the client `text` (for logs), who has kAttachSeconds
    HungUp = 1,  ///< the client has left the daemon: if it is not attached by now, it never will be
    Stop = 2,    ///< the session is to end, for the reason `text`
    Forgone = 3  ///< the client has asked for another session instead
  };
  Kind kind = Kind::Taken;
  std::string text;
  CLIQUE_FIELDS(Notice, kind, text)
};

/// Time that a client has to attach to a worker whose address it was given.
inline constexpr int kAttachSeconds = 30;

/// One end of the channel. Not thread-safe.
class ControlChannel {
 public:
  explicit ControlChannel(Fd fd) : fd_(std::move(fd)) {}

  int fd() const { return fd_.get(); }

  void send(const protocol::DeviceDescription& device) const;
  void send(const WorkerReady& ready) const;
  void send(const std::vector<WorkerReady>& workers) const;
  void send(const std::vector<ListedPlatform>& platforms) const;
  void send(const Notice& notice) const;
  /// The reason why there is nothing better to send.
  void send(const std::string& reason) const;

  /// One packet, waiting for it.
  /// @returns nothing at end of file.
  /// Throws std::system_error.
  std::optional<std::vector<std::byte>> receive() const;

 private:
  void send_packet(const msgpack::sbuffer& packet) const;

  Fd fd_;
};

/// What a packet holds. Throws std::runtime_error with the reason that the process gave instead, and
/// DecodeError.
std::variant<protocol::DeviceDescription, WorkerReady> parse_worker(std::span<const std::byte> packet);
std::vector<ListedPlatform> parse_platforms(std::span<const std::byte> packet);
Notice parse_notice(std::span<const std::byte> packet);

}  // namespace clique::daemon
