#include "fakes.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <future>
#include <list>
#include <span>
#include <system_error>

#include "icd/remote/link/clock.hpp"
#include "protocol/transport/zmq.hpp"

namespace clique::icd::test {

namespace {

std::uint16_t bind_somewhere(zmq::socket_t& socket) {
  protocol::configure(socket);
  socket.bind("tcp://127.0.0.1:*");
  const std::string endpoint = socket.get(zmq::sockopt::last_endpoint);
  return static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1)));
}

std::uint16_t listen_somewhere(int socket) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(socket, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(socket, 16) != 0 ||
      ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::system_error(errno, std::generic_category(), "listen");
  return ntohs(address.sin_port);
}

}  // namespace

FakeWorker::FakeWorker(std::int64_t clock_ahead)
    : clock_ahead_(clock_ahead),
      commands_(zmq_, zmq::socket_type::router),
      reports_(zmq_, zmq::socket_type::router),
      commands_port_(bind_somewhere(commands_)),
      reports_port_(bind_somewhere(reports_)),
      wake_fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  thread_ = std::thread([this] { serve(); });
}

FakeWorker::~FakeWorker() {
  run([this] { stop_ = true; });
  thread_.join();
  ::close(wake_fd_);
}

WorkerEndpoint FakeWorker::endpoint() const {
  const auto local = [](std::uint16_t port) { return "tcp://127.0.0.1:" + std::to_string(port); };
  return {"fake", local(commands_port_), local(reports_port_), "", {}, {}, "", nullptr};
}

void FakeWorker::run(std::function<void()> task) {
  if (std::this_thread::get_id() == serving_.load()) return task();
  auto ran = std::make_shared<std::promise<void>>();
  auto done = ran->get_future();
  {
    std::lock_guard lock(mutex_);
    tasks_.emplace_back([task = std::move(task), ran] {
      task();
      ran->set_value();
    });
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_fd_, &one, sizeof one);
  done.wait();
}

void FakeWorker::hang_up() {
  run([this] {
    commands_.close();
    reports_.close();
  });
}

void FakeWorker::reply(protocol::Batch& batch) {
  if (reports_) protocol::send(reports_, batch, client_);
}

void FakeWorker::reply_raw(const std::string& records) {
  reports_.send(zmq::message_t(client_.data(), client_.size()), zmq::send_flags::sndmore);
  reports_.send(zmq::message_t(records.data(), records.size()), zmq::send_flags::none);
}

void FakeWorker::send() {
  reply(batch_);
}

template <typename M>
void FakeWorker::take(M&& message) {
  using T = std::remove_cvref_t<M>;
  if constexpr (std::is_same_v<T, protocol::SyncClock>) {
    on_clock ? on_clock(message) : reply(protocol::ClockSynced{message.request, now_ns() + clock_ahead_});
  } else if constexpr (std::is_same_v<T, protocol::Finish>) {
    on_finish ? on_finish(message) : reply(protocol::Finished{message.request, 0});
  } else if constexpr (std::is_same_v<T, protocol::Marker>) {
    if (on_marker) on_marker(message);
  } else if constexpr (std::is_same_v<T, protocol::WriteBuffer>) {
    if (on_write) on_write(message);
  } else if constexpr (std::is_same_v<T, protocol::ReadBuffer>) {
    if (on_read) on_read(message);
  } else if constexpr (std::is_same_v<T, protocol::CreateBuffer>) {
    if (on_create_buffer) on_create_buffer(message);
  } else if constexpr (std::is_same_v<T, protocol::CreateProgram>) {
    if (on_create_program) on_create_program(message);
  } else if constexpr (std::is_same_v<T, protocol::BuildProgram>) {
    if (on_build) on_build(message);
  } else if constexpr (std::is_same_v<T, protocol::CreateKernel>) {
    if (on_create_kernel) on_create_kernel(message);
  } else if constexpr (std::is_same_v<T, protocol::RunKernel>) {
    if (on_run) on_run(message);
  } else if constexpr (std::is_same_v<T, protocol::Release>) {
    if (on_release) on_release(message);
  } else if constexpr (std::is_same_v<T, protocol::Goodbye>) {
    if (on_goodbye) on_goodbye();
  }
}

void FakeWorker::receive(zmq::socket_t& socket, bool commands) {
  protocol::Incoming incoming;
  while (socket && protocol::receive(socket, incoming)) {
    if (commands && commands_attached_) {
      reader_.read(protocol::ClientMessages{}, incoming.records, incoming.frames, incoming.owner,
                   [this](auto&& message) { take(std::forward<decltype(message)>(message)); });
      continue;
    }
    if (commands)
      commands_attached_ = true;
    else
      client_ = incoming.routing_id;
    if (commands_attached_ && !client_.empty()) {
      protocol::Attached attached;
      attached.platform.push_back({0x0902, {'f', 'a', 'k', 'e', 0}});
      attached.clock = now_ns() + clock_ahead_;
      reply(attached);
    }
  }
}

void FakeWorker::serve() {
  serving_.store(std::this_thread::get_id());
  while (!stop_) {
    pollfd fds[3] = {{wake_fd_, POLLIN, 0}, {-1, POLLIN, 0}, {-1, POLLIN, 0}};
    if (commands_) {
      receive(commands_, true);
      if (commands_) receive(reports_, false);
    }
    if (commands_) {
      fds[1].fd = commands_.get(zmq::sockopt::fd);
      fds[2].fd = reports_.get(zmq::sockopt::fd);
      if (((commands_.get(zmq::sockopt::events) | reports_.get(zmq::sockopt::events)) & ZMQ_POLLIN) != 0)
        continue;
    }
    ::poll(fds, 3, 1000);
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(wake_fd_, &count, sizeof count);
    std::vector<std::function<void()>> tasks;
    {
      std::lock_guard lock(mutex_);
      tasks.swap(tasks_);
    }
    for (const auto& task : tasks) task();
  }
}

Proxy::Proxy(std::uint16_t target)
    : target_(target), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_, 8) != 0)
    throw std::system_error(errno, std::generic_category(), "listening");
  socklen_t size = sizeof address;
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

Proxy::~Proxy() {
  stop_.store(true);
  thread_.join();
  for (const auto& [fd, partner] : partners_) ::close(fd);
  ::close(listener_);
}

void Proxy::serve() {
  while (!stop_.load()) {
    if (frozen_.load()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      continue;
    }
    std::vector<pollfd> fds{{listener_, POLLIN, 0}};
    for (const auto& [fd, partner] : partners_) fds.push_back({fd, POLLIN, 0});
    if (::poll(fds.data(), fds.size(), 10) <= 0) continue;
    if (fds[0].revents != 0) {
      const int client = ::accept(listener_, nullptr, nullptr);
      const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      address.sin_port = htons(target_);
      if (::connect(server, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
        ::close(client);
        ::close(server);
        continue;
      }
      partners_[client] = server;
      partners_[server] = client;
    }
    for (std::size_t i = 1; i < fds.size() && !frozen_.load(); ++i) {
      if (fds[i].revents == 0) continue;
      char buffer[65536];
      const auto size = ::recv(fds[i].fd, buffer, sizeof buffer, 0);
      if (size <= 0 || cut_next_.exchange(false)) {
        const int partner = partners_[fds[i].fd];
        if (partner >= 0) {
          ::shutdown(partner, SHUT_RDWR);
          // The next connection may get the number of this one.
          partners_[partner] = -1;
        }
        ::shutdown(fds[i].fd, SHUT_RDWR);
        partners_.erase(fds[i].fd);
        ::close(fds[i].fd);
        continue;
      }
      // If the receiver is full, the whole proxy stops, as the tests require.
      for (ssize_t sent = 0; sent < size && !stop_.load() && !frozen_.load();) {
        const auto n = ::send(partners_[fds[i].fd], buffer + sent, static_cast<std::size_t>(size - sent),
                              MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) sent += n;
        if (n < 0 && errno != EAGAIN) break;
      }
    }
  }
}

FakeDaemon::FakeDaemon(Answer answer, Answer then)
    : tls_(protocol::TlsContext::Role::Node, protocol::Identity::generate()),
      listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      port_(listen_somewhere(listener_.get())) {
  thread_ =
      std::thread([this, answers = std::vector{std::move(answer), std::move(then)}] { serve(answers); });
}

void FakeDaemon::serve(const std::vector<Answer>& answers) {
  std::list<protocol::TlsChannel> channels;
  while (!stop_.load()) {
    std::vector<pollfd> items{{listener_.get(), POLLIN, 0}};
    for (const auto& channel : channels) items.push_back({channel.fd(), POLLIN, 0});
    ::poll(items.data(), items.size(), 20);
    if (items[0].revents != 0)
      channels.emplace_back(tls_, Fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)), 1 << 20);
    channels.remove_if([&](protocol::TlsChannel& channel) {
      try {
        channel.work();
        while (const auto records = channel.receive()) answer(channel, records, answers);
        return channel.ended();
      } catch (const protocol::SecurityError&) {
        return true;
      }
    });
  }
}

void FakeDaemon::answer(protocol::TlsChannel& channel, const std::shared_ptr<const std::string>& records,
                        const std::vector<Answer>& answers) {
  std::vector<protocol::Hello> hellos;
  protocol::BatchReader().read(protocol::MessageList<protocol::Hello>{}, std::as_bytes(std::span(*records)),
                               {}, records,
                               [&](protocol::Hello&& hello) { hellos.push_back(std::move(hello)); });
  for (const Answer& say : answers) {
    if (!say) continue;
    protocol::Batch batch;
    for (const protocol::Hello& hello : hellos) say(hello, batch);
    if (batch.empty()) continue;
    channel.send(batch);
    channel.work();
  }
}

FakeDaemon::FakeDaemon(protocol::Offer offer, Answer answer)
    : FakeDaemon([offer = std::move(offer), answer = std::move(answer)](const protocol::Hello& hello,
                                                                        protocol::Batch& batch) {
        if (hello.wish == protocol::Wish::Devices)
          batch.add(offer);
        else
          answer(hello, batch);
      }) {}

FakeDaemon::~FakeDaemon() {
  stop_.store(true);
  thread_.join();
}

}  // namespace clique::icd::test
