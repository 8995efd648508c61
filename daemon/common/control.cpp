#include "daemon/common/control.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "protocol/codec.hpp"

namespace clique::daemon {

namespace {

using protocol::decode;
using protocol::encode;
using protocol::detail::Decoder;

/// Larger than any packet: the names of a hundred devices, or the description of one.
constexpr std::size_t kMaxPacket = 128U << 10U;

/// Room for one descriptor beside a packet.
union Handover {
  cmsghdr align;
  std::byte bytes[CMSG_SPACE(sizeof(int))];
};

/// Throws DecodeError, and std::runtime_error with the reason that the process sent instead of its result.
msgpack::object_handle unpack(std::span<const std::byte> packet) {
  msgpack::object_handle handle =
      protocol::parse(packet, msgpack::unpack_limit(1024, 0, kMaxPacket, kMaxPacket, 0, 8));
  const auto elements = Decoder::array(handle.get());
  if (elements.size() == 1 && elements[0].type == msgpack::type::STR)
    throw std::runtime_error(elements[0].as<std::string>());
  return handle;
}

template <typename T>
T parse(std::span<const std::byte> packet) {
  return decode<T>(unpack(packet).get());
}

}  // namespace

void ControlChannel::send(const protocol::DeviceDescription& device) const {
  send_packet(encode(device));
}

void ControlChannel::send(const WorkerReady& ready) const {
  send_packet(encode(ready));
}

void ControlChannel::send(const SessionRecord& record) const {
  send_packet(encode(record));
}

void ControlChannel::send(const FileRequest& request) const {
  send_packet(encode(request));
}

void ControlChannel::send(const DialRequest& request) const {
  send_packet(encode(request));
}

void ControlChannel::send(const protocol::Driver& driver) const {
  send_packet(encode(driver));
}

void ControlChannel::send(const WorkersStarted& started) const {
  send_packet(encode(started));
}

void ControlChannel::send(const std::vector<ListedPlatform>& platforms) const {
  send_packet(encode(platforms));
}

void ControlChannel::send(const std::vector<Finding>& findings) const {
  send_packet(encode(findings));
}

void ControlChannel::send(const Notice& notice) const {
  send_packet(encode(notice));
}

void ControlChannel::send(const std::string& reason) const {
  send_packet(encode(std::vector<std::string>{reason}));
}

void ControlChannel::send_packet(const protocol::Buffer& packet) const {
  // When the starter has gone, the channel's end of file tells it.
  static_cast<void>(::send(fd_.get(), packet.data(), packet.size(), MSG_NOSIGNAL));
}

bool ControlChannel::send(const Notice& notice, int descriptor) const {
  const protocol::Buffer packet = encode(notice);
  iovec data{const_cast<std::byte*>(packet.bytes().data()), packet.size()};
  Handover handover{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = handover.bytes;
    message.msg_controllen = sizeof handover.bytes;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  return ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

std::optional<std::vector<std::byte>> ControlChannel::receive(Fd* descriptor) const {
  std::vector<std::byte> packet(kMaxPacket);
  iovec data{packet.data(), packet.size()};
  Handover handover{};
  msghdr message{};
  ssize_t size = 0;
  do {
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = handover.bytes;
    message.msg_controllen = sizeof handover.bytes;
    size = ::recvmsg(fd_.get(), &message, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  const cmsghdr* const header = size >= 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    Fd received(fd);
    if (descriptor != nullptr) *descriptor = std::move(received);
  }
  if (size < 0 && errno != ECONNRESET)
    throw std::system_error(errno, std::generic_category(), "control channel");
  if (size <= 0) return std::nullopt;
  packet.resize(static_cast<std::size_t>(size));
  return packet;
}

std::variant<protocol::DeviceDescription, WorkerReady> parse_worker(std::span<const std::byte> packet) {
  const msgpack::object_handle handle = unpack(packet);
  const auto elements = Decoder::array(handle.get());
  // A device begins with a list, WorkerReady with the platform's name.
  if (!elements.empty() && elements[0].type == msgpack::type::ARRAY)
    return decode<protocol::DeviceDescription>(handle.get());
  return decode<WorkerReady>(handle.get());
}

std::variant<SessionRecord, FileRequest, DialRequest> parse_from_session(std::span<const std::byte> packet) {
  const msgpack::object_handle handle = unpack(packet);
  const auto elements = Decoder::array(handle.get());
  // The others begin with a text.
  if (!elements.empty() && elements[0].type == msgpack::type::POSITIVE_INTEGER)
    return decode<DialRequest>(handle.get());
  // Usage is a list, the access a number.
  if (elements.size() > 1 && elements[1].type == msgpack::type::ARRAY)
    return decode<SessionRecord>(handle.get());
  return decode<FileRequest>(handle.get());
}

std::vector<ListedPlatform> parse_platforms(std::span<const std::byte> packet) {
  return parse<std::vector<ListedPlatform>>(packet);
}

protocol::Driver parse_driver(std::span<const std::byte> packet) {
  return parse<protocol::Driver>(packet);
}

StartWorkers parse_start_workers(std::span<const std::byte> packet) {
  return parse<StartWorkers>(packet);
}

std::vector<Finding> parse_findings(std::span<const std::byte> packet) {
  return parse<std::vector<Finding>>(packet);
}

Notice parse_notice(std::span<const std::byte> packet) {
  return parse<Notice>(packet);
}

protocol::Bytes to_bytes(const DialAnswer& answer) {
  const auto packet = encode(answer);
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(packet.data());
  return {bytes, bytes + packet.size()};
}

DialAnswer parse_dial_answer(const protocol::Bytes& bytes) {
  return parse<DialAnswer>(std::as_bytes(std::span(bytes)));
}

}  // namespace clique::daemon
