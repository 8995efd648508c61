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

TEST(UsagePage, GivenMeasurementsOfTheWorkerThenTheDaemonReadsThemBesideTheNumbers) {
  const UsagePage page;
  const protocol::Usage usage{1, 2, 3, 4, 5, 6, 7, 8, kMost};
  const SessionLinks links{{11, 12, 13, 14, 15, 16, 17, 18, kMost}, {21, 22, 23, 24, 25, 26, 27, 28, kMost}};
  Measured measured;
  measured.resumes = 3;
  measured.builds.counts.back() = kMost;
  page.write(usage);
  page.write(links);
  page.write(measured);
  page.write_queued(kMost);
  EXPECT_EQ(page.read().fields(), usage.fields());
  EXPECT_EQ(page.links().client.fields(), links.client.fields());
  EXPECT_EQ(page.links().peers.fields(), links.peers.fields());
  EXPECT_EQ(page.measured().resumes, 3U);
  EXPECT_EQ(page.measured().builds.counts.back(), kMost);
  EXPECT_EQ(page.queued(), kMost);
}

TEST(Measurements, GivenDurationsThenEachIsInItsBucket) {
  Measurements measurements;
  for (const int us : {0, 50, 51, 500'000, 500'001})
    measurements.note_round_trip(std::chrono::microseconds(us));
  measurements.note_build(std::chrono::hours(1));
  measurements.note_cache(true);
  const Measured measured = measurements.read();
  EXPECT_EQ(measured.round_trips.counts[0], 2U);
  EXPECT_EQ(measured.round_trips.counts[1], 1U);
  EXPECT_EQ(measured.round_trips.counts[kRoundTripBounds.size() - 1], 1U);
  EXPECT_EQ(measured.round_trips.counts[kRoundTripBounds.size()], 1U);
  EXPECT_EQ(measured.round_trips.sum_us, 1'000'102U);
  EXPECT_EQ(measured.builds.counts.back(), 1U);
  EXPECT_EQ(measured.cache_hits, 1U);
  EXPECT_EQ(measured.cache_misses, 0U);
}

TEST(Measurements, GivenNumbersOfAHostileWorkerThenSumsOnlyGrow) {
  Measured sum;
  Measured counted;
  Measured now;
  now.resumes = 5;
  add_new(sum, counted, now);
  now.resumes = 2;
  add_new(sum, counted, now);
  EXPECT_EQ(sum.resumes, 5U);
  now.resumes = kMost;
  add_new(sum, counted, now);
  Measured other;
  add_new(sum, other, now);
  EXPECT_EQ(sum.resumes, kMost);
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
