#include "icd/core/division/merge.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace clique::icd {

namespace {

using protocol::AtomicChange;

template <typename T>
T neutral(AtomicChange change) {
  const auto bytes = neutral_element({change, sizeof(T), 0, sizeof(T)});
  EXPECT_EQ(bytes.size(), sizeof(T));
  T value{};
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

TEST(Merge, GivenOperationThenItsNeutralElementChangesNothing) {
  for (const auto change : {AtomicChange::Add, AtomicChange::Or, AtomicChange::ExclusiveOr})
    EXPECT_EQ(neutral<std::uint64_t>(change), 0U);
  EXPECT_EQ(neutral<std::uint32_t>(AtomicChange::And), ~0U);
  EXPECT_EQ(neutral<std::int32_t>(AtomicChange::LeastSigned), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(neutral<std::int64_t>(AtomicChange::GreatestSigned), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(neutral<std::uint64_t>(AtomicChange::LeastUnsigned), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(neutral<std::uint32_t>(AtomicChange::GreatestUnsigned), 0U);
}

TEST(Merge, GivenSignedNumbersThenTheyAreComparedAsSuch) {
  EXPECT_NE(merging_source({AtomicChange::LeastSigned, 4, 0, 4}).find("__global int* buffer"),
            std::string::npos);
  EXPECT_NE(merging_source({AtomicChange::LeastUnsigned, 8, 0, 8}).find("__global unsigned long* buffer"),
            std::string::npos);
}

}  // namespace

}  // namespace clique::icd
