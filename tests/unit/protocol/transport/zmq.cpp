// The number of connections for bulk data, and the memory of received payloads.
#include "protocol/transport/zmq.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <cstring>
#include <thread>

#include "protocol/limits.hpp"

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

TEST(Receiving, DropsFramesBeyondTheLimitAndGoesOnWithTheNextMessage) {
  zmq::context_t context(0);
  zmq::socket_t from(context, zmq::socket_type::pair);
  zmq::socket_t to(context, zmq::socket_type::pair);
  for (zmq::socket_t* socket : {&from, &to}) configure(*socket);
  to.bind("inproc://frames");
  from.connect("inproc://frames");
  for (std::size_t i = 0; i < 2 * Limits::kFrames; ++i) from.send(zmq::message_t(), zmq::send_flags::sndmore);
  from.send(zmq::message_t(), zmq::send_flags::none);
  from.send(zmq::str_buffer("next"), zmq::send_flags::none);
  Incoming incoming;
  ASSERT_TRUE(receive(to, incoming));
  EXPECT_EQ(incoming.frames.size(), Limits::kFrames + 1) << "one more than is accepted";
  ASSERT_TRUE(receive(to, incoming));
  EXPECT_EQ(incoming.records.size(), 4U);
  EXPECT_TRUE(incoming.frames.empty());
}

// Sanitizers replace the allocator.
#if defined(__GLIBC__) && !defined(CLIQUE_SANITIZE_ADDRESS) && !defined(CLIQUE_SANITIZE_THREAD)
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
