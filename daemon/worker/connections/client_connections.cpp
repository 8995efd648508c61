#include "daemon/worker/connections/client_connections.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>

#include "daemon/common/log.hpp"
#include "daemon/common/measurements.hpp"

namespace clique::daemon {

namespace {

/// How long to wait for a client whose side closed a connection: its process has ended, or it has given the
/// connection up and is about to make another.
constexpr std::chrono::milliseconds kPatienceWithClosed{10'000};

/// Identifies the file behind a descriptor; 0 if it is closed.
ino_t identity(int descriptor) {
  struct stat status{};
  return ::fstat(descriptor, &status) == 0 ? status.st_ino : 0;
}

zmq::socket_t make_monitor(zmq::context_t& context, zmq::socket_ref socket, const std::string& name) {
  const std::string endpoint = "inproc://monitor-" + name;
  if (zmq_socket_monitor(socket.handle(), endpoint.c_str(), ZMQ_EVENT_DISCONNECTED) != 0)
    throw zmq::error_t();
  zmq::socket_t events(context, zmq::socket_type::pair);
  events.set(zmq::sockopt::linger, 0);
  events.connect(endpoint);
  return events;
}

}  // namespace

Connection::Connection(zmq::context_t& context, zmq::socket_ref socket, const std::string& name)
    : monitor_(make_monitor(context, socket, name)) {}

void Connection::set(const protocol::Incoming& incoming) {
  descriptor_ = protocol::connection_of(incoming);
  kept_ = Fd(::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0));
}

void Connection::replace(const protocol::Incoming& incoming) {
  // The monitor has reported on the former connection, which may have had the same descriptor.
  descriptor_ = -1;
  lost();
  set(incoming);
}

bool Connection::lost() {
  bool found = false;
  zmq::message_t event;
  zmq::message_t endpoint;
  while (monitor_.recv(event, zmq::recv_flags::dontwait)) {
    static_cast<void>(monitor_.recv(endpoint, zmq::recv_flags::none));
    // An event is its number, of 16 bits, and the descriptor.
    std::uint32_t value = 0;
    if (event.size() >= 6) std::memcpy(&value, event.data<char>() + 2, sizeof value);
    found = found || (up() && static_cast<int>(value) == descriptor_);
  }
  return found;
}

bool Connection::drop() {
  tcp_info info{};
  socklen_t size = sizeof info;
  const bool known = ::getsockopt(kept_.get(), IPPROTO_TCP, TCP_INFO, &info, &size) == 0;
  descriptor_ = -1;
  kept_ = Fd();
  return known && (info.tcpi_state == TCP_CLOSE_WAIT || info.tcpi_state == TCP_LAST_ACK);
}

ClientConnections::ClientConnections(zmq::context_t& context, zmq::socket_ref commands_socket,
                                     zmq::socket_ref reports_socket, std::chrono::milliseconds patience)
    : commands(context, commands_socket, "commands"),
      reports(context, reports_socket, "reports"),
      patience_(patience) {}

void ClientConnections::watch(bool resumable, const std::string& client) {
  resumable_ = resumable;
  client_ = client;
  std::function<void()> pulse;
  if (line_) pulse = [line = line_] { line->pulse(); };
  watch_.emplace(resumable ? patience_ : std::chrono::milliseconds(0), std::move(pulse));
  resumed();
}

ClientConnections::Loss ClientConnections::look() {
  if (line_) {
    if (!line_was_up_ || !line_->broken()) return Loss::None;
    line_was_up_ = false;
    return line_->closed_there() ? Loss::Closed : Loss::Broken;
  }
  Loss loss = Loss::None;
  for (Connection* connection : {&commands, &reports}) {
    if (!connection->lost()) continue;
    const bool closed = connection->drop() || loss == Loss::Closed;
    loss = closed ? Loss::Closed : Loss::Broken;
  }
  return loss;
}

void ClientConnections::wait(Loss loss) {
  const bool closed = loss == Loss::Closed;
  const auto patience = closed ? std::min(patience_, kPatienceWithClosed) : patience_;
  const auto until = Clock::now() + patience;
  if (!away_until_)
    spdlog::warn("a connection of {} {}; its session waits up to {} s for it to come back", client_,
                 closed ? "was closed" : "broke",
                 std::chrono::duration_cast<std::chrono::seconds>(patience).count());
  away_until_ = std::min(away_until_.value_or(until), until);
}

void ClientConnections::resumed() {
  if (!up()) return;
  if (away_until_) spdlog::info("{} is back", client_);
  // The client may be back before its loss was noticed.
  if (begun_) Measurements::of_process().note_resume();
  begun_ = true;
  away_until_.reset();
  if (line_) {
    line_was_up_ = true;
    watch_->set([line = line_] { return line->hung_up(); });
    return;
  }
  // ZeroMQ, which owns the descriptors, closes them when the connections are lost. They may become others'
  // then.
  const std::array<int, 2> sockets{commands.descriptor(), reports.descriptor()};
  watch_->set([sockets, of_commands = identity(sockets[0]), of_reports = identity(sockets[1])] {
    return identity(sockets[0]) != of_commands || identity(sockets[1]) != of_reports;
  });
}

}  // namespace clique::daemon
