// Arbitrary bytes are decoded or refused, and nothing else happens. Sanitizers check that.
#include <gtest/gtest.h>

#include <random>

#include "protocol/batch.hpp"
#include "protocol/decode_error.hpp"
#include "protocol/messages.hpp"

namespace clique::protocol {
namespace {

constexpr int kRounds = 100'000;

/// A batch with each kind of field, some of them nested.
std::vector<std::byte> sample() {
  static const std::vector<std::byte> small(20, std::byte{1});
  static const std::vector<std::byte> large(kInlinePayload + 1, std::byte{2});
  Batch batch;
  batch.add(CreateContext{1, {0, 1, kFirstSubDevice}});
  batch.add(CreateSampler{2, 1, true, 3, 4});
  batch.add(ProgramFiles{9, false, "/", {{"/a.h", {}, {1, 2, 3}}}});
  batch.add(BuildProgram{1, 3, {0}, "-cl-fast-relaxed-math", 9});
  batch.add(CreateProgram{1, 3, 1, ProgramKind::Binary, {0, 1}, {{1, 2, 3}, {}}});
  batch.add(RunKernel{{1, 2, 3, {4, 5}}, 5, {{0, 0, 0, {1, 2, 3, 4}}, {1, 1, 7, {}}}, {1}, {2}, {3}});
  batch.add(WriteBuffer{{6, 2, 0, {}}, 3, 4, {small, nullptr}});
  batch.add(WriteBuffer{{7, 2, 0, {}}, 3, 4, {large, nullptr}});
  batch.add(SetRemote{8, -14});
  return {batch.records().begin(), batch.records().end()};
}

void decode(BatchReader& reader, const std::vector<std::byte>& records, int& taken, int& refused) {
  static const std::vector<std::byte> frame(2000);
  const std::vector<Payload> frames{{frame, nullptr}};
  try {
    reader.read(ClientMessages{}, records, frames, nullptr, [](auto&&) {});
    ++taken;
  } catch (const DecodeError&) {
    ++refused;
  }
}

TEST(Fuzz, GivenMutationsThenTheyAreTakenOrRefused) {
  std::mt19937 random(20);
  const auto good = sample();
  BatchReader reader;
  int taken = 0;
  int refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::byte> bad = good;
    for (unsigned i = 0; i < 1 + random() % 6; ++i) {
      const std::size_t at = random() % bad.size();
      switch (random() % 4) {
        case 0:
          bad[at] = static_cast<std::byte>(random());
          break;
        case 1:
          bad[at] ^= static_cast<std::byte>(1U << (random() % 8));
          break;
        case 2:
          bad.insert(bad.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::byte>(random()));
          break;
        default:
          bad.erase(bad.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    if (random() % 8 == 0) bad.resize(random() % bad.size());
    decode(reader, bad, taken, refused);
  }
  // Without both outcomes, the test would test nothing.
  EXPECT_GT(taken, kRounds / 100);
  EXPECT_GT(refused, kRounds / 4);
}

TEST(Fuzz, GivenNoiseThenItIsRefused) {
  std::mt19937 random(21);
  BatchReader reader;
  int taken = 0;
  int refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::byte> noise(1 + random() % 64);
    for (std::byte& byte : noise) byte = static_cast<std::byte>(random());
    // Often bytes that begin like a record.
    if (random() % 2 == 0) noise[0] = static_cast<std::byte>(0x90U + random() % 16);
    decode(reader, noise, taken, refused);
  }
  EXPECT_EQ(taken, 0);
  EXPECT_EQ(refused, kRounds);
}

}  // namespace
}  // namespace clique::protocol
