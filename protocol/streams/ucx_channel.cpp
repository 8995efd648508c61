#include "protocol/streams/ucx_channel.hpp"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "protocol/decode_error.hpp"
#include "protocol/streams/dial.hpp"
#include "protocol/streams/stream.hpp"
#include "protocol/streams/ucx_engine.hpp"
#include "protocol/throw_errno.hpp"

namespace clique::protocol {

namespace {

/// How long the first record may make no progress: firewalls that drop packets are noticed here.
constexpr std::chrono::seconds kFirstPatience{10};

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

class Channel final : public UcxChannel, private UcxEnd {
 public:
  Channel(UcxEngine& engine, int socket) : engine_(engine), socket_(socket), number_(engine.add(*this)) {}
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

 private:
  bool take(const UcxHeader& header, std::size_t size, void* data) override;
  void end(const std::string& why) override;
  /// end() for a reason that UCX has given.
  void fail(const std::string& why);
  void close() override;
  bool closed() const override { return closed_; }

  /// Throws what end() was told. While the process exits, waits for shut() before: nobody is to take that for
  /// a loss.
  void check(UcxLock& lock);
  /// The same before there is anybody who could call shut().
  void check_early() const;
  /// Waits until UCX has done it. Throws as check().
  void await(UcxLock& lock, UcxOperation& operation, ucs_status_ptr_t begun, const char* what);
  UcxHeader::Message header_of(const RecordHeader::Message& record, const RecordTag& tag);

  UcxEngine& engine_;
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
    static_cast<Channel*>(channel)->fail(ucx().status_string(status));
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
  if (UCS_PTR_IS_ERR(begun)) fail(ucx().status_string(UCS_PTR_STATUS(begun)));
  if (UCS_PTR_IS_PTR(begun)) static_cast<void>(message.release());
  engine_.wake();
  check(lock);
}

void Channel::await(UcxLock& lock, UcxOperation& operation, ucs_status_ptr_t begun, const char* what) {
  if (UCS_PTR_IS_ERR(begun)) fail(ucx().status_string(UCS_PTR_STATUS(begun)));
  if (UCS_PTR_IS_PTR(begun)) {
    engine_.wake();
    const auto patience = proven_ ? kStreamPatience : kFirstPatience;
    if (!changed_.wait_for(lock, patience, [&] { return operation.done; })) {
      fail(std::string(what) + " a record has made no progress for " + std::to_string(patience.count()) +
           " s");
      // Closing the endpoint ends everything that UCX does for it. Until then it may use the memory.
      changed_.wait(lock, [&] { return operation.done; });
    }
    ucx().request_free(begun);
    if (operation.status != UCS_OK) fail(ucx().status_string(operation.status));
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

void Channel::end(const std::string& why) {
  if (ended_) return;
  ended_ = true;
  why_ = why;
  changed_.notify_all();
  engine_.close(*this);
}

void Channel::fail(const std::string& why) {
  if (ended_) return;
  by_ucx_ = true;
  end(why);
}

void Channel::close() {
  for (void* const data : arrivals_.clear()) ucx().am_data_release(engine_.worker, data);
  engine_.unwatch(socket_);
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
  return std::make_unique<Channel>(UcxEngine::at(bound ? interface_of(socket) : ""), socket);
}

}  // namespace clique::protocol
