// The limits that OpenCL over a network is held against: round trips and bulk over a plain TCP connection and
// over ZeroMQ, both on loopback between two processes, and a copy in memory.
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
#include <system_error>
#include <utility>
#include <vector>
#include <zmq.hpp>

#include "bench.hpp"

namespace {

using namespace bench;

constexpr size_t small_message = 64;
constexpr int round_trips = 5000;
constexpr std::array sizes{4 * kib, 64 * kib, mib, 16 * mib, 64 * mib, 256 * mib};
/// ZeroMQ moves a large transfer as messages of this size, which is where it is fastest.
constexpr size_t chunk = mib;

[[noreturn]] void fail(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

/// A process that runs `body` and is ended with this object.
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
  explicit Socket(int fd = socket(AF_INET, SOCK_STREAM, 0)) : fd_(fd) {
    if (fd_ < 0) fail("socket");
  }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  Socket& operator=(Socket&&) = delete;
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }

  /// Listens on a free port of the loopback interface, and returns its address.
  sockaddr_in listen_on_loopback() const {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(fd_, generic, length) != 0 || listen(fd_, 1) != 0) fail("listen");
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
  /// Fills `data`; false where the other side has closed the connection.
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

/// Reports the time of a small message there and back.
template <typename RoundTrip>
void report_round_trip(const std::string& name, int repeats, RoundTrip&& round_trip) {
  report(name + " round trip",
         1e6 / round_trips *
             median(repeats,
                    [&] {
                      return seconds([&] {
                        for (int i = 0; i < round_trips; ++i) round_trip();
                      });
                    }),
         "us");
}

/// Reports how fast `transfer` moves `bytes`.
template <typename Transfer>
void report_bulk(const std::string& name, size_t bytes, int repeats, Transfer&& transfer) {
  const int count = transfers_per_measurement(bytes);
  const double time = median(repeats, [&] {
    return seconds([&] {
      for (int i = 0; i < count; ++i) transfer();
    });
  });
  report(name + " " + size_name(bytes), 1e-9 * static_cast<double>(bytes) * count / time, "GB/s");
}

/// The peer answers `small_message` bytes with the same, and each bulk transfer with one byte once all is
/// there.
void measure_tcp(int repeats) {
  const Socket listener;
  const sockaddr_in address = listener.listen_on_loopback();
  {
    const Peer echo([&] {
      const Socket peer = listener.accept_one();
      std::array<char, small_message> message{};
      while (peer.read(message.data(), message.size())) peer.write(message.data(), message.size());
    });
    const Socket socket;
    socket.connect_to(address);
    std::array<char, small_message> message{};
    report_round_trip("TCP", repeats, [&] {
      socket.write(message.data(), message.size());
      socket.read(message.data(), message.size());
    });
  }
  for (const size_t size : sizes) {
    const Peer sink([&] {
      const Socket peer = listener.accept_one();
      std::vector<char> data(size);
      while (peer.read(data.data(), data.size())) peer.write("", 1);
    });
    const Socket socket;
    socket.connect_to(address);
    const std::vector<char> data(size, 'x');
    report_bulk("TCP", size, repeats, [&] {
      char done = 0;
      socket.write(data.data(), data.size());
      socket.read(&done, 1);
    });
  }
}

/// A ROUTER in a process of its own that runs `serve(socket)`, and a DEALER that is connected to it.
template <typename Serve, typename Use>
void with_zmq_peer(Serve&& serve, Use&& use) {
  std::array<int, 2> address_pipe{};
  if (pipe(address_pipe.data()) != 0) fail("pipe");
  const Peer peer([&] {
    zmq::context_t context;
    zmq::socket_t router(context, zmq::socket_type::router);
    router.set(zmq::sockopt::rcvhwm, 0);
    router.bind("tcp://127.0.0.1:*");
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

/// As measure_tcp(), with the data sent from where it lies and received as ZeroMQ's messages.
void measure_zmq(int repeats) {
  with_zmq_peer(
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
        report_round_trip("ZeroMQ", repeats, [&] {
          dealer.send(zmq::buffer(data));
          (void)dealer.recv(reply);
        });
      });
  for (const size_t size : sizes) {
    with_zmq_peer(
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
          report_bulk("ZeroMQ", size, repeats, [&] {
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

void measure_memcpy(int repeats) {
  for (const size_t size : sizes) {
    const std::vector<char> from(size, 'x');
    std::vector<char> to(size);
    report_bulk("memcpy", size, repeats, [&] {
      std::memcpy(to.data(), from.data(), size);
      asm volatile("" : : "r"(to.data()) : "memory");  // the copy is not optimised away
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const auto no_more_options = [](CLI::App&) {};
  return run(argc, argv, "Raw TCP, raw ZeroMQ and memcpy on this machine", options, no_more_options, [&] {
    measure_tcp(options.repeats);
    measure_zmq(options.repeats);
    measure_memcpy(options.repeats);
  });
}
