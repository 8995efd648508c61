#include "protocol/streams/ucx_engine.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "protocol/no_signals.hpp"
#include "protocol/random.hpp"
#include "protocol/spin.hpp"
#include "protocol/streams/stream.hpp"
#include "protocol/streams/ucx_channel.hpp"
#include "protocol/throw_errno.hpp"

namespace clique::protocol {

namespace {

/// How long exit() may wait until UCX has given all memory back.
constexpr std::chrono::seconds kLongestExit{2};
/// The epoll event of UCX itself. Channels have other numbers.
constexpr std::uint64_t kUcxEvents = 0;

/// Called while the process exits, or this library is unloaded: after functions of atexit() and destructors
/// of static objects, which may still use OpenCL, and before UCX's libraries, which were loaded later.
[[gnu::destructor]] void stop_ucx() {
  UcxEngine::stop_all();
}

}  // namespace

const UcxLibrary& ucx() {
  const UcxLibrary* const library = UcxLibrary::get();
  if (library == nullptr) throw UcxError(UcxLibrary::missing());
  return *library;
}

[[noreturn]] void throw_ucx(const char* what, ucs_status_t status) {
  throw UcxError(std::string("UCX fails: ") + what + ": " + ucx().status_string(status));
}

std::string_view ucx_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::mutex UcxEngine::engines_lock;

std::map<std::string, UcxEngine*>& UcxEngine::engines() {
  static auto& all = *new std::map<std::string, UcxEngine*>();
  return all;
}

UcxEngine& UcxEngine::at(const std::string& interface) {
  const std::lock_guard guard(engines_lock);
  auto& engine = engines()[interface];
  if (engine == nullptr) engine = new UcxEngine(interface);
  if (engine->process_ != ::getpid())
    throw UcxError("UCX cannot be used in a process that was forked from one that uses it");
  return *engine;
}

UcxEngine::UcxEngine(const std::string& interface) : events_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!events_) throw UcxError("epoll_create1: " + error_text(errno));
  ucp_config_t* config = nullptr;
  if (const auto status = ucx().config_read(nullptr, nullptr, &config); status != UCS_OK)
    throw_ucx("reading its settings", status);
  const std::unique_ptr<ucp_config_t, decltype(ucx().config_release)> owner(config, ucx().config_release);
  // What a release does not know yet, or any more, is not needed there.
  const auto set = [&](const char* name, const char* value) {
    std::string variable = "UCX_";
    if (ucx_variable(variable.append(name).c_str()).empty())
      static_cast<void>(ucx().config_modify(config, name, value));
  };
  // Only RDMA: TCP and shared memory are slower than streams without UCX, and no stranger may reach a port.
  set("TLS", "^tcp,sm");
  if (!interface.empty()) set("NET_DEVICES", interface.c_str());
  // The stream's own connection tells whether the other end lives. UCX would look for its process id, which
  // means nothing in another namespace.
  set("KEEPALIVE_INTERVAL", "inf");
  // Numbers instead of addresses of this process: what refers to an endpoint that is gone then finds nothing.
  set("PROTO_INDIRECT_ID", "on");

  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  constexpr unsigned kMajor = 1;
  constexpr unsigned kMinor = 13;
  ucp_context_h context = nullptr;
  if (const auto status = ucx().init_version(kMajor, kMinor, &params, config, &context); status != UCS_OK)
    throw_ucx("no usable network", status);
  ucp_worker_params_t how{};
  how.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  how.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  if (const auto status = ucx().worker_create(context, &how, &worker); status != UCS_OK) {
    ucx().cleanup(context);
    throw_ucx("no usable network", status);
  }
  ucp_am_handler_param_t handler{};
  handler.field_mask =
      UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = kUcxMessage;
  handler.cb = &UcxEngine::take;
  handler.arg = this;
  if (const auto status = ucx().worker_set_am_recv_handler(worker, &handler); status != UCS_OK)
    throw_ucx("no active messages", status);
  int descriptor = -1;
  if (const auto status = ucx().worker_get_efd(worker, &descriptor); status != UCS_OK)
    throw_ucx("no events", status);
  watch(descriptor, kUcxEvents);
}

void UcxEngine::watch(int socket, std::uint64_t number) const {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.u64 = number;
  if (::epoll_ctl(events_.get(), EPOLL_CTL_ADD, socket, &event) != 0)
    throw UcxError("epoll_ctl: " + error_text(errno));
}

void UcxEngine::unwatch(int socket) const {
  ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, socket, nullptr);
}

void UcxEngine::stop_all() {
  const std::lock_guard guard(engines_lock);
  for (const auto& [interface, engine] : engines())
    if (engine != nullptr && engine->process_ == ::getpid()) engine->stop();
}

void UcxEngine::stop() {
  const std::lock_guard life(life_);
  {
    UcxLock lock(mutex);
    exits = true;
    for (const auto& [number, channel] : channels_) channel->end("the process exits");
    const auto all_closed = [this] {
      return std::ranges::all_of(channels_, [](const auto& entry) { return entry.second->closed(); });
    };
    const auto until = UcxClock::now() + kLongestExit;
    while (thread_.joinable() && !all_closed() && UcxClock::now() < until) {
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      lock.lock();
    }
    stops_ = true;
    wake();
  }
  if (thread_.joinable()) thread_.join();
}

std::uint64_t UcxEngine::add(UcxEnd& channel) {
  const std::lock_guard life(life_);
  std::uint64_t number = kUcxEvents;
  {
    const UcxLock lock(mutex);
    if (exits) throw StreamBroken("the process exits");
    while (number == kUcxEvents || channels_.contains(number))
      fill_random({reinterpret_cast<std::uint8_t*>(&number), sizeof number});
    channels_.emplace(number, &channel);
    stops_ = false;
  }
  if (!thread_.joinable()) {
    const NoSignals quiet;
    thread_ = std::thread([this] { run(); });
  }
  return number;
}

void UcxEngine::remove(std::uint64_t number) {
  const std::lock_guard life(life_);
  {
    const UcxLock lock(mutex);
    channels_.erase(number);
    if (!channels_.empty() || exits) return;
    stops_ = true;
    wake();
  }
  thread_.join();
}

void UcxEngine::run() {
  Spinning spinning(false);
  UcxLock lock(mutex);
  while (!stops_) {
    for (UcxEnd* const channel : std::exchange(closing_, {})) channel->close();
    if (ucx().worker_progress(worker) != 0)
      spinning.restart();
    else if (!spinning.go_on(UcxClock::now(), false))
      sleep(lock);
    lock.unlock();
    // Those who wait for this moment hardly get the mutex otherwise.
    std::this_thread::yield();
    lock.lock();
  }
}

void UcxEngine::sleep(UcxLock& lock) {
  // Whatever has happened in the meantime makes this fail.
  if (!closing_.empty() || ucx().worker_arm(worker) != UCS_OK) return;
  sleeps_ = true;
  lock.unlock();
  constexpr int kMost = 16;
  std::array<epoll_event, kMost> events{};
  const int count = ::epoll_wait(events_.get(), events.data(), kMost, -1);
  lock.lock();
  sleeps_ = false;
  for (int i = 0; i < count; ++i) {
    // A copy: epoll_event is packed, so a reference to its member would not be aligned.
    const std::uint64_t id = events.at(static_cast<std::size_t>(i)).data.u64;
    const auto channel = channels_.find(id);
    if (channel != channels_.end()) channel->second->end("the other end closed the connection");
  }
}

ucs_status_t UcxEngine::take(void* engine, const void* header, std::size_t header_size, void* data,
                             std::size_t size, const ucp_am_recv_param_t* how) {
  auto& self = *static_cast<UcxEngine*>(engine);
  if (header_size != UcxHeader::kBytes) return UCS_OK;
  UcxHeader::Message message{};
  std::memcpy(message.data(), header, message.size());
  const UcxHeader decoded = UcxHeader::decode(message);
  const auto channel = self.channels_.find(decoded.channel);
  if (channel == self.channels_.end()) return UCS_OK;
  const bool offered = (how->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
  if (size > 0 && !offered) {
    channel->second->end("data through UCX that nobody asked for");
    return UCS_OK;
  }
  return channel->second->take(decoded, size, offered ? data : nullptr) ? UCS_INPROGRESS : UCS_OK;
}

}  // namespace clique::protocol
