// Connects network namespaces like a switch whose links are slow, long or unreliable. Every host has a TAP
// device; packets that it sends are lost, delayed, duplicated or queued like tc-netem at that device would
// do. Needs no kernel module. A thread for each host carries what that host sends.
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
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "frame.hpp"
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
    // Unless each packet has a delay of its own, many packets of a connection come as one frame, which takes
    // less processor time.
    const bool apart = spec.jitter.count() > 0 || spec.reorder > 0;
    const unsigned offloads = TUN_F_CSUM | (apart ? 0U : TUN_F_TSO4 | TUN_F_TSO6);
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

/// What has happened to packets.
struct Counts {
  std::size_t packets = 0;
  std::size_t lost = 0;
  std::size_t refused = 0;
};

/// The hosts' devices.
struct Switch {
  std::vector<Tap> taps;
  std::map<Address, std::size_t> hosts;  // by the address of their device
};

/// The link from one host to the switch, with the packets that are on it.
class Uplink {
 public:
  Uplink(const LinkSpec& spec, const Switch& network, std::size_t host, std::uint64_t seed)
      : spec_(spec), switch_(network), host_(host), random_(seed + host) {}

  /// Carries packets until standard input ends.
  void run() {
    std::array<pollfd, 2> sources{{{STDIN_FILENO, POLLIN, 0}, {tap().fd(), POLLIN, 0}}};
    while (sources[0].revents == 0) {
      wait(sources);
      if (sources[1].revents != 0) take();
      deliver();
    }
  }

  const Counts& counts() const { return counts_; }

 private:
  const Tap& tap() const { return switch_.taps[host_]; }

  /// Waits until there is something to take or to deliver.
  void wait(std::array<pollfd, 2>& sources) const {
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

  /// Takes some of the frames that the host has sent: not all, because others are due in the meantime.
  void take() {
    for (int i = 0; i < 4; ++i) {
      Frame frame = unused();
      const ssize_t size = read(tap().fd(), frame.data(), frame.size());
      if (size < 0 && errno != EAGAIN && errno != EINTR) fail("read");
      if (size <= 0) return spare_.push_back(std::move(frame));
      const std::size_t packets = packets_in({frame.data(), static_cast<std::size_t>(size)}, spec_.mtu);
      counts_.packets += packets;
      // A small frame leaves the large memory to the next one.
      if (static_cast<std::size_t>(size) < kLargestFrame / 4) {
        Frame copy(frame.begin(), frame.begin() + size);
        spare_.push_back(std::exchange(frame, std::move(copy)));
      } else {
        frame.resize(static_cast<std::size_t>(size));
      }
      send_survivors(std::move(frame), packets);
    }
  }

  /// Memory for any frame.
  Frame unused() {
    if (spare_.empty()) return Frame(kLargestFrame);
    Frame frame = std::move(spare_.back());
    spare_.pop_back();
    frame.resize(kLargestFrame);
    return frame;
  }

  /// Sends the packets of a frame that are not lost, in as few frames as possible.
  void send_survivors(Frame frame, std::size_t packets) {
    std::size_t sent = 0;  // the packets about which chance has decided, and that are sent or lost
    for (std::size_t packet = 0; packet < packets; ++packet) {
      // Like netem: a packet that is both lost and duplicated arrives once.
      const int copies = 1 + (chance(spec_.duplicate) ? 1 : 0) - (chance(spec_.loss) ? 1 : 0);
      if (copies == 1) continue;
      if (copies == 0) ++counts_.lost;
      if (packet > sent) send(part_of(frame, sent, packet), packet - sent);
      for (int copy = 0; copy < copies; ++copy) send(part_of(frame, packet, packet + 1), 1);
      sent = packet + 1;
    }
    if (sent == packets) return;
    if (sent == 0)
      send(std::move(frame), packets);
    else
      send(part_of(frame, sent, packets), packets - sent);
  }

  /// Sends a frame over the link.
  void send(Frame frame, std::size_t packets) {
    const Clock::time_point now = Clock::now();
    Clock::time_point due = now;
    if (spec_.rate > 0) {
      for (; !waiting_.empty() && waiting_.front().first <= now; waiting_.pop_front())
        waiting_packets_ -= waiting_.front().second;
      if (waiting_packets_ >= spec_.limit) {
        counts_.refused += packets;
        return;
      }
      const std::size_t bytes =
          frame.size() - sizeof(FrameHeader) + (packets - 1) * kPacketHeaders + packets * kAroundPacket;
      free_at_ =
          std::max(free_at_, now) +
          std::chrono::nanoseconds(static_cast<std::int64_t>(8e9 * static_cast<double>(bytes) / spec_.rate));
      waiting_.emplace_back(free_at_, packets);
      waiting_packets_ += packets;
      due = free_at_;
    }
    if (!chance(spec_.reorder)) due += delay();
    under_way_.emplace_hint(under_way_.end(), due, std::move(frame));
  }

  /// Delivers all frames that are due. Frames that are due at the same time keep their order.
  void deliver() {
    while (!under_way_.empty() && under_way_.begin()->first <= Clock::now()) {
      Frame frame = std::move(under_way_.begin()->second);
      under_way_.erase(under_way_.begin());
      Address to{};
      std::copy_n(frame.begin() + sizeof(FrameHeader), to.size(), to.begin());
      if ((to[0] & 1U) != 0) {
        for (std::size_t host = 0; host < switch_.taps.size(); ++host)
          if (host != host_) put(host, frame);
      } else if (const auto host = switch_.hosts.find(to); host != switch_.hosts.end()) {
        put(host->second, frame);
      }
      if (frame.capacity() >= kLargestFrame && spare_.size() < kMostSpare) spare_.push_back(std::move(frame));
    }
  }
  /// Writes a frame to a host's device. A device that is down drops it.
  void put(std::size_t host, const Frame& frame) const {
    (void)!write(switch_.taps[host].fd(), frame.data(), frame.size());
  }

  bool chance(double probability) { return probability > 0 && zero_to_one_(random_) < probability; }
  Clock::duration delay() {
    if (spec_.jitter.count() == 0) return spec_.delay;
    const double off = (2 * zero_to_one_(random_) - 1) * static_cast<double>(spec_.jitter.count());
    return std::max(spec_.delay + std::chrono::nanoseconds(static_cast<std::int64_t>(off)),
                    Clock::duration::zero());
  }

  static constexpr std::size_t kMostSpare = 256;

  LinkSpec spec_;
  const Switch& switch_;
  std::size_t host_;
  Clock::time_point free_at_;  // when everything that the host has sent so far has left
  std::deque<std::pair<Clock::time_point, std::size_t>>
      waiting_;  // when they have left, and how many packets
  std::size_t waiting_packets_ = 0;
  std::multimap<Clock::time_point, Frame> under_way_;
  std::vector<Frame> spare_;
  std::mt19937_64 random_;
  std::uniform_real_distribution<> zero_to_one_;
  Counts counts_;
};

/// Carries the packets of all hosts until standard input ends.
void carry(std::deque<Uplink>& uplinks) {
  std::vector<std::jthread> threads;
  for (Uplink& uplink : uplinks)
    threads.emplace_back([&uplink] {
      try {
        uplink.run();
      } catch (const std::exception& error) {
        std::fprintf(stderr, "link_emulator: %s\n", error.what());
        std::_Exit(1);
      }
    });
}

/// Prints how many packets were lost.
void report(const std::deque<Uplink>& uplinks) {
  Counts all;
  for (const Uplink& uplink : uplinks) {
    all.packets += uplink.counts().packets;
    all.lost += uplink.counts().lost;
    all.refused += uplink.counts().refused;
  }
  std::fprintf(
      stderr,
      "link_emulator: of %zu packets, %zu were lost, and %zu more were dropped because a queue was full\n",
      all.packets, all.lost, all.refused);
}

int run(const LinkSpec& spec, const std::string& device, const std::vector<std::string>& networks) {
  const std::uint64_t seed = spec.seed.value_or(std::random_device()());
  Switch network;
  try {
    for (const std::string& name : networks) {
      network.taps.emplace_back(name, device, spec);
      network.hosts[network.taps.back().address()] = network.taps.size() - 1;
    }
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "link_emulator: %s\n", error.what());
    return kUnavailable;
  }
  if (spec.by_chance())
    std::fprintf(stderr, "link_emulator: seed %llu\n", static_cast<unsigned long long>(seed));
  std::puts("ready");
  std::fflush(stdout);
  // Threads inherit it.
  prctl(PR_SET_TIMERSLACK, 1);
  std::deque<Uplink> uplinks;
  for (std::size_t host = 0; host < network.taps.size(); ++host)
    uplinks.emplace_back(spec, network, host, seed);
  carry(uplinks);
  report(uplinks);
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
