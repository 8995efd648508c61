// Shared memory whose other side obeys no rule: the input says what that side writes into lanes, rings and
// arenas, and what this side does in between. A second thread of the other side can change a number again and
// again, so that it may differ between a check and a use.
#include "protocol/transport/shared_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

#include "protocol/messages.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz::target_shared_memory {
namespace {

using namespace clique::protocol;

// The layout, as protocol/README.md describes it.
constexpr std::size_t kLane = 16U << 10U;
constexpr std::size_t kRings = 2 * kLane;
constexpr std::size_t kArenas = kRings + 2 * SharedMemory::kRing;
constexpr std::size_t kTotal = kArenas + 2 * SharedMemory::kArena;
constexpr std::size_t kWritten = 64;
constexpr std::size_t kRead = 128;
constexpr std::size_t kLent = 320;

/// Blocks that this side takes are large enough to travel as they are.
constexpr std::size_t kLeastBlock = kInlinePayload + 1;
/// Payloads that this side keeps at a time, at most.
constexpr std::size_t kMostHeld = 64;
/// The longest input that is read, so that a run takes milliseconds.
constexpr std::size_t kMostSteps = 256;

/// The thread of the other side: while it runs, a number in the memory is one value or another.
class Flipper {
 public:
  Flipper() : thread_([this](const std::stop_token& stop) { run(stop); }) {}
  ~Flipper() {
    thread_.request_stop();
    set(nullptr, 0, 0);
    turn_.fetch_add(1);
    turn_.notify_one();
  }
  Flipper(const Flipper&) = delete;
  Flipper& operator=(const Flipper&) = delete;

  /// From now on `*place` is `one` or `other`; null: nothing changes. The earlier place does not change after
  /// this call.
  void set(std::uint32_t* place, std::uint32_t one, std::uint32_t other) {
    while (busy_.exchange(true)) std::this_thread::yield();
    const bool start = place_ == nullptr && place != nullptr;
    place_ = place;
    values_ = {one, other};
    busy_.store(false);
    if (!start) return;
    turn_.fetch_add(1);
    turn_.notify_one();
  }

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const std::uint32_t turn = turn_.load();
      if (!flip()) turn_.wait(turn);
    }
  }
  bool flip() {
    constexpr int kTimes = 64;
    if (busy_.exchange(true)) return true;
    const bool active = place_ != nullptr;
    for (int i = 0; active && i < kTimes; ++i)
      std::atomic_ref(*place_).store(values_.at(static_cast<std::size_t>(i % 2)), std::memory_order_relaxed);
    busy_.store(false);
    if (active) std::this_thread::yield();
    return active;
  }

  std::atomic<bool> busy_ = false;  // guards the two members below
  std::uint32_t* place_ = nullptr;
  std::array<std::uint32_t, 2> values_{};
  std::atomic<std::uint32_t> turn_ = 0;
  std::jthread thread_;
};

Flipper& flipper() {
  static Flipper one;
  return one;
}

Fd duplicate(int fd) {
  return Fd(::dup(fd));
}

/// One session: this side is what Clique runs, the other side is the input's.
class Session {
 public:
  explicit Session(Input& input) : input_(input) {
    const auto kind = input.number<std::uint8_t>();
    guest_ = (kind & 1U) != 0;
    if ((kind & 2U) != 0) {
      begin_in_region();
      return;
    }
    const auto worker = SharedMemory::create();
    const auto fds = worker->descriptors();
    void* const all = ::mmap(nullptr, kTotal, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
    require(all != MAP_FAILED, "the system has memory");
    raw_ = {static_cast<std::byte*>(all), kTotal};
    own_ = guest_ ? SharedMemory::open(duplicate(fds[0]), duplicate(fds[1]), duplicate(fds[2])) : worker;
  }
  ~Session() {
    flipper().set(nullptr, 0, 0);
    ::munmap(raw_.data(), raw_.size());
    held_.clear();
    blocks_.clear();
    batch_.clear();
    own_->forget_loans();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Throws DecodeError, which ends sessions.
  void run() {
    for (std::size_t step = 0; step < kMostSteps && !input_.empty(); ++step) this->step();
  }

 private:
  /// In memory of a virtual machine.
  void begin_in_region() {
    const Fd file(::memfd_create("fuzz", MFD_CLOEXEC));
    require(file && ::ftruncate(file.get(), static_cast<off_t>(SharedMemory::kBytes)) == 0,
            "there is memory");
    const auto region = [&file] { return SharedSegment::part_of(file, 0, SharedMemory::kBytes); };
    const auto worker = SharedMemory::create_in(region());
    void* const all = ::mmap(nullptr, kTotal, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    require(all != MAP_FAILED, "the system has memory");
    raw_ = {static_cast<std::byte*>(all), kTotal};
    own_ = guest_ ? SharedMemory::open_in(region()) : worker;
  }

  /// The lane in which this side receives, and the one in which it sends; likewise for rings and arenas.
  std::byte* lane(bool inward) const { return raw_.data() + (inward == guest_ ? 0 : kLane); }
  std::byte* ring() const { return raw_.data() + kRings + (guest_ ? SharedMemory::kRing : 0); }
  std::byte* arena() const { return raw_.data() + kArenas + (guest_ ? SharedMemory::kArena : 0); }
  template <typename T>
  static std::atomic_ref<T> at(std::byte* place) {
    return std::atomic_ref(*reinterpret_cast<T*>(place));
  }

  void step() {
    switch (input_.number<std::uint8_t>() % 16) {
      case 0:
        return write_entry();
      case 1:
        return write_ring();
      case 2:
        return receive();
      case 3:
        at<std::uint64_t>(lane(true) + kWritten).fetch_add(input_.number<std::uint16_t>());
        return;
      case 4: {
        const auto field = input_.number<std::uint8_t>() % 4U;
        at<std::uint64_t>(lane((input_.number<std::uint8_t>() & 1U) != 0) + kWritten + 64 * field)
            .store(input_.number<std::uint64_t>());
        return;
      }
      case 5:
        at<std::uint32_t>(lane((input_.number<std::uint8_t>() & 1U) != 0) + kLent +
                          4 * (input_.number<std::uint16_t>() % SharedMemory::kLoans))
            .store(input_.number<std::uint32_t>());
        return;
      case 6:
        return acknowledge();
      case 7:
        return send();
      case 8:
        own_->try_send_elsewhere();
        return;
      case 9:
        own_->collect();
        return;
      case 10:
        if (blocks_.size() < kMostHeld)
          blocks_.push_back(own_->take(kLeastBlock + 64U * input_.number<std::uint16_t>()));
        return;
      case 11:
        if (!blocks_.empty()) blocks_.erase(blocks_.begin());
        return;
      case 12:
        if (!held_.empty()) held_.erase(held_.begin());
        return;
      case 13:
        own_->arm();
        own_->arm_for_returns();
        return;
      case 14:
        own_->hush();
        return;
      default:
        return flip();
    }
  }

  /// An entry as a correct side would write it, but for its numbers.
  void write_entry() {
    const auto records = input_.take(input_.number<std::uint8_t>());
    const std::uint32_t announced = input_.number<std::uint8_t>();
    const std::uint32_t payloads = input_.number<std::uint8_t>() % 4U;
    Output entry;
    entry.number(static_cast<std::uint32_t>(announced == 0 ? records.size() : announced));
    entry.number(payloads == 3 ? ~std::uint32_t{0} : payloads);
    for (std::uint32_t i = 0; i < payloads % 3; ++i) {
      const auto loan = static_cast<std::uint32_t>(input_.number<std::uint16_t>());
      const auto size = input_.number<std::uint32_t>();
      entry.number(loan).number(size).number(input_.number<std::uint64_t>());
    }
    entry.bytes(records);
    const std::size_t padded = (entry.text().size() + 7) / 8 * 8;
    auto written = at<std::uint64_t>(lane(true) + kWritten);
    copy_into_ring(written.load(), bytes_of(entry.text()));
    written.fetch_add(padded);
  }
  void write_ring() {
    const auto place = at<std::uint64_t>(lane(true) + kWritten).load() - input_.number<std::uint8_t>();
    copy_into_ring(place, input_.take(input_.number<std::uint8_t>()));
  }
  void copy_into_ring(std::uint64_t place, std::span<const std::byte> bytes) const {
    // The flipper may be writing there, too.
    for (const std::byte byte : bytes)
      at<std::byte>(ring() + place++ % SharedMemory::kRing).store(byte, std::memory_order_relaxed);
  }
  /// The other side has received what this side has sent, or says something like it.
  void acknowledge() {
    const auto written = at<std::uint64_t>(lane(false) + kWritten).load();
    at<std::uint64_t>(lane(false) + kRead).store(written - input_.number<std::uint8_t>());
  }

  void receive() {
    Incoming incoming;
    if (own_->receive(incoming) != SharedMemory::Received::Batch) return;
    require(incoming.records.size() <= SharedMemory::kRing, "records come from the ring");
    std::uint64_t sum = 0;
    for (const Payload& frame : incoming.frames) {
      require(SharedMemory::inside(own_->incoming(), frame.bytes), "payloads lie in the arena");
      if (!frame.bytes.empty()) sum += static_cast<std::uint64_t>(frame.bytes.front() ^ frame.bytes.back());
    }
    [[maybe_unused]] static volatile std::uint64_t sink;
    sink = sum;
    const auto keep = [&](auto&& /*message*/) {
      for (const Payload& frame : incoming.frames)
        if (held_.size() < kMostHeld) held_.push_back(frame);
    };
    if (guest_)
      reader_.read(WorkerMessages{}, incoming.records, incoming.frames, incoming.owner, keep);
    else
      reader_.read(ClientMessages{}, incoming.records, incoming.frames, incoming.owner, keep);
  }

  void send() {
    static const std::vector<std::byte> data(std::size_t{64} << 10U);
    const std::size_t size = input_.number<std::uint16_t>();
    if (batch_.empty()) {
      // A block may be sent as it is.
      Payload payload{{data.data(), size}, nullptr};
      if (!blocks_.empty() && blocks_.front() && size > kInlinePayload && size % 2 == 0) {
        payload = {{blocks_.front().get(), kLeastBlock}, blocks_.front()};
      }
      batch_.add(PeerData{1, 2, 0, payload});
    }
    own_->try_send(batch_);
  }

  /// Numbers of the next entry, or of the lanes, change from now on.
  void flip() {
    std::byte* place = nullptr;
    const auto which = input_.number<std::uint8_t>();
    const auto offset = input_.number<std::uint8_t>() / 4U * 4U;
    if (which % 4 == 0)
      place = lane(true) + kWritten;
    else if (which % 4 == 1)
      place = lane(false) + kRead;
    else if (which % 4 == 2)
      place = arena() + offset;
    else
      place = ring() + (at<std::uint64_t>(lane(true) + kRead).load() / 4 * 4 + offset) % SharedMemory::kRing;
    const auto one = input_.number<std::uint32_t>();
    flipper().set(reinterpret_cast<std::uint32_t*>(place), one, input_.number<std::uint32_t>());
  }

  Input& input_;
  bool guest_ = false;
  std::span<std::byte> raw_;
  std::shared_ptr<SharedMemory> own_;
  BatchReader reader_;
  Batch batch_;
  std::vector<Payload> held_;
  std::vector<std::shared_ptr<std::byte>> blocks_;
};

std::string entry(const Batch& batch, std::uint8_t payloads, std::uint32_t size) {
  Output output;
  output.number(std::uint8_t{0}).number(static_cast<std::uint8_t>(batch.size())).bytes(batch.records());
  output.number(std::uint8_t{0}).number(payloads);
  if (payloads == 1) output.number(std::uint16_t{5}).number(size).number(std::uint64_t{256});
  return output.text();
}

std::vector<std::string> seeds() {
  const std::vector<std::byte> large(kInlinePayload + 1);
  Batch data;
  data.add(PeerData{1, 2, 0, {large, nullptr}});
  Batch small;
  small.add(PeerData{1, 2, 0, {}});
  const std::string receive = "\x02";
  std::vector<std::string> all;
  for (const char kind : {'\0', '\1', '\2', '\3'}) {
    const std::string side(1, kind);
    all.push_back(side + entry(small, 0, 0) + receive + entry(data, 1, 2000) + receive + "\x0c");
    // Elsewhere, and an entry that grows while it is received.
    all.push_back(side + entry(Batch(), 3, 0) + receive + entry(data, 1, 2000) +
                  Output()
                      .number(std::uint8_t{15})
                      .number(std::uint8_t{3})
                      .number(std::uint8_t{0})
                      .number(std::uint32_t{20})
                      .number(std::uint32_t{0xffff'ffff})
                      .text() +
                  receive);
    // Sends small and large payloads, and blocks; the other side reads them and gives them back.
    all.push_back(side + std::string("\x07\x10\x00\x06\x00\x07\x00\x20\x0a\x40\x00\x07\x00\x20\x06\x00", 16) +
                  std::string("\x05\x00\xff\x03\x00\x00\x00\x00\x09\x0b\x0d\x0e\x08", 13));
  }
  return all;
}

void test(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  Session session(input);
  try {
    session.run();
  } catch (const DecodeError&) {
    return;
  }
}

const Registration kTarget{"shared_memory", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_shared_memory
