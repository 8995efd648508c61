#include "protocol/streams/packing.hpp"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <chrono>

#include "protocol/decode_error.hpp"

namespace clique::protocol {

namespace {

using Clock = std::chrono::steady_clock;

/// Smaller parts are sent as they are.
constexpr std::size_t kLeastContent = 4 * kKiB;
/// A part that does not become smaller than this, by its content, is sent as it is.
constexpr double kWorstRatio = 0.9;
/// Compressing has to be expected to take no more than this part of the time to send the part as it is.
constexpr double kGain = 0.9;
/// How much of the fastest rate is left with the next part. A connection whose other end is busy for a moment
/// is not slow.
constexpr double kRateKept = 0.95;
/// How much a new measurement counts beside the earlier ones.
constexpr double kNew = 0.25;
/// Parts until a way that did not pay is tried again: this many the first time, then twice as many each time.
constexpr std::uint32_t kFirstPause = 4;
constexpr std::uint32_t kMostDoublings = 6;
/// Favours speed: on links that are slow enough for more, the processor is not what is short.
constexpr int kZstdLevel = 1;

const char* bytes_of(std::span<const std::byte> bytes) {
  return reinterpret_cast<const char*>(bytes.data());
}

/// @returns the compressed size; 0 if that is more than `to` holds
std::size_t compress_to(std::span<std::byte> to, RecordHeader::Packing packing,
                        std::span<const std::byte> content) {
  if (packing == RecordHeader::Packing::Lz4) {
    const int size = LZ4_compress_default(bytes_of(content), reinterpret_cast<char*>(to.data()),
                                          static_cast<int>(content.size()), static_cast<int>(to.size()));
    return static_cast<std::size_t>(std::max(size, 0));
  }
  const std::size_t size = ZSTD_compress(to.data(), to.size(), content.data(), content.size(), kZstdLevel);
  return ZSTD_isError(size) != 0 ? 0 : size;
}

}  // namespace

Packer::Packed Packer::pack(std::span<const std::byte> content, std::optional<double> rate) {
  if (content.size() < kLeastContent || !rate || *rate <= 0) return {};
  rate_ = std::max(*rate, kRateKept * rate_);
  const double send = 1e9 / rate_;
  const double bound = kGain * send;
  Way* best = nullptr;
  double least = bound;
  for (Way& way : ways_) {
    // Even if nothing were left to send, compressing would take too long.
    if (way.cost >= bound) continue;
    const double expected = way.cost + way.ratio * send;
    if (expected < least) {
      least = expected;
      best = &way;
    } else if (way.pause > 0) {
      --way.pause;
    } else if (best == nullptr) {
      best = &way;
      break;
    }
  }
  if (best == nullptr) return {};
  const std::size_t size = compress(*best, content);
  if (best->cost + best->ratio * send < bound) {
    best->failures = 0;
  } else {
    best->pause = kFirstPause << best->failures;
    best->failures = std::min(best->failures + 1, kMostDoublings);
  }
  if (size == 0) return {};
  return {best->packing, std::span(buffer_).first(size)};
}

std::size_t Packer::compress(Way& way, std::span<const std::byte> content) {
  const auto most = static_cast<std::size_t>(kWorstRatio * static_cast<double>(content.size()));
  buffer_.resize(std::max(buffer_.size(), most));
  const auto begin = Clock::now();
  const std::size_t size = compress_to(std::span(buffer_).first(most), way.packing, content);
  const std::chrono::duration<double, std::nano> time = Clock::now() - begin;
  const auto bytes = static_cast<double>(content.size());
  const auto learn = [](double& known, double measured) { known += kNew * (measured - known); };
  learn(way.cost, time.count() / bytes);
  learn(way.ratio, size == 0 ? 1 : static_cast<double>(size) / bytes);
  return size;
}

void unpack(RecordHeader::Packing packing, std::span<const std::byte> payload, std::span<std::byte> to) {
  const bool good = [&] {
    switch (packing) {
      case RecordHeader::Packing::Lz4:
        return LZ4_decompress_safe(bytes_of(payload), reinterpret_cast<char*>(to.data()),
                                   static_cast<int>(payload.size()),
                                   static_cast<int>(to.size())) == static_cast<int>(to.size());
      case RecordHeader::Packing::Zstd:
        return ZSTD_decompress(to.data(), to.size(), payload.data(), payload.size()) == to.size();
      case RecordHeader::Packing::None:
        break;
    }
    return false;
  }();
  if (!good)
    throw DecodeError("a compressed part of " + std::to_string(payload.size()) +
                      " bytes that does not expand to " + std::to_string(to.size()));
}

}  // namespace clique::protocol
