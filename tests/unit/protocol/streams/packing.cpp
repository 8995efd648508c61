// Compression of parts: when, and of what.
#include "protocol/streams/packing.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "protocol/decode_error.hpp"
#include "protocol/limits.hpp"

namespace clique::protocol {
namespace {

using Packing = RecordHeader::Packing;

constexpr double kFast = 1e12;
constexpr double kSlow = 1e6;

std::vector<std::byte> repeated(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i / 100);
  return bytes;
}

std::vector<std::byte> noise(std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::mt19937 random(1);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

TEST(Packer, GivenSlowLinkThenContentComesBackAsItWas) {
  Packer packer;
  for (const std::size_t size : {4 * kKiB, kPartSize, kMaxPayload, 100'001 * std::size_t{1}}) {
    const auto content = repeated(size);
    const Packer::Packed packed = packer.pack(content, kSlow);
    ASSERT_FALSE(packed.bytes.empty()) << size;
    EXPECT_LT(packed.bytes.size(), size / 2);
    std::vector<std::byte> back(size);
    unpack(packed.packing, packed.bytes, back);
    EXPECT_EQ(back, content);
  }
}

TEST(Packer, GivenFastOrUnknownLinkOrLittleContentThenNothingIsCompressed) {
  Packer packer;
  const auto content = repeated(kPartSize);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(packer.pack(content, kFast).bytes.empty());
    EXPECT_TRUE(packer.pack(content, std::nullopt).bytes.empty());
    EXPECT_TRUE(packer.pack(content, 0).bytes.empty());
    EXPECT_TRUE(packer.pack(std::span(content).first(kKiB), kSlow).bytes.empty());
  }
}

TEST(Packer, GivenNoiseThenItIsSentAsItIsAndLaterContentIsCompressed) {
  Packer packer;
  const auto content = noise(kPartSize);
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(packer.pack(content, kSlow).bytes.empty());
  const auto other = repeated(kPartSize);
  bool compressed = false;
  for (int i = 0; i < 1000 && !compressed; ++i) compressed = !packer.pack(other, kSlow).bytes.empty();
  EXPECT_TRUE(compressed);
}

TEST(Unpack, GivenWrongBytesOrSizeThenDecodeError) {
  Packer packer;
  const auto content = repeated(kPartSize);
  const Packer::Packed packed = packer.pack(content, kSlow);
  ASSERT_FALSE(packed.bytes.empty());
  std::vector<std::byte> to(content.size());
  const std::span<std::byte> all(to);
  EXPECT_THROW(unpack(packed.packing, packed.bytes, all.first(all.size() - 1)), DecodeError);
  EXPECT_THROW(unpack(packed.packing, packed.bytes.first(packed.bytes.size() - 1), to), DecodeError);
  EXPECT_THROW(unpack(packed.packing, {}, to), DecodeError);
  EXPECT_THROW(unpack(Packing::None, packed.bytes, to), DecodeError);
  for (const Packing packing : {Packing::Lz4, Packing::Zstd})
    EXPECT_THROW(unpack(packing, noise(1000), to), DecodeError);
}

TEST(RecordHeaders, GivenImpossibleCompressionThenDecodeError) {
  RecordHeader part;
  part.size = 1000;
  const RecordHeader good = part.packed(Packing::Zstd, 100);
  const RecordHeader read = RecordHeader::decode(good.encode());
  EXPECT_EQ(read.unpacked().size, 1000U);
  EXPECT_EQ(read.unpacked().packing, Packing::None);
  EXPECT_EQ(read.size, 100U);
  const auto refused = [](RecordHeader header) {
    EXPECT_THROW(RecordHeader::decode(header.encode()), DecodeError) << header.size << ' ' << header.content;
  };
  refused(part.packed(static_cast<Packing>(3), 100));
  refused(part.packed(Packing::Lz4, 1000));
  refused(part.packed(Packing::Lz4, 1001));
  RecordHeader large = good;
  large.content = kMaxPayload + 1;
  refused(large);
  RecordHeader idle = part;
  idle.content = 2000;
  refused(idle);
  RecordHeader batch = good;
  batch.kind = RecordHeader::Kind::Batch;
  refused(batch);
}

}  // namespace
}  // namespace clique::protocol
