#include "daemon/compiler/contract/message_io.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

namespace clique::daemon::compiler {

namespace {

/// In bytes: 1 GiB.
constexpr std::size_t kLargestRecord = 1U << 30U;

/// Waits until the socket is ready for `events`.
void wait_for(int socket, short events, Deadline deadline) {
  for (;;) {
    int patience = -1;
    if (deadline != kNoDeadline) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
      if (left <= 0)
        throw TimedOut("the time limit for exchanging a record with the other process has passed");
      patience = static_cast<int>(std::min<std::int64_t>(left, 60'000));
    }
    pollfd ready{socket, events, 0};
    const int count = ::poll(&ready, 1, patience);
    if (count > 0) return;
    if (count < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "poll");
  }
}

void check_size(std::size_t size) {
  if (size > kLargestRecord)
    throw ConnectionLost("a record of " + std::to_string(size) + " bytes is too large; the limit is " +
                         std::to_string(kLargestRecord) + " bytes");
}

bool is_temporary(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

void send_all(int socket, std::span<const char> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    wait_for(socket, POLLOUT, deadline);
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) bytes = bytes.subspan(static_cast<std::size_t>(sent));
    if (sent < 0 && !is_temporary(errno)) throw ConnectionLost("the other process closed the connection");
  }
}

void receive_all(int socket, std::span<std::uint8_t> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    wait_for(socket, POLLIN, deadline);
    const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && !is_temporary(errno)))
      throw ConnectionLost("the other process closed the connection");
    if (got > 0) bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace

void send_record(int socket, std::span<const char> record, Deadline deadline) {
  const auto size = static_cast<std::uint32_t>(record.size());
  check_size(record.size());
  send_all(socket, {reinterpret_cast<const char*>(&size), sizeof size}, deadline);
  send_all(socket, record, deadline);
}

protocol::Bytes receive_record(int socket, Deadline deadline) {
  std::uint32_t size = 0;
  receive_all(socket, {reinterpret_cast<std::uint8_t*>(&size), sizeof size}, deadline);
  check_size(size);
  protocol::Bytes record(size);
  receive_all(socket, record, deadline);
  return record;
}

msgpack::object_handle parse_record(std::span<const std::uint8_t> record) {
  using protocol::Limits;
  try {
    return msgpack::unpack(
        reinterpret_cast<const char*>(record.data()), record.size(), nullptr, nullptr,
        msgpack::unpack_limit(Limits::kArray, 0, Limits::kString, Limits::kBin, 0, Limits::kDepth));
  } catch (const std::exception& error) {
    throw protocol::DecodeError(std::string("the bytes are not a valid msgpack record: ") + error.what());
  }
}

}  // namespace clique::daemon::compiler
