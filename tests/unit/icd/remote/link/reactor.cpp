#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "icd/remote/link/reactor.hpp"
#include "unit/icd/remote/fakes.hpp"

namespace clique::icd::test {
namespace {

using namespace std::chrono_literals;

/// A client with one descriptor.
class Served : public Reactor::Client {
 public:
  Served() : Client(Reactor::instance()) { Reactor::instance().add(*this); }
  ~Served() override {
    Reactor::instance().remove(*this);
    ::close(fd_);
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  void serve(Reactor::Clock::time_point /*now*/) override {
    std::uint64_t value = 0;
    if (::read(fd_, &value, sizeof value) == sizeof value) arrived.fetch_add(1);
    served.fetch_add(1);
  }
  bool watch(Reactor::Clock::time_point /*now*/, std::vector<int>& fds) override {
    fds.push_back(fd_);
    return !busy.load();
  }
  void arrive() const {
    const std::uint64_t one = 1;
    ASSERT_EQ(::write(fd_, &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }
  void become_busy() {
    busy.store(true);
    stir();
  }
  using Client::stir;

  std::atomic<bool> busy{false};
  std::atomic<int> served{0};
  std::atomic<int> arrived{0};

 private:
  const int fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
};

/// Waits until a count no longer changes. @returns the count.
int settled(const std::atomic<int>& count) {
  int last = -1;
  while (last != count.load()) {
    last = count.load();
    std::this_thread::sleep_for(50ms);
  }
  return last;
}

TEST(Reactor, GivenClientsAtRestThenOnlyTheBusyOneIsServed) {
  Served busy;
  Served resting[2];
  busy.become_busy();
  // On a busy machine they may seem to rest before they do.
  EXPECT_TRUE(eventually([&] {
    const int before[] = {settled(resting[0].served), settled(resting[1].served)};
    const int at = busy.served;
    return eventually([&] { return busy.served > at + 100; }) && resting[0].served == before[0] &&
           resting[1].served == before[1];
  }));
}

TEST(Reactor, GivenNewsForAClientAtRestThenItIsServed) {
  Served busy;
  Served resting[2];
  busy.become_busy();
  for (int i = 1; i < 20; ++i) {
    settled(resting[1].served);
    resting[1].arrive();
    ASSERT_TRUE(eventually([&] { return resting[1].arrived == i; }));
  }
  const int before = settled(resting[0].served);
  resting[0].stir();
  EXPECT_TRUE(eventually([&] { return resting[0].served > before; }));
}

TEST(Reactor, GivenAllAtRestThenNewsWakeIt) {
  Served resting[2];
  for (int i = 1; i < 20; ++i) {
    settled(resting[1].served);
    resting[1].arrive();
    ASSERT_TRUE(eventually([&] { return resting[1].arrived == i; }));
  }
  const auto wakeups = Reactor::instance().wakeups();
  std::this_thread::sleep_for(50ms);
  EXPECT_LE(Reactor::instance().wakeups(), wakeups + 30) << "it does not sleep";
}

}  // namespace
}  // namespace clique::icd::test
