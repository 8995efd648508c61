// A long line between two network namespaces, for kernels without netem: packets arrive after a delay, and no
// more of them than a rate allows. Each end is a TUN device; who uses it gives it addresses and routes.
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <thread>

#include "network.hpp"

namespace {

using namespace bench;

struct LineOptions : Options {
  std::string near;
  std::string far;
  std::string name = "line";
  double rate = 1;   // Gb/s
  double delay = 1;  // ms, each way
};

/// What the device says before each packet: virtio_net_hdr, whose header file is no C++ everywhere.
struct PacketHeader {
  uint8_t flags;
  uint8_t segmentation;  // 0: the packet is one segment
  uint16_t header_size;
  uint16_t segment_size;
  uint16_t checksum_start;
  uint16_t checksum_offset;
};

/// Ethernet's, IP's and TCP's share of each segment, which the device passes on many at a time.
constexpr size_t segment_overhead = 90;
constexpr size_t largest_packet = sizeof(PacketHeader) + 64 * kib;

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// A TUN device in a network namespace, which lasts as long as this object.
class Device {
 public:
  Device(const std::string& network, const std::string& name)
      : fd_(in_network(network, [] { return open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC); })) {
    if (fd_ < 0) fail("/dev/net/tun");
    ifreq request{};
    std::strncpy(request.ifr_name, name.c_str(), sizeof request.ifr_name - 1);
    request.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
    // Large packets stay whole, or the processor would be what limits the line.
    if (ioctl(fd_, TUNSETIFF, &request) != 0 || ioctl(fd_, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4) != 0)
      fail("TUN device");
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() { close(fd_); }
  int fd() const { return fd_; }

 private:
  int fd_;
};

/// One direction of the line.
class Direction {
 public:
  Direction(const Device& from, const Device& to, const LineOptions& options)
      : from_(from.fd()),
        to_(to.fd()),
        seconds_per_byte_(8e-9 / options.rate),
        delay_(1e-3 * options.delay),
        // A round trip's worth, as routers have it, and what one sender may hand over at once.
        longest_queue_(2 * delay_ + std::chrono::milliseconds(10)) {}

  /// Does not return.
  void run() {
    prctl(PR_SET_TIMERSLACK, 1);
    for (;;) {
      wait();
      take();
      deliver();
    }
  }

 private:
  using Buffer = std::unique_ptr<std::array<char, largest_packet>>;
  struct Packet {
    Clock::time_point due;
    size_t size;
    Buffer data;
  };

  /// Until there is something to take or to deliver.
  void wait() const {
    timespec rest{};
    if (!packets_.empty()) {
      const auto until = std::max(packets_.front().due - Clock::now(), Clock::duration::zero());
      rest.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(until).count();
      rest.tv_nsec = (until % std::chrono::seconds(1)).count();
    }
    pollfd source{from_, POLLIN, 0};
    if (ppoll(&source, 1, packets_.empty() ? nullptr : &rest, nullptr) < 0 && errno != EINTR) fail("ppoll");
  }
  /// Takes what has come, as much at a time as is worth looking at the clock for.
  void take() {
    for (int i = 0; i < 16; ++i) {
      if (spare_.empty()) spare_.push_back(std::make_unique<Buffer::element_type>());
      const ssize_t size = read(from_, spare_.back()->data(), largest_packet);
      if (size < 0 && errno != EAGAIN && errno != EINTR) fail("read");
      if (size <= 0) return;
      const auto now = Clock::now();
      if (free_at_ > now + longest_queue_) continue;  // A full queue loses what comes.
      free_at_ = std::max(free_at_, now) +
                 std::chrono::duration_cast<Clock::duration>(
                     bytes_on_the_line(*spare_.back(), static_cast<size_t>(size)) * seconds_per_byte_);
      packets_.push_back({free_at_ + std::chrono::duration_cast<Clock::duration>(delay_),
                          static_cast<size_t>(size), std::move(spare_.back())});
      spare_.pop_back();
    }
  }
  void deliver() {
    while (!packets_.empty() && packets_.front().due <= Clock::now()) {
      Packet& packet = packets_.front();
      // A device that does not take it, since nobody is there any more, loses it.
      (void)!write(to_, packet.data->data(), packet.size);
      spare_.push_back(std::move(packet.data));
      packets_.pop_front();
    }
  }
  static double bytes_on_the_line(const Buffer::element_type& data, size_t size) {
    PacketHeader header{};
    std::memcpy(&header, data.data(), sizeof header);
    const size_t bytes = size - sizeof header;
    const size_t segments =
        header.segmentation == 0 ? 1 : (bytes + header.segment_size - 1) / header.segment_size;
    return static_cast<double>(bytes + segments * segment_overhead);
  }

  int from_;
  int to_;
  Seconds seconds_per_byte_;
  Seconds delay_;
  Seconds longest_queue_;
  Clock::time_point free_at_;
  std::deque<Packet> packets_;
  std::vector<Buffer> spare_;
};

void run_line(const LineOptions& options) {
  const Device near(options.near, options.name);
  const Device far(options.far, options.name);
  std::puts("ready");
  std::fflush(stdout);
  std::thread back([&] { Direction(far, near, options).run(); });
  Direction(near, far, options).run();
}

}  // namespace

int main(int argc, char** argv) {
  LineOptions options;
  const auto add = [&](CLI::App& app) {
    app.add_option("--near", options.near, "network namespace of one end: /proc/PID/ns/net; by default ours");
    app.add_option("--far", options.far, "that of the other end")->required();
    app.add_option("--name", options.name, "of the devices")->capture_default_str();
    app.add_option("--rate", options.rate, "Gb/s in each direction")->capture_default_str();
    app.add_option("--delay", options.delay, "milliseconds in each direction")->capture_default_str();
  };
  return bench::run(argc, argv, "A long line between two network namespaces", options, add,
                    [&] { run_line(options); });
}
