// Connects network namespaces like a switch whose links are slow, long or unreliable. Every host has a TAP
// device; packets that it sends are lost, delayed, duplicated or queued like tc-netem at that device would
// do. Needs no kernel module.
//
// The program ends when its standard input ends; then the devices disappear, too.
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <system_error>
#include <utility>
#include <vector>

#include "spec.hpp"

namespace clique::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRefused = 2;
constexpr int kUnavailable = 77;

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// Owns a file descriptor.
class Descriptor {
 public:
  /// @throws std::system_error with errno if `fd` is negative
  Descriptor(int fd, const std::string& what) : fd_(fd) {
    if (fd < 0) fail(what);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

/// The header that the device puts before each frame: virtio_net_hdr, whose header file is not valid C++ on
/// all systems.
struct FrameHeader {
  std::uint8_t flags;
  std::uint8_t segmentation;  // 0: the frame is one packet
  std::uint16_t header_size;
  std::uint16_t segment_size;
  std::uint16_t checksum_start;
  std::uint16_t checksum_offset;
};

/// Ethernet's header: two addresses and a type.
constexpr std::size_t kEthernetHeader = 14;
constexpr std::size_t kVlanTag = 4;
/// The headers of a TCP packet that is part of a larger frame: Ethernet's, IP's and TCP's.
constexpr std::size_t kPacketHeaders = kEthernetHeader + 20 + 32;
/// What Ethernet sends in addition to the frame: preamble, checksum and gap.
constexpr std::size_t kAroundPacket = 24;
constexpr std::size_t kLargestFrame = sizeof(FrameHeader) + kPacketHeaders + 64 * 1024;
/// Length of the device's queue: more than a sender hands over while this process is not running, so that
/// only the specified packets are lost.
constexpr int kDeviceQueue = 10000;

using Address = std::array<unsigned char, 6>;

/// A host's TAP device.
class Tap {
 public:
  /// @param network the host's network namespace: /proc/PID/ns/net
  Tap(const std::string& network, const std::string& name, const LinkSpec& spec) : fd_(open_in(network)) {
    ifreq request{};
    name.copy(request.ifr_name, sizeof request.ifr_name - 1);
    request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
    control(fd_, TUNSETIFF, &request);
    // If the same happens to all packets, many packets of a connection come as one frame, which takes less
    // processor time.
    const unsigned offloads = TUN_F_CSUM | (spec.by_chance() ? 0U : TUN_F_TSO4 | TUN_F_TSO6);
    if (ioctl(fd_.get(), TUNSETOFFLOAD, offloads) != 0) fail("TAP device");
    control(fd_, SIOCGIFHWADDR, &request);
    std::memcpy(address_.data(), request.ifr_hwaddr.sa_data, address_.size());
    const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket");
    request.ifr_mtu = static_cast<int>(spec.mtu);
    control(socket, SIOCSIFMTU, &request);
    request.ifr_qlen = kDeviceQueue;
    control(socket, SIOCSIFTXQLEN, &request);
  }

  int fd() const { return fd_.get(); }
  const Address& address() const { return address_; }

 private:
  /// Opens /dev/net/tun in a namespace. The thread stays in that namespace.
  static Descriptor open_in(const std::string& network) {
    const Descriptor space(open(network.c_str(), O_RDONLY | O_CLOEXEC), network);
    if (setns(space.get(), CLONE_NEWNET) != 0) fail(network);
    return {open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC), "/dev/net/tun"};
  }
  static void control(const Descriptor& fd, unsigned long what, ifreq* request) {
    if (ioctl(fd.get(), what, request) != 0) fail("TAP device");
  }

  Descriptor fd_;
  Address address_{};
};

/// A frame as the device delivers it, with its FrameHeader.
using Frame = std::vector<unsigned char>;

class Emulator {
 public:
  Emulator(const LinkSpec& spec, std::uint64_t seed) : spec_(spec), random_(seed) {}

  void add(const std::string& network, const std::string& device) {
    hosts_.push_back({Tap(network, device, spec_), {}, {}, 0});
    addresses_[hosts_.back().tap.address()] = hosts_.size() - 1;
  }

  /// Forwards packets until standard input ends.
  void run() {
    std::vector<pollfd> sources{{STDIN_FILENO, POLLIN, 0}};
    for (const Host& host : hosts_) sources.push_back({host.tap.fd(), POLLIN, 0});
    while (sources[0].revents == 0) {
      wait(sources);
      for (std::size_t i = 0; i < hosts_.size(); ++i)
        if (sources[i + 1].revents != 0) take(i);
      deliver();
    }
  }

  /// Prints how many packets were lost.
  void report() const {
    std::fprintf(
        stderr,
        "link_emulator: of %zu packets, %zu were lost, and %zu more were dropped because a queue was full\n",
        packets_, lost_, refused_);
  }

 private:
  struct Host {
    Tap tap;
    Clock::time_point free_at;  // when everything that it has sent so far has left
    std::deque<std::pair<Clock::time_point, std::size_t>>
        waiting;  // when they have left, and how many packets
    std::size_t waiting_packets;
  };
  struct Delivery {
    std::size_t from;
    Frame frame;
  };

  /// Waits until there is something to take or to deliver.
  void wait(std::vector<pollfd>& sources) const {
    timespec rest{};
    if (!under_way_.empty()) {
      const auto until = std::max(under_way_.begin()->first - Clock::now(), Clock::duration::zero());
      rest.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(until).count();
      rest.tv_nsec = (until % std::chrono::seconds(1)).count();
    }
    if (ppoll(sources.data(), sources.size(), under_way_.empty() ? nullptr : &rest, nullptr) < 0 &&
        errno != EINTR)
      fail("ppoll");
  }

  /// Takes some of the frames that a host has sent. The number is limited, so that all hosts get their turn.
  void take(std::size_t host) {
    std::array<unsigned char, kLargestFrame> data;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    for (int i = 0; i < 16; ++i) {
      const ssize_t size = read(hosts_[host].tap.fd(), data.data(), data.size());
      if (size < 0 && errno != EAGAIN && errno != EINTR) fail("read");
      if (size <= 0) return;
      const Frame frame(data.begin(), data.begin() + size);
      const std::size_t packets = packets_of(frame);
      packets_ += packets;
      // Like netem: a packet that is both lost and duplicated arrives once.
      const int copies = 1 + (chance(spec_.duplicate) ? 1 : 0) - (chance(spec_.loss) ? 1 : 0);
      if (copies == 0) lost_ += packets;
      for (int copy = 0; copy < copies; ++copy) send(host, frame, packets);
    }
  }

  /// The number of packets that a frame is on the link; 0 if its size is invalid.
  std::size_t packets_of(const Frame& frame) const {
    if (frame.size() < sizeof(FrameHeader) + kEthernetHeader) return 0;
    FrameHeader header{};
    std::memcpy(&header, frame.data(), sizeof header);
    const std::size_t size = frame.size() - sizeof header;
    if (header.segmentation == 0) return size <= kEthernetHeader + kVlanTag + spec_.mtu ? 1 : 0;
    if (header.segment_size == 0 || size <= kPacketHeaders) return 0;
    return (size - kPacketHeaders + header.segment_size - 1) / header.segment_size;
  }

  /// Sends a frame over the link of its host.
  void send(std::size_t from, const Frame& frame, std::size_t packets) {
    if (packets == 0) return;
    Host& host = hosts_[from];
    const Clock::time_point now = Clock::now();
    Clock::time_point due = now;
    if (spec_.rate > 0) {
      for (; !host.waiting.empty() && host.waiting.front().first <= now; host.waiting.pop_front())
        host.waiting_packets -= host.waiting.front().second;
      if (host.waiting_packets >= spec_.limit) {
        refused_ += packets;
        return;
      }
      const std::size_t bytes =
          frame.size() - sizeof(FrameHeader) + (packets - 1) * kPacketHeaders + packets * kAroundPacket;
      host.free_at =
          std::max(host.free_at, now) +
          std::chrono::nanoseconds(static_cast<std::int64_t>(8e9 * static_cast<double>(bytes) / spec_.rate));
      host.waiting.emplace_back(host.free_at, packets);
      host.waiting_packets += packets;
      due = host.free_at;
    }
    if (!chance(spec_.reorder)) due += delay();
    under_way_.emplace(due, Delivery{from, frame});
  }

  /// Delivers all frames that are due. Frames that are due at the same time keep their order.
  void deliver() {
    while (!under_way_.empty() && under_way_.begin()->first <= Clock::now()) {
      const auto [from, frame] = std::move(under_way_.begin()->second);
      under_way_.erase(under_way_.begin());
      Address to{};
      std::copy_n(frame.begin() + sizeof(FrameHeader), to.size(), to.begin());
      if ((to[0] & 1U) != 0) {
        for (std::size_t host = 0; host < hosts_.size(); ++host)
          if (host != from) put(host, frame);
      } else if (const auto host = addresses_.find(to); host != addresses_.end()) {
        put(host->second, frame);
      }
    }
  }
  /// Writes a frame to a host's device. A device that is down drops it.
  void put(std::size_t host, const Frame& frame) {
    (void)!write(hosts_[host].tap.fd(), frame.data(), frame.size());
  }

  bool chance(double probability) { return probability > 0 && zero_to_one_(random_) < probability; }
  Clock::duration delay() {
    if (spec_.jitter.count() == 0) return spec_.delay;
    const double off = (2 * zero_to_one_(random_) - 1) * static_cast<double>(spec_.jitter.count());
    return std::max(spec_.delay + std::chrono::nanoseconds(static_cast<std::int64_t>(off)),
                    Clock::duration::zero());
  }

  LinkSpec spec_;
  std::vector<Host> hosts_;
  std::map<Address, std::size_t> addresses_;
  std::multimap<Clock::time_point, Delivery> under_way_;
  std::mt19937_64 random_;
  std::uniform_real_distribution<> zero_to_one_;
  std::size_t packets_ = 0;
  std::size_t lost_ = 0;
  std::size_t refused_ = 0;
};

int run(const LinkSpec& spec, const std::string& device, const std::vector<std::string>& networks) {
  const std::uint64_t seed = spec.seed.value_or(std::random_device()());
  Emulator emulator(spec, seed);
  try {
    for (const std::string& network : networks) emulator.add(network, device);
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "link_emulator: %s\n", error.what());
    return kUnavailable;
  }
  if (spec.by_chance())
    std::fprintf(stderr, "link_emulator: seed %llu\n", static_cast<unsigned long long>(seed));
  std::puts("ready");
  std::fflush(stdout);
  prctl(PR_SET_TIMERSLACK, 1);
  emulator.run();
  emulator.report();
  return 0;
}

}  // namespace
}  // namespace clique::test

int main(int argc, char** argv) {
  CLI::App app(
      "Connects network namespaces by links that delay, lose, duplicate, reorder or queue packets. Prints "
      "\"ready\" when each namespace has its device, and ends when standard input ends.");
  std::string spec;
  std::string device = "eth0";
  std::vector<std::string> networks;
  app.add_option("--device", device, "name of the device in each namespace")->capture_default_str();
  app.add_option(
         "spec", spec,
         "properties of the links: delay TIME [JITTER], loss P%, duplicate P%, reorder P%, rate RATE, "
         "limit PACKETS, mtu BYTES, seed NUMBER")
      ->required();
  app.add_option("networks", networks, "network namespaces: /proc/PID/ns/net")->required();
  try {
    app.parse(argc, argv);
    return clique::test::run(clique::test::parse_link_spec(spec), device, networks);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : clique::test::kRefused;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "link_emulator: %s\n", error.what());
    return clique::test::kRefused;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "link_emulator: %s\n", error.what());
    return 1;
  }
}
