// Prints figures. No test here fails because it is slow.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "unit/icd/remote/fakes.hpp"

namespace clique::icd::test {
namespace {

using Clock = std::chrono::steady_clock;

double us_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

/// The median time of call(), in µs.
template <typename F>
double median(int count, F&& call) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    const auto begin = Clock::now();
    call();
    times.push_back(us_since(begin));
  }
  std::nth_element(times.begin(), times.begin() + count / 2, times.end());
  return times[static_cast<std::size_t>(count) / 2];
}

TEST(Speed, OfPosting) {
  Connection c;
  c.open();
  protocol::RunKernel run{
      {1, 2, protocol::Command::kReport, {}}, 3, {{0, 1, 4, {}}, {1, 0, 0, {1, 2, 3, 4}}}, {}, {1024}, {64}};
  constexpr int kCount = 50'000;
  for (int round = 0; round < 3; ++round) {
    const auto begin = Clock::now();
    for (int i = 0; i < kCount; ++i) {
      run.command.id = static_cast<std::uint64_t>(i);
      c.link->post(run);
    }
    const double posting = us_since(begin) / kCount;
    c.link->request<protocol::Finished>(protocol::Finish{0, 1});
    std::printf("post(RunKernel) %.3f us; until decoded by the worker %.3f us each\n", posting,
                us_since(begin) / kCount);
  }
  std::vector<double> times;
  for (int i = 0; i < 2000; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    const auto begin = Clock::now();
    c.link->post(run);
    times.push_back(us_since(begin));
  }
  std::sort(times.begin(), times.end());
  std::printf("a single post while the reactor ticks: median %.3f us, 99 %% %.3f us\n", times[1000],
              times[1980]);
}

TEST(Speed, OfARoundTrip) {
  constexpr int kCount = 5000;
  Connection c;
  c.open();
  const double link = median(kCount, [&] { c.link->request<protocol::Finished>(protocol::Finish{0, 1}); });

  // The same exchange through plain ZeroMQ: two sockets on each side, with receivers that block in poll, as
  // the worker does.
  zmq::context_t client_zmq(1);
  zmq::context_t server_zmq(1);
  zmq::socket_t there(client_zmq, zmq::socket_type::dealer);
  zmq::socket_t back(client_zmq, zmq::socket_type::dealer);
  zmq::socket_t in(server_zmq, zmq::socket_type::router);
  zmq::socket_t out(server_zmq, zmq::socket_type::router);
  in.bind("tcp://127.0.0.1:*");
  out.bind("tcp://127.0.0.1:*");
  there.connect(in.get(zmq::sockopt::last_endpoint));
  back.connect(out.get(zmq::sockopt::last_endpoint));
  back.send(zmq::str_buffer("hello"), zmq::send_flags::none);
  std::thread echo([&] {
    zmq::message_t id;
    zmq::message_t body;
    [[maybe_unused]] auto got = out.recv(id);
    got = out.recv(body);
    const std::string client = id.to_string();
    for (int i = 0; i < kCount; ++i) {
      got = in.recv(id);
      got = in.recv(body);
      out.send(zmq::buffer(client), zmq::send_flags::sndmore);
      out.send(body, zmq::send_flags::none);
    }
  });
  const double raw_zmq = median(kCount, [&] {
    there.send(zmq::str_buffer("sixteen bytes..."), zmq::send_flags::none);
    zmq::message_t reply;
    [[maybe_unused]] const auto got = back.recv(reply);
  });
  echo.join();

  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  const int client = ::socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(::connect(client, reinterpret_cast<sockaddr*>(&address), size), 0);
  const int server = ::accept(listener, nullptr, nullptr);
  const int on = 1;
  for (const int fd : {client, server}) ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  char buffer[64] = {};
  std::thread tcp_echo([&] {
    char bytes[64];
    while (::recv(server, bytes, sizeof bytes, MSG_WAITALL) == sizeof bytes)
      ::send(server, bytes, sizeof bytes, 0);
  });
  const double raw_tcp = median(kCount, [&] {
    ::send(client, buffer, sizeof buffer, 0);
    ::recv(client, buffer, sizeof buffer, MSG_WAITALL);
  });
  ::shutdown(client, SHUT_RDWR);
  tcp_echo.join();
  for (const int fd : {client, server, listener}) ::close(fd);
  std::printf("round trip: link %.1f us, ZeroMQ %.1f us, TCP %.1f us\n", link, raw_zmq, raw_tcp);
}

TEST(Speed, OfPayloads) {
  Connection c;
  c.open();
  std::vector<std::byte> memory(256U << 20U, std::byte{1});
  for (int round = 0; round < 2; ++round) {
    const auto begin = Clock::now();
    for (std::size_t offset = 0; offset < memory.size(); offset += protocol::kMaxPayload)
      c.link->post(protocol::WriteBuffer{
          {1, 1, 0, {}}, 1, offset, {std::span(memory.data() + offset, protocol::kMaxPayload), nullptr}});
    c.link->request<protocol::Finished>(protocol::Finish{0, 1});
    std::printf("payloads: %.2f GB/s\n", static_cast<double>(memory.size()) / us_since(begin) / 1e3);
  }
}

}  // namespace
}  // namespace clique::icd::test
