#include "daemon/control.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace clique::daemon {

namespace {

using protocol::detail::Decoder;
using protocol::detail::Encoder;
using protocol::detail::Packer;

/// More than any packet: a hundred devices' names.
constexpr std::size_t kMaxPacket = 64U << 10U;

template <typename T>
msgpack::sbuffer pack(const T& value) {
  msgpack::sbuffer buffer;
  Packer packer(buffer);
  std::vector<protocol::Payload> payloads;
  Encoder{packer, payloads}(value);
  return buffer;
}

template <typename T>
T parse(std::span<const std::byte> packet) {
  try {
    const msgpack::object_handle handle =
        msgpack::unpack(reinterpret_cast<const char*>(packet.data()), packet.size(), nullptr, nullptr,
                        msgpack::unpack_limit(1024, 0, kMaxPacket, 0, 0, 4));
    const auto elements = Decoder::array(handle.get());
    if (elements.size() == 1 && elements[0].type == msgpack::type::STR)
      throw std::runtime_error(elements[0].as<std::string>());
    std::span<const protocol::Payload> no_frames;
    const std::shared_ptr<const void> no_owner;
    T value;
    Decoder{no_frames, no_owner}(handle.get(), value);
    return value;
  } catch (const msgpack::unpack_error& error) {
    throw protocol::DecodeError(std::string("not msgpack: ") + error.what());
  }
}

}  // namespace

void ControlChannel::send(const WorkerReady& ready) const {
  send_packet(pack(ready));
}

void ControlChannel::send(const std::vector<WorkerReady>& workers) const {
  send_packet(pack(workers));
}

void ControlChannel::send(const std::vector<ListedPlatform>& platforms) const {
  send_packet(pack(platforms));
}

void ControlChannel::send(const Notice& notice) const {
  send_packet(pack(notice));
}

void ControlChannel::send(const std::string& reason) const {
  send_packet(pack(std::vector<std::string>{reason}));
}

void ControlChannel::send_packet(const msgpack::sbuffer& packet) const {
  // A starter that has gone is noticed by its end of file.
  static_cast<void>(::send(fd_.get(), packet.data(), packet.size(), MSG_NOSIGNAL));
}

std::optional<std::vector<std::byte>> ControlChannel::receive() const {
  std::vector<std::byte> packet(kMaxPacket);
  ssize_t size = 0;
  do {
    size = ::recv(fd_.get(), packet.data(), packet.size(), 0);
  } while (size < 0 && errno == EINTR);
  if (size < 0 && errno != ECONNRESET)
    throw std::system_error(errno, std::generic_category(), "control channel");
  if (size <= 0) return std::nullopt;
  packet.resize(static_cast<std::size_t>(size));
  return packet;
}

WorkerReady parse_worker_ready(std::span<const std::byte> packet) {
  return parse<WorkerReady>(packet);
}

std::vector<ListedPlatform> parse_platforms(std::span<const std::byte> packet) {
  return parse<std::vector<ListedPlatform>>(packet);
}

Notice parse_notice(std::span<const std::byte> packet) {
  return parse<Notice>(packet);
}

}  // namespace clique::daemon
