#include "icd/remote/transfers/guest_segments.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>

#include "protocol/decode_error.hpp"
#include "protocol/fd.hpp"
#include "protocol/transport/guest_memory.hpp"

namespace clique::icd {

namespace {

/// A file as a virtual machine's device, with a part for segments.
class GuestSegmentsFile : public testing::Test {
 protected:
  static constexpr std::uint64_t kAt = protocol::kGuestMemoryHead + 8192;
  static constexpr std::uint64_t kSize = 5 * 4096;

  GuestSegmentsFile() {
    name_ = testing::TempDir() + "guest-segments-XXXXXX";
    const Fd file(::mkstemp(name_.data()));
    std::filesystem::resize_file(name_, kAt + kSize);
    host_ = protocol::SharedSegment::part_of(file, kAt, kSize);
  }
  ~GuestSegmentsFile() override { std::filesystem::remove(name_); }

  /// What the worker sees.
  std::span<std::byte> host() const { return host_->bytes(); }

  std::string name_;
  std::shared_ptr<protocol::SharedSegment> host_;
};

TEST_F(GuestSegmentsFile, GivenPlacesThenTheyAreTheSessionsPartAndDoNotOverlap) {
  const auto segments = GuestSegments::open(name_, kAt, kSize);
  ASSERT_TRUE(segments);
  const auto one = segments->take(1, 4097);
  const auto two = segments->take(2, 2 * 4096);
  ASSERT_TRUE(one);
  ASSERT_TRUE(two);
  EXPECT_EQ(one->at, 0U);
  EXPECT_EQ(two->at, 2U * 4096);
  one->bytes.get()[4096] = std::byte{1};
  two->bytes.get()[0] = std::byte{2};
  EXPECT_EQ(host()[4096], std::byte{1});
  EXPECT_EQ(host()[2 * 4096], std::byte{2});
}

TEST_F(GuestSegmentsFile, GivenNoRoomThenNothingIsTakenUntilTheWorkerHasFreedSome) {
  const auto segments = GuestSegments::open(name_, kAt, kSize);
  EXPECT_FALSE(segments->take(1, 0));
  EXPECT_FALSE(segments->take(1, kSize + 1));
  EXPECT_FALSE(segments->take(1, ~std::size_t{0}));
  EXPECT_TRUE(segments->take(1, kSize));
  EXPECT_FALSE(segments->take(2, 1));
  segments->freed(1);
  EXPECT_TRUE(segments->take(3, kSize));
}

TEST_F(GuestSegmentsFile, GivenAWorkerFreesWhatIsNotPlacedThenThatIsRefused) {
  const auto segments = GuestSegments::open(name_, kAt, kSize);
  EXPECT_TRUE(segments->take(1, 1));
  EXPECT_THROW(segments->freed(2), protocol::DecodeError);
  segments->freed(1);
  EXPECT_THROW(segments->freed(1), protocol::DecodeError);
}

TEST_F(GuestSegmentsFile, GivenTheSessionIsOverThenSegmentsKeepTheirContentAndOthersTheirMemory) {
  auto segments = GuestSegments::open(name_, kAt, kSize);
  const auto place = segments->take(1, 2 * 4096);
  ASSERT_TRUE(place);
  std::memset(place->bytes.get(), 7, 2 * 4096);
  segments->leave();
  segments->leave();
  EXPECT_FALSE(segments->take(2, 1));
  // The next session's.
  std::memset(host().data(), 9, kSize);
  EXPECT_EQ(place->bytes.get()[0], std::byte{7});
  EXPECT_EQ(place->bytes.get()[2 * 4096 - 1], std::byte{7});
  place->bytes.get()[0] = std::byte{8};
  EXPECT_EQ(host()[0], std::byte{9});
  segments.reset();
  EXPECT_EQ(place->bytes.get()[0], std::byte{8});
}

TEST_F(GuestSegmentsFile, GivenOffersThatLieOutsideThenTheyAreNotUsed) {
  EXPECT_FALSE(GuestSegments::open(name_, kAt, 0));
  EXPECT_FALSE(GuestSegments::open(name_, 0, kSize));
  EXPECT_FALSE(GuestSegments::open(name_, kAt + 1, 4096));
  EXPECT_FALSE(GuestSegments::open(name_, kAt, kSize + 1));
  EXPECT_FALSE(GuestSegments::open(name_, kAt + kSize, 4096));
  EXPECT_FALSE(GuestSegments::open(name_, ~std::uint64_t{0} - 4095, 4096));
  EXPECT_FALSE(GuestSegments::open(name_, kAt, ~std::uint64_t{0}));
  EXPECT_FALSE(GuestSegments::open(name_ + "-none", kAt, kSize));
}

}  // namespace

}  // namespace clique::icd
