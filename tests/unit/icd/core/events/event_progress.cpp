// The times of commands, as far as the client determines them.
#include "icd/core/events/event_progress.hpp"

#include <gtest/gtest.h>

namespace clique::icd {
namespace {

using Times = EventProgress::Times;

TEST(TimesSince, GivenTimesThenQueuedIsTheCallAndSubmitTheArrival) {
  EXPECT_EQ((Times{50, 100, 200, 300}), times_since(50, {100, 110, 200, 300}));
}

TEST(TimesSince, GivenClockThatIsBehindThenTimesAreInOrderAndTheDurationStays) {
  EXPECT_EQ((Times{150, 150, 200, 300}), times_since(150, {100, 110, 200, 300}));
  EXPECT_EQ((Times{200, 200, 200, 300}), times_since(250, {100, 110, 200, 300}));
  EXPECT_EQ((Times{50, 200, 200, 300}), times_since(50, {220, 110, 200, 300}));
}

TEST(TimesSince, GivenNothingMeasuredThenTimesStay) {
  EXPECT_EQ((Times{}), times_since(50, {}));
  EXPECT_EQ((Times{100, 110, 200, 300}), times_since(0, {100, 110, 200, 300}));
}

}  // namespace
}  // namespace clique::icd
