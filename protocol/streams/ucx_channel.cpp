#include "protocol/streams/ucx_channel.hpp"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "protocol/decode_error.hpp"
#include "protocol/fd.hpp"
#include "protocol/no_signals.hpp"
#include "protocol/random.hpp"
#include "protocol/spin.hpp"
#include "protocol/streams/dial.hpp"
#include "protocol/streams/stream.hpp"
#include "protocol/streams/ucx_library.hpp"
#include "protocol/throw_errno.hpp"

namespace clique::protocol {

namespace {

using UcxClock = std::chrono::steady_clock;
using UcxLock = std::unique_lock<std::mutex>;

/// How long the first record may make no progress: firewalls that drop packets are noticed here.
constexpr std::chrono::seconds kFirstPatience{10};
/// How long exit() may wait until UCX has given all memory back.
constexpr std::chrono::seconds kLongestExit{2};
/// The number of Clique's active messages.
constexpr unsigned kUcxMessage = 1;
/// The epoll event of UCX itself. Channels have other numbers.
constexpr std::uint64_t kUcxEvents = 0;

/// UCX's functions. Throws UcxError.
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

/// Whether UCX_TLS asks for TCP, and for no other network.
bool goes_through_tcp() {
  constexpr std::array<std::string_view, 12> kWithoutNetwork{
      "self", "sm", "shm", "mm", "posix", "sysv", "cma", "knem", "xpmem", "cuda", "cuda_copy", "gdr_copy"};
  bool tcp = false;
  std::string_view list = ucx_variable("UCX_TLS");
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    const std::string_view name = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    if (name == "tcp")
      tcp = true;
    else if (std::ranges::find(kWithoutNetwork, name) == kWithoutNetwork.end())
      return false;
  }
  return tcp;
}

/// The address of one end of a connection, without its port. IPv4 in IPv6 is IPv4.
std::vector<std::uint8_t> ip_of(const sockaddr* address) {
  if (address == nullptr) return {};
  if (address->sa_family == AF_INET) {
    const auto* const v4 = reinterpret_cast<const sockaddr_in*>(address);
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&v4->sin_addr);
    return {bytes, bytes + sizeof v4->sin_addr};
  }
  if (address->sa_family != AF_INET6) return {};
  const auto& v6 = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  constexpr std::size_t kPrefix = 12;
  return {v6.s6_addr + (IN6_IS_ADDR_V4MAPPED(&v6) ? kPrefix : 0), v6.s6_addr + sizeof v6.s6_addr};
}

/// The network interface of a socket; empty if it has none.
std::string interface_of(int socket) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) != 0) return {};
  const auto ip = ip_of(reinterpret_cast<const sockaddr*>(&own));
  ifaddrs* all = nullptr;
  if (ip.empty() || ::getifaddrs(&all) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(all, &::freeifaddrs);
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next)
    if (ip_of(each->ifa_addr) == ip) return each->ifa_name;
  return {};
}

/// Something that UCX is doing. Lives until UCX has done it.
struct UcxOperation {
  bool done = false;
  ucs_status_t status = UCS_OK;
  std::condition_variable* changed = nullptr;

  void finish(ucs_status_t result) {
    status = result;
    done = true;
    changed->notify_all();
  }
};

class Channel;

/// UCX in this process: its context, one worker, and the thread that drives it while there are channels.
/// Never destroyed, since UCX's own threads use it until the process ends. While the process exits, UCX's
/// libraries clean up; nothing may call UCX from then on.
class Engine {
 public:
  /// That of a network interface. Throws UcxError.
  /// @param interface empty: UCX chooses
  static Engine& at(const std::string& interface);
  /// To be called before UCX's libraries clean up.
  static void stop_all();

  std::mutex mutex;  // guards UCX's worker, and the channels
  ucp_worker_h worker = nullptr;
  bool exits = false;  // the process exits; under `mutex`

  /// Adds a channel under a random number that strangers cannot guess. Throws StreamBroken. @returns the
  /// number
  std::uint64_t add(Channel& channel);
  void remove(std::uint64_t number);

  /// An epoll instance.
  int events() const { return events_.get(); }

  // Under `mutex`:

  /// Has the thread look after what was just begun.
  void wake() const {
    if (sleeps_) ucx().worker_signal(worker);
  }
  /// From now on the end of this connection ends the channel.
  void watch(int socket, std::uint64_t number) const;
  /// Has the thread close the channel's endpoint.
  void close(Channel& channel) {
    closing_.push_back(&channel);
    wake();
  }

 private:
  explicit Engine(const std::string& interface);
  void stop();
  static ucs_status_t take(void* engine, const void* header, std::size_t header_size, void* data,
                           std::size_t size, const ucp_am_recv_param_t* how);
  void run();
  void sleep(UcxLock& lock);

  static std::mutex engines_lock;
  static std::map<std::string, Engine*>& engines();  // under engines_lock

  const pid_t process_ = ::getpid();
  Fd events_;
  std::mutex life_;  // guards thread_
  std::thread thread_;
  // Under mutex:
  std::map<std::uint64_t, Channel*> channels_;
  std::vector<Channel*> closing_;
  bool sleeps_ = false;
  bool stops_ = false;
};

class Channel final : public UcxChannel {
 public:
  Channel(Engine& engine, int socket) : engine_(engine), socket_(socket), number_(engine.add(*this)) {}
  ~Channel() override;

  std::vector<std::byte> address() const override;
  void connect(std::span<const std::byte> address) override;
  void send(const RecordHeader::Message& header, const RecordTag& tag,
            std::span<const std::byte> data) override;
  void post(const RecordHeader::Message& header, const RecordTag& tag) override;
  UcxRecord next() override;
  void receive(const UcxRecord& record, std::span<std::byte> to) override;
  void drop(const UcxRecord& record) override;
  bool more() override;
  void shut() override;

  // For the engine's thread, under the engine's mutex:

  /// A record arrives. @returns whether it keeps the data
  bool take(const UcxHeader& header, std::size_t size, void* data);
  void end(const std::string& why, bool by_ucx = false);
  /// After end(): gives UCX everything back.
  void close();
  bool closed() const { return closed_; }

 private:
  /// Throws what end() was told. While the process exits, waits for shut() before: nobody is to take that for
  /// a loss.
  void check(UcxLock& lock);
  /// The same before there is anybody who could call shut().
  void check_early() const;
  /// Waits until UCX has done it. Throws as check().
  void await(UcxLock& lock, UcxOperation& operation, ucs_status_ptr_t begun, const char* what);
  UcxHeader::Message header_of(const RecordHeader::Message& record, const RecordTag& tag);

  Engine& engine_;
  const int socket_;
  const std::uint64_t number_;
  // Under the engine's mutex:
  std::condition_variable changed_;
  ucp_ep_h endpoint_ = nullptr;
  std::uint64_t other_ = 0;  // number of the channel at the other end
  std::uint64_t sent_ = 0;   // records
  UcxArrivals arrivals_;
  bool shut_ = false;
  bool proven_ = false;  // something has come through
  bool ended_ = false;
  bool closed_ = false;  // UCX knows nothing of the channel any more
  bool by_ucx_ = false;
  std::string why_;
};

// ---------------------------------------------------------------------------------------------- Engine

std::mutex Engine::engines_lock;

std::map<std::string, Engine*>& Engine::engines() {
  static auto& all = *new std::map<std::string, Engine*>();
  return all;
}

Engine& Engine::at(const std::string& interface) {
  const std::lock_guard guard(engines_lock);
  auto& engine = engines()[interface];
  if (engine == nullptr) engine = new Engine(interface);
  if (engine->process_ != ::getpid())
    throw UcxError("UCX cannot be used in a process that was forked from one that uses it");
  return *engine;
}

Engine::Engine(const std::string& interface) : events_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!events_) throw UcxError("epoll_create1: " + error_text(errno));
  ucp_config_t* config = nullptr;
  if (const auto status = ucx().config_read(nullptr, nullptr, &config); status != UCS_OK)
    throw_ucx("reading its settings", status);
  const std::unique_ptr<ucp_config_t, decltype(ucx().config_release)> owner(config, ucx().config_release);
  // What a release does not know yet, or any more, is not needed there.
  const auto set = [&](const char* name, const char* value) {
    if (ucx_variable((std::string("UCX_") + name).c_str()).empty())
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
  handler.cb = &Engine::take;
  handler.arg = this;
  if (const auto status = ucx().worker_set_am_recv_handler(worker, &handler); status != UCS_OK)
    throw_ucx("no active messages", status);
  int descriptor = -1;
  if (const auto status = ucx().worker_get_efd(worker, &descriptor); status != UCS_OK)
    throw_ucx("no events", status);
  watch(descriptor, kUcxEvents);
}

void Engine::watch(int socket, std::uint64_t number) const {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.u64 = number;
  if (::epoll_ctl(events_.get(), EPOLL_CTL_ADD, socket, &event) != 0)
    throw UcxError("epoll_ctl: " + error_text(errno));
}

/// Called while the process exits, or this library is unloaded: after functions of atexit() and destructors
/// of static objects, which may still use OpenCL, and before UCX's libraries, which were loaded later.
[[gnu::destructor]] void stop_ucx() {
  Engine::stop_all();
}

void Engine::stop_all() {
  const std::lock_guard guard(engines_lock);
  for (const auto& [interface, engine] : engines())
    if (engine != nullptr && engine->process_ == ::getpid()) engine->stop();
}

void Engine::stop() {
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

std::uint64_t Engine::add(Channel& channel) {
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

void Engine::remove(std::uint64_t number) {
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

void Engine::run() {
  Spinning spinning(false);
  UcxLock lock(mutex);
  while (!stops_) {
    for (Channel* const channel : std::exchange(closing_, {})) channel->close();
    if (ucx().worker_progress(worker) != 0)
      spinning.restart();
    else if (!spinning.go_on(UcxClock::now()))
      sleep(lock);
    lock.unlock();
    // Those who wait for this moment hardly get the mutex otherwise.
    std::this_thread::yield();
    lock.lock();
  }
}

void Engine::sleep(UcxLock& lock) {
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

ucs_status_t Engine::take(void* engine, const void* header, std::size_t header_size, void* data,
                          std::size_t size, const ucp_am_recv_param_t* how) {
  auto& self = *static_cast<Engine*>(engine);
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

// --------------------------------------------------------------------------------------------- Channel

Channel::~Channel() {
  {
    UcxLock lock(engine_.mutex);
    end("closed");
    changed_.wait(lock, [this] { return closed_; });
  }
  engine_.remove(number_);
}

std::vector<std::byte> Channel::address() const {
  const UcxLock lock(engine_.mutex);
  check_early();
  ucp_address_t* address = nullptr;
  std::size_t size = 0;
  if (const auto status = ucx().worker_get_address(engine_.worker, &address, &size); status != UCS_OK)
    throw_ucx("no address", status);
  const auto* const bytes = reinterpret_cast<const std::byte*>(address);
  std::vector<std::byte> result(sizeof number_);
  std::memcpy(result.data(), &number_, sizeof number_);
  result.insert(result.end(), bytes, bytes + size);
  ucx().worker_release_address(engine_.worker, address);
  if (result.size() > kMaxUcxAddress)
    throw UcxError("UCX uses too many networks: its address has " + std::to_string(size) +
                   " bytes. Name some of them in UCX_NET_DEVICES");
  return result;
}

void Channel::connect(std::span<const std::byte> address) {
  if (address.size() <= sizeof other_)
    throw DecodeError("an address for UCX of " + std::to_string(address.size()) + " bytes");
  const UcxLock lock(engine_.mutex);
  check_early();
  std::memcpy(&other_, address.data(), sizeof other_);
  address = address.subspan(sizeof other_);
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(address.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler.cb = [](void* channel, ucp_ep_h /*endpoint*/, ucs_status_t status) {
    static_cast<Channel*>(channel)->end(ucx().status_string(status), true);
  };
  params.err_handler.arg = this;
  if (const auto status = ucx().ep_create(engine_.worker, &params, &endpoint_); status != UCS_OK) {
    endpoint_ = nullptr;
    throw UcxError(std::string("UCX does not reach the other end (") + ucx().status_string(status) +
                   "): both hosts need the same kind of RDMA network, or UCX_TLS has to name another way");
  }
  engine_.watch(socket_, number_);
  engine_.wake();
}

UcxHeader::Message Channel::header_of(const RecordHeader::Message& record, const RecordTag& tag) {
  return UcxHeader{other_, sent_++, record, tag}.encode();
}

void Channel::send(const RecordHeader::Message& header, const RecordTag& tag,
                   std::span<const std::byte> data) {
  UcxLock lock(engine_.mutex);
  check(lock);
  const UcxHeader::Message message = header_of(header, tag);
  UcxOperation operation{.changed = &changed_};
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS |
                     UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  how.cb.send = [](void* /*request*/, ucs_status_t status, void* user) {
    static_cast<UcxOperation*>(user)->finish(status);
  };
  how.user_data = &operation;
  how.flags = UCP_AM_SEND_FLAG_RNDV;
  how.memory_type = UCS_MEMORY_TYPE_HOST;
  await(lock, operation,
        ucx().am_send_nbx(endpoint_, kUcxMessage, message.data(), message.size(), data.data(), data.size(),
                          &how),
        "sending");
}

void Channel::post(const RecordHeader::Message& header, const RecordTag& tag) {
  UcxLock lock(engine_.mutex);
  check(lock);
  // UCX reads it when it can send it.
  auto message = std::make_unique<UcxHeader::Message>(header_of(header, tag));
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  how.cb.send = [](void* request, ucs_status_t /*status*/, void* user) {
    delete static_cast<UcxHeader::Message*>(user);
    ucx().request_free(request);
  };
  how.user_data = message.get();
  const ucs_status_ptr_t begun =
      ucx().am_send_nbx(endpoint_, kUcxMessage, message->data(), message->size(), nullptr, 0, &how);
  if (UCS_PTR_IS_ERR(begun)) end(ucx().status_string(UCS_PTR_STATUS(begun)), true);
  if (UCS_PTR_IS_PTR(begun)) static_cast<void>(message.release());
  engine_.wake();
  check(lock);
}

void Channel::await(UcxLock& lock, UcxOperation& operation, ucs_status_ptr_t begun, const char* what) {
  if (UCS_PTR_IS_ERR(begun)) end(ucx().status_string(UCS_PTR_STATUS(begun)), true);
  if (UCS_PTR_IS_PTR(begun)) {
    engine_.wake();
    const auto patience = proven_ ? kStreamPatience : kFirstPatience;
    if (!changed_.wait_for(lock, patience, [&] { return operation.done; })) {
      end(std::string(what) + " a record has made no progress for " + std::to_string(patience.count()) + " s",
          true);
      // Closing the endpoint ends everything that UCX does for it. Until then it may use the memory.
      changed_.wait(lock, [&] { return operation.done; });
    }
    ucx().request_free(begun);
    if (operation.status != UCS_OK) end(ucx().status_string(operation.status), true);
  }
  check(lock);
  proven_ = true;
}

UcxRecord Channel::next() {
  UcxLock lock(engine_.mutex);
  changed_.wait(lock, [this] { return arrivals_.ready() || ended_; });
  if (!arrivals_.ready()) check(lock);
  return arrivals_.take();
}

void Channel::receive(const UcxRecord& record, std::span<std::byte> to) {
  if (record.data == nullptr) return;
  UcxLock lock(engine_.mutex);
  if (ended_ && !engine_.exits) ucx().am_data_release(engine_.worker, record.data);
  check(lock);
  UcxOperation operation{.changed = &changed_};
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  how.cb.recv_am = [](void* /*request*/, ucs_status_t status, std::size_t /*size*/, void* user) {
    static_cast<UcxOperation*>(user)->finish(status);
  };
  how.user_data = &operation;
  how.memory_type = UCS_MEMORY_TYPE_HOST;
  await(lock, operation, ucx().am_recv_data_nbx(engine_.worker, record.data, to.data(), to.size(), &how),
        "receiving");
}

void Channel::drop(const UcxRecord& record) {
  if (record.data == nullptr) return;
  const UcxLock lock(engine_.mutex);
  if (!engine_.exits) ucx().am_data_release(engine_.worker, record.data);
}

bool Channel::more() {
  const UcxLock lock(engine_.mutex);
  return arrivals_.ready();
}

void Channel::shut() {
  const UcxLock lock(engine_.mutex);
  shut_ = true;
  changed_.notify_all();
  end("closed");
}

bool Channel::take(const UcxHeader& header, std::size_t size, void* data) {
  if (ended_) return false;
  if (!arrivals_.add(header.number, {header.record, header.tag, size, data})) {
    end("records through UCX out of turn");
    return false;
  }
  proven_ = true;
  changed_.notify_all();
  return data != nullptr;
}

void Channel::end(const std::string& why, bool by_ucx) {
  if (ended_) return;
  ended_ = true;
  by_ucx_ = by_ucx;
  why_ = why;
  changed_.notify_all();
  engine_.close(*this);
}

void Channel::close() {
  for (void* const data : arrivals_.clear()) ucx().am_data_release(engine_.worker, data);
  ::epoll_ctl(engine_.events(), EPOLL_CTL_DEL, socket_, nullptr);
  const auto closed = [this] {
    closed_ = true;
    changed_.notify_all();
  };
  if (endpoint_ == nullptr) return closed();
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  how.flags = UCP_EP_CLOSE_FLAG_FORCE;
  how.cb.send = [](void* request, ucs_status_t /*status*/, void* user) {
    auto& channel = *static_cast<Channel*>(user);
    ucx().request_free(request);
    channel.closed_ = true;
    channel.changed_.notify_all();
  };
  how.user_data = this;
  if (!UCS_PTR_IS_PTR(ucx().ep_close_nbx(std::exchange(endpoint_, nullptr), &how))) closed();
}

void Channel::check_early() const {
  if (ended_) throw StreamBroken(why_);
}

void Channel::check(UcxLock& lock) {
  if (engine_.exits) changed_.wait(lock, [this] { return shut_; });
  if (!ended_) return;
  if (by_ucx_ && !proven_)
    throw UcxError("UCX does not get through to the other end: " + why_ +
                   ". See whether firewalls separate the hosts, or set the transport to auto");
  throw StreamBroken(by_ucx_ ? "UCX: " + why_ : why_);
}

}  // namespace

const std::string& ucx_missing() {
  return UcxLibrary::missing();
}

std::unique_ptr<UcxChannel> UcxChannel::open(int socket) {
  static_cast<void>(ucx());
  const bool bound = goes_through_tcp() && ucx_variable("UCX_NET_DEVICES").empty();
  return std::make_unique<Channel>(Engine::at(bound ? interface_of(socket) : ""), socket);
}

}  // namespace clique::protocol
