// The limits for OpenCL over a network: round trips and bulk transfers over TCP and over ZeroMQ between two
// processes, and copies in memory. Both processes are on one host; the second may be in another network
// namespace.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>
#include <zmq.hpp>

#include "network.hpp"

namespace {

using namespace bench;

constexpr size_t small_message = 64;
/// From this size on, several connections may be faster than one.
constexpr size_t bulk = mib;
/// Large transfers are sent as ZeroMQ messages of this size, which is the fastest.
constexpr size_t chunk = mib;

struct WireOptions : Options {
  std::vector<size_t> sizes{4 * kib, 64 * kib, mib, 16 * mib, 64 * mib, 256 * mib};
  /// What to measure: "tcp", "zmq", "memcpy".
  std::vector<std::string> only{"tcp", "zmq", "memcpy"};
  int round_trips = 5000;
  /// The address on which the peer listens, and the file of its network namespace; empty: that of this
  /// process.
  std::string address = "127.0.0.1";
  std::string network;
};

/// A process that runs `body`. The destructor kills it.
class Peer {
 public:
  explicit Peer(const std::function<void()>& body) : pid_(fork()) {
    if (pid_ < 0) fail("fork");
    if (pid_ > 0) return;
    try {
      body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "peer: %s\n", error.what());
    }
    _exit(0);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
};

/// A blocking TCP socket.
class Socket {
 public:
  explicit Socket(int fd = ::socket(AF_INET, SOCK_STREAM, 0)) : fd_(fd) {
    if (fd_ < 0) fail("socket");
  }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  Socket& operator=(Socket&&) = delete;
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }

  /// Listens on a free port. Returns the address with the port.
  sockaddr_in listen_on(const std::string& host) const {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    if (inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1)
      throw std::runtime_error("--address " + host + " is not an IPv4 address");
    socklen_t length = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(fd_, generic, length) != 0 || listen(fd_, SOMAXCONN) != 0) fail("listen");
    if (getsockname(fd_, generic, &length) != 0) fail("getsockname");
    return address;
  }
  void connect_to(const sockaddr_in& address) const {
    if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("connect");
    no_delay();
  }
  Socket accept_one() const {
    Socket accepted(accept(fd_, nullptr, nullptr));
    accepted.no_delay();
    return accepted;
  }
  void write(const void* data, size_t size) const {
    for (size_t done = 0; done < size;) {
      const ssize_t n = send(fd_, static_cast<const char*>(data) + done, size - done, MSG_NOSIGNAL);
      if (n <= 0) fail("send");
      done += static_cast<size_t>(n);
    }
  }
  /// Fills `data`. Returns false if the other side closes the connection.
  bool read(void* data, size_t size) const {
    for (size_t done = 0; done < size;) {
      const ssize_t n = recv(fd_, static_cast<char*>(data) + done, size - done, 0);
      if (n < 0) fail("recv");
      if (n == 0) return false;
      done += static_cast<size_t>(n);
    }
    return true;
  }

 private:
  void no_delay() const {
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }

  int fd_;
};

/// Reports the round-trip time of a small message.
template <typename RoundTrip>
void report_round_trip(const std::string& name, const WireOptions& options, RoundTrip&& round_trip) {
  const double time = median(options.repeats, [&] {
    return seconds([&] {
      for (int i = 0; i < options.round_trips; ++i) round_trip();
    });
  });
  report(name + " round trip", 1e6 / options.round_trips * time, "us");
}

/// Reports the rate at which `transfer` moves `bytes`.
template <typename Transfer>
void report_bulk(const std::string& name, size_t bytes, int repeats, Transfer&& transfer) {
  const int count = transfers_per_measurement(bytes);
  const double time = median(repeats, [&] {
    return seconds([&] {
      for (int i = 0; i < count; ++i) transfer();
    });
  });
  report(name, 1e-9 * static_cast<double>(bytes) * count / time, "GB/s");
}

/// A socket that listens in the peer's network namespace. The peer inherits it.
struct Listener {
  explicit Listener(const WireOptions& options)
      : socket(in_network(options.network, [] { return Socket(); })),
        address(socket.listen_on(options.address)) {}
  Socket socket;
  sockaddr_in address{};
};

/// Each connection moves its part of a transfer. The transfer is complete when all parts are acknowledged.
void measure_tcp_bulk(const WireOptions& options, size_t size, size_t streams) {
  const Listener listener(options);
  const size_t part = size / streams;
  const Peer sink([&] {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < streams; ++i)
      threads.emplace_back([part, peer = listener.socket.accept_one()] {
        std::vector<char> data(part);
        while (peer.read(data.data(), data.size())) peer.write("", 1);
      });
  });
  std::vector<Socket> sockets(streams);
  for (const Socket& socket : sockets) socket.connect_to(listener.address);
  const std::vector<char> data(size, 'x');
  const auto send_part = [&](size_t index) {
    char done = 0;
    sockets[index].write(data.data() + index * part, part);
    sockets[index].read(&done, 1);
  };
  const std::string name = "TCP " + size_name(size);
  report_bulk(streams == 1 ? name : name + ", " + std::to_string(streams) + " streams", size, options.repeats,
              [&] {
                std::vector<std::jthread> others;
                for (size_t i = 1; i < streams; ++i) others.emplace_back(send_part, i);
                send_part(0);
              });
}

/// The peer returns each small message, and answers each part of a bulk transfer with one byte when all of it
/// has arrived.
void measure_tcp(const WireOptions& options) {
  {
    const Listener listener(options);
    const Peer echo([&] {
      const Socket peer = listener.socket.accept_one();
      std::array<char, small_message> message{};
      while (peer.read(message.data(), message.size())) peer.write(message.data(), message.size());
    });
    const Socket socket;
    socket.connect_to(listener.address);
    std::array<char, small_message> message{};
    report_round_trip("TCP", options, [&] {
      socket.write(message.data(), message.size());
      socket.read(message.data(), message.size());
    });
  }
  for (const size_t size : options.sizes)
    for (const size_t streams : {1, 2, 4, 8, 16})
      if (streams == 1 || size >= bulk) measure_tcp_bulk(options, size, streams);
}

/// Calls `serve` with a ROUTER in a process of its own, and `use` with a DEALER that is connected to it.
template <typename Serve, typename Use>
void with_zmq_peer(const WireOptions& options, Serve&& serve, Use&& use) {
  std::array<int, 2> address_pipe{};
  if (pipe(address_pipe.data()) != 0) fail("pipe");
  const Peer peer([&] {
    enter_network(options.network);
    zmq::context_t context;
    zmq::socket_t router(context, zmq::socket_type::router);
    router.set(zmq::sockopt::rcvhwm, 0);
    router.bind("tcp://" + options.address + ":*");
    const std::string address = router.get(zmq::sockopt::last_endpoint);
    if (write(address_pipe[1], address.c_str(), address.size() + 1) < 0) fail("write");
    serve(router);
  });
  std::array<char, 64> address{};
  if (read(address_pipe[0], address.data(), address.size() - 1) <= 0) fail("read");
  close(address_pipe[0]);
  close(address_pipe[1]);

  zmq::context_t context;
  zmq::socket_t dealer(context, zmq::socket_type::dealer);
  dealer.set(zmq::sockopt::sndhwm, 0);
  dealer.set(zmq::sockopt::linger, 0);
  dealer.connect(address.data());
  use(dealer);
}

/// Like measure_tcp(), over ZeroMQ. The data is sent without copying it and received as ZeroMQ messages.
void measure_zmq(const WireOptions& options) {
  with_zmq_peer(
      options,
      [](zmq::socket_t& router) {
        for (zmq::message_t sender, message;;) {
          (void)router.recv(sender);
          (void)router.recv(message);
          router.send(sender, zmq::send_flags::sndmore);
          router.send(message, zmq::send_flags::none);
        }
      },
      [&](zmq::socket_t& dealer) {
        const std::array<char, small_message> data{};
        zmq::message_t reply;
        report_round_trip("ZeroMQ", options, [&] {
          dealer.send(zmq::buffer(data));
          (void)dealer.recv(reply);
        });
      });
  for (const size_t size : options.sizes) {
    with_zmq_peer(
        options,
        [size](zmq::socket_t& router) {
          for (size_t received = 0;;) {
            zmq::message_t sender;
            zmq::message_t message;
            (void)router.recv(sender);
            (void)router.recv(message);
            received += message.size();
            if (received < size) continue;
            received = 0;
            router.send(sender, zmq::send_flags::sndmore);
            router.send(zmq::message_t(1), zmq::send_flags::none);
          }
        },
        [&](zmq::socket_t& dealer) {
          std::vector<char> data(size, 'x');
          zmq::message_t reply;
          report_bulk("ZeroMQ " + size_name(size), size, options.repeats, [&] {
            for (size_t offset = 0; offset < size; offset += chunk) {
              const auto keep = [](void*, void*) {};
              zmq::message_t message(data.data() + offset, std::min(chunk, size - offset), keep);
              dealer.send(message, zmq::send_flags::none);
            }
            (void)dealer.recv(reply);
          });
        });
  }
}

void measure_memcpy(const WireOptions& options) {
  for (const size_t size : options.sizes) {
    const std::vector<char> from(size, 'x');
    std::vector<char> to(size);
    report_bulk("memcpy " + size_name(size), size, options.repeats, [&] {
      std::memcpy(to.data(), from.data(), size);
      asm volatile("" : : "r"(to.data()) : "memory");  // keeps the compiler from removing the copy
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  WireOptions options;
  const auto add = [&](CommandLine& line) {
    bench::add_sizes(line, options.sizes);
    line.choice("--only", options.only, "what to measure: tcp, zmq, memcpy", {"tcp", "zmq", "memcpy"});
    line.option("--round-trips", options.round_trips, "number of small messages in one measurement");
    line.option("--address", options.address, "address on which the peer listens");
    line.option("--network", options.network,
                "network namespace of the peer, such as /proc/PID/ns/net; default: the same");
  };
  return bench::run(argc, argv, "Raw TCP, raw ZeroMQ and memcpy on this machine", options, add, [&] {
    const auto wanted = [&](const char* name) {
      return std::find(options.only.begin(), options.only.end(), name) != options.only.end();
    };
    if (wanted("tcp")) measure_tcp(options);
    if (wanted("zmq")) measure_zmq(options);
    if (wanted("memcpy")) measure_memcpy(options);
  });
}
