// What the tests of the daemon have in common: a real cliqued on a free port of the loopback, and clients
// that speak raw messages.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <msgpack.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "ids.hpp"
#include "node_programs.hpp"
#include "protocol/batch.hpp"
#include "protocol/fd.hpp"
#include "protocol/messages.hpp"
#include "protocol/security/tls.hpp"
#include "protocol/streams/stream_line.hpp"
#include "protocol/transport/shared_memory.hpp"
#include "protocol/transport/shared_offer.hpp"
#include "protocol/transport/zmq.hpp"
#include "protocol/version.hpp"

namespace clique::test {

using namespace clique::protocol;

/// How long anything may take before a test fails; generous, since machines are busy.
inline constexpr std::chrono::seconds kPatience{300};

/// Whether `condition` becomes true within the time.
bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds within = kPatience);

/// A cliqued of the test's own. Killed at the end. Unless told otherwise it gives clients a second to come
/// back. Its sessions begin with the programs of earlier nodes (NodePrograms).
class Node {
 public:
  explicit Node(std::vector<std::string> arguments = {});
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  std::string endpoint() const { return endpoint_; }
  pid_t pid() const { return pid_; }
  /// What it and its workers wrote to standard error.
  std::string log() const;
  bool logged(const std::string& text) const;
  /// The process that serves the client of this name (see hello), whose session is open.
  pid_t worker_of(const std::string& client) const;
  /// Its workers, those that have ended left out.
  std::vector<pid_t> workers() const;
  void signal(int number) const;
  /// Waits for its end. @returns waitpid's status.
  int wait();

 private:
  const NodePrograms programs_;
  pid_t pid_ = -1;
  std::string log_file_;
  std::string endpoint_;
};

/// A `cliqued embedded` of the test's own, which is its application.
class PrivateWorkers {
 public:
  /// Starts it and reads its list of drivers. Throws what it says instead, as std::runtime_error.
  /// @param errors becomes its standard error; -1: it has this process's
  explicit PrivateWorkers(int errors = -1);
  ~PrivateWorkers();
  PrivateWorkers(const PrivateWorkers&) = delete;
  PrivateWorkers& operator=(const PrivateWorkers&) = delete;

  const std::vector<Driver>& drivers() const { return drivers_; }
  /// Asks for workers of these drivers. @returns the answers together
  WorkersStarted start(const std::vector<std::uint32_t>& drivers) const;
  /// The worker of the first driver.
  WorkerAddress first() const;
  /// Its workers, those that have ended left out.
  std::vector<pid_t> processes() const;
  /// Closes the channel, and waits for its end. @returns waitpid's status
  int close();

 private:
  msgpack::object_handle receive() const;

  Fd control_;
  pid_t pid_ = -1;
  std::vector<Driver> drivers_;
};

/// Runs cliqued to its end. @returns its output, both kinds, and the exit status.
std::pair<std::string, int> run_cliqued(const std::vector<std::string>& arguments);

/// Whether a process exists and has not ended.
bool alive(pid_t pid);

template <typename List>
struct VariantOf;
template <typename... M>
struct VariantOf<MessageList<M...>> {
  using type = std::variant<M...>;
};

/// Decodes what comes on a DEALER, or through a line or memory where there is some, one message at a time.
template <typename List>
class Receiver {
 public:
  explicit Receiver(zmq::socket_t& socket, std::shared_ptr<SharedMemory> memory = nullptr,
                    std::shared_ptr<StreamLine> line = nullptr)
      : socket_(socket), memory_(std::move(memory)), line_(std::move(line)) {}

  /// The next message of type M, of those that `wanted` likes; others wait. Throws std::runtime_error after
  /// kPatience.
  template <typename M>
  M next(const std::function<bool(const M&)>& wanted = [](const M&) { return true; }) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (true) {
      for (auto i = messages_.begin(); i != messages_.end(); ++i) {
        auto* message = std::get_if<M>(&*i);
        if (message == nullptr || !wanted(*message)) continue;
        M found = std::move(*message);
        messages_.erase(i);
        return found;
      }
      if (!receive(deadline))
        throw std::runtime_error("a message did not come: " + std::to_string(int(M::op)));
    }
  }
  /// Whether such a message comes within the time.
  template <typename M>
  bool comes(std::chrono::milliseconds within) {
    const auto deadline = std::chrono::steady_clock::now() + within;
    while (true) {
      for (const auto& message : messages_)
        if (std::holds_alternative<M>(message)) return true;
      if (!receive(deadline)) return false;
    }
  }
  std::deque<typename VariantOf<List>::type>& messages() { return messages_; }
  /// How many batches have come.
  std::uint64_t batches() const { return batches_; }

 private:
  bool receive(std::chrono::steady_clock::time_point deadline) {
    while (std::chrono::steady_clock::now() < deadline) {
      Incoming incoming;
      if (!fetch(incoming)) continue;
      ++batches_;
      reader_.read(List{}, incoming.records, incoming.frames, incoming.owner, [this](auto&& message) {
        messages_.emplace_back(std::forward<decltype(message)>(message));
      });
      return true;
    }
    return false;
  }
  /// Waits for a moment.
  bool fetch(Incoming& incoming) {
    if (memory_ || line_) {
      if (memory_ ? memory_->receive(incoming) == SharedMemory::Received::Batch : line_->receive(incoming))
        return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return false;
    }
    zmq::pollitem_t item{socket_.handle(), 0, ZMQ_POLLIN, 0};
    zmq::poll(&item, 1, std::chrono::milliseconds(50));
    return protocol::receive(socket_, incoming);
  }

  zmq::socket_t& socket_;
  const std::shared_ptr<SharedMemory> memory_;
  const std::shared_ptr<StreamLine> line_;
  BatchReader reader_;
  std::uint64_t batches_ = 0;
  std::deque<typename VariantOf<List>::type> messages_;
};

// Compiled once, with all that decodes these messages.
extern template class Receiver<WorkerMessages>;

/// A connected DEALER, which presents the pass.
zmq::socket_t dealer(const std::string& endpoint, const Pass& pass = {});
/// The same for a port of the loopback address.
zmq::socket_t dealer(std::uint16_t port, const Pass& pass = {});

/// The memory that a worker shares with a guest. The worker gives guests half a second, which may be too
/// little for one on a busy machine, so this tries again. Throws std::runtime_error after kPatience.
std::shared_ptr<SharedMemory> shared_by(const WorkerAddress& worker, Guest guest);

/// A connection to a daemon, with a key that nobody knows.
class Caller {
 public:
  explicit Caller(const std::string& endpoint);
  Caller(Caller&&) = default;

  /// Sends messages as one batch.
  template <typename... M>
  void send(const M&... messages) {
    Batch batch;
    (batch.add(messages), ...);
    channel_->send(batch);
    channel_->work();
  }
  /// The next message of type M; others wait. Throws std::runtime_error after kPatience.
  template <typename M>
  M next() {
    if (!comes<M>(kPatience))
      throw std::runtime_error("a message did not come: " + std::to_string(int(M::op)));
    const auto found = std::find_if(messages_.begin(), messages_.end(),
                                    [](const auto& message) { return std::holds_alternative<M>(message); });
    M message = std::get<M>(std::move(*found));
    messages_.erase(found);
    return message;
  }
  /// Whether such a message comes within the time.
  template <typename M>
  bool comes(std::chrono::milliseconds within) {
    return eventually(
        [this] {
          receive();
          return std::any_of(messages_.begin(), messages_.end(),
                             [](const auto& message) { return std::holds_alternative<M>(message); });
        },
        within);
  }
  /// Says Hello. Throws std::runtime_error with the reason where it is refused, std::logic_error if the
  /// daemon does not answer.
  Welcome ask(const std::string& name = "a test", std::uint32_t version = kVersion,
              std::uint32_t oldest = kOldestVersion);
  /// Whether the daemon closes the connection within the time.
  bool closed(std::chrono::milliseconds within = kPatience);

 private:
  void receive();

  std::unique_ptr<TlsChannel> channel_;
  std::deque<std::variant<Welcome, Offer, Refused, Starting, Status, Steered, Loads, Reached>> messages_;
};

/// Sends messages as one batch.
template <typename... M>
void send(zmq::socket_t& socket, const M&... messages) {
  Batch batch;
  (batch.add(messages), ...);
  protocol::send(socket, batch);
}

/// Sends raw frames.
void send_frames(zmq::socket_t& socket, const std::vector<std::string>& frames);

/// The key of this process, as which it says Hello.
const Identity& identity();

/// Says Hello on a connection of its own. Throws as Caller::ask().
Welcome hello(const std::string& endpoint, const std::string& name = "a test",
              std::uint32_t version = kVersion, std::uint32_t oldest = kOldestVersion);

/// A client's session with the first worker of a node. Where the worker has no ports of its own, the client
/// reaches it through the daemon's.
class Client {
 public:
  explicit Client(const Node& node, const std::string& name = "a test");
  /// @param memory that the client shares with the worker; null: it goes through sockets alone
  explicit Client(const WorkerAddress& address, std::shared_ptr<SharedMemory> memory = nullptr,
                  const std::string& daemon = {});

  template <typename... M>
  void send(const M&... messages) {
    if (!memory && !line) {
      test::send(commands, messages...);
      return;
    }
    Batch batch;
    (batch.add(messages), ...);
    if (line) {
      line->send(batch);
      return;
    }
    if (memory->try_send(batch) != SharedMemory::Sent::Yes)
      throw std::runtime_error("no room in the shared memory");
  }
  template <typename M>
  M next(const std::function<bool(const M&)>& wanted = [](const M&) { return true; }) {
    return reports.next<M>(wanted);
  }
  /// The final state of a command.
  EventState ended(CommandId command) {
    return next<EventState>(
        [command](const EventState& state) { return state.command == command && state.status <= 0; });
  }
  /// The data of a ReadBuffer of at most kMaxPayload bytes.
  std::vector<std::byte> data(CommandId command, std::uint32_t part = 0);
  /// Creates kContext of all devices, kInOrder and kOutOfOrder, and builds kProgram of `source`.
  ProgramBuilt set_up(const std::string& source = {});
  Finished finish(ObjectId queue = kInOrder);
  std::string peers_endpoint() const { return "tcp://127.0.0.1:" + std::to_string(address.peers); }

  WorkerAddress address;
  std::shared_ptr<SharedMemory> memory;
  std::shared_ptr<StreamLine> line;  ///< null: the worker has ports of its own
  zmq::socket_t commands;
  zmq::socket_t reports_socket;
  Receiver<WorkerMessages> reports{reports_socket, memory, line};
  Attached attached;

 private:
  RequestId request_ = 1000;
};

inline Command command(CommandId id, std::uint8_t flags = Command::kReport, std::vector<CommandId> waits = {},
                       ObjectId queue = kInOrder) {
  return {id, queue, flags, std::move(waits)};
}

inline Payload payload(const void* data, std::size_t size) {
  return {{static_cast<const std::byte*>(data), size}, nullptr};
}

inline KernelArg object_arg(std::uint32_t index, ObjectId object) {
  return {index, KernelArg::Object, object, {}};
}

/// So far into a buffer with an address.
inline KernelArg pointer_arg(std::uint32_t index, ObjectId buffer, std::uint64_t offset) {
  KernelArg arg{index, KernelArg::Pointer, buffer, Bytes(sizeof offset)};
  std::memcpy(arg.value.data(), &offset, sizeof offset);
  return arg;
}

template <typename T>
KernelArg value_arg(std::uint32_t index, const T& value) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
  return {index, KernelArg::Value, 0, Bytes(bytes, bytes + sizeof value)};
}

inline Bytes code(const std::string& text) {
  return {text.begin(), text.end()};
}

}  // namespace clique::test
