// The number of connections for bulk data, and the memory of received payloads.
#include "protocol/transport/zmq.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <cstring>
#include <thread>

namespace clique::protocol {
namespace {

TEST(Connections, OnAShortWayComeOneAfterTheOther) {
  EXPECT_TRUE(worth_another_connection(0, false, false));
  const unsigned most = bulk_connections(false);
  for (unsigned present = 1; present < most; ++present) {
    EXPECT_FALSE(worth_another_connection(present, false, false));
    EXPECT_TRUE(worth_another_connection(present, true, false));
  }
  EXPECT_FALSE(worth_another_connection(most, true, false));
}

TEST(Connections, OnALongWayComeAtOnce) {
  const unsigned most = bulk_connections(true);
  EXPECT_GT(most, 1U);
  EXPECT_GE(most, bulk_connections(false));
  for (unsigned present = 0; present < most; ++present)
    EXPECT_TRUE(worth_another_connection(present, false, true));
  EXPECT_FALSE(worth_another_connection(most, true, true));
}

TEST(Connections, HaveThreadsOfTheirOwn) {
  EXPECT_GT(io_threads(), static_cast<int>(bulk_connections(false)));
}

// Sanitizers replace the allocator.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(PayloadMemory, IsThereForTheNextPayloads) {
  keep_payload_memory();
  const auto receive = [] {
    constexpr std::size_t kSize = 1U << 20U;
    std::array<zmq::message_t, 6> parts;
    for (zmq::message_t& part : parts) {
      part.rebuild(kSize);
      std::memset(part.data(), 1, kSize);
    }
  };
  const auto faults = [] {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
  };
  // On another thread, because ZeroMQ's threads do not use the main thread's memory pool.
  std::thread([&] {
    receive();
    const long before = faults();
    for (int i = 0; i < 10; ++i) receive();
    EXPECT_LT(faults() - before, 100);
  }).join();
}
#endif

}  // namespace
}  // namespace clique::protocol
