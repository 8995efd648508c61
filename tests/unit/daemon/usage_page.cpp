// What a worker says of its session, as the daemon reads it.
#include "daemon/common/usage_page.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <limits>

#include "daemon/server/session_log.hpp"
#include "protocol/decode_error.hpp"

namespace clique::daemon {
namespace {

constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();

TEST(UsagePage, GivenNumbersOfTheWorkerThenTheDaemonReadsThem) {
  const UsagePage ours;
  EXPECT_EQ(ours.read().fields(), protocol::Usage{}.fields());
  const UsagePage theirs{Fd(::dup(ours.descriptor()))};
  const protocol::Usage usage{1, 2, 3, 4, 5, 6, 7, 8, kMost};
  theirs.write(usage);
  EXPECT_EQ(ours.read().fields(), usage.fields());
}

TEST(UsagePage, GivenTheWorkerThenItCannotTakeTheMemoryAway) {
  const UsagePage ours;
  EXPECT_NE(::ftruncate(ours.descriptor(), 0), 0);
  EXPECT_EQ(ours.read().kernels, 0U);
}

TEST(UsagePage, GivenOtherMemoryThenItIsRefused) {
  Fd small(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(small.get(), 8), 0);
  EXPECT_THROW(UsagePage{std::move(small)}, protocol::DecodeError);
  EXPECT_THROW(UsagePage{Fd(::open("/dev/null", O_RDWR | O_CLOEXEC))}, protocol::DecodeError);
}

TEST(UsageSum, GivenNumbersThatSomebodyHasMadeUpThenItDoesNotWrapAround) {
  protocol::Usage sum{.kernels = 5};
  add(sum, {.network_in = kMost, .kernels = 2});
  add(sum, {.network_in = kMost});
  EXPECT_EQ(sum.kernels, 7U);
  EXPECT_EQ(sum.network_in, kMost);
}

}  // namespace
}  // namespace clique::daemon
