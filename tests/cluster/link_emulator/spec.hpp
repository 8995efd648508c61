// What a link does to packets, in the words of tc-netem.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace clique::test {

struct LinkSpec {
  std::chrono::nanoseconds delay{};
  std::chrono::nanoseconds jitter{};  // each packet's delay differs from `delay` by at most that
  double loss = 0;                    // probabilities
  double duplicate = 0;
  double reorder = 0;        // of not being delayed
  double rate = 0;           // bits per second; 0: any
  std::size_t limit = 1000;  // packets that may wait until the link is free
  unsigned mtu = 1500;
  std::optional<std::uint64_t> seed;

  /// Whether packets that follow each other may fare differently.
  bool by_chance() const { return jitter.count() > 0 || loss > 0 || duplicate > 0 || reorder > 0; }
};

/// `text` is any of, in any order: delay TIME [JITTER], loss P%, duplicate P%, reorder P%, rate RATE, limit
/// PACKETS, mtu BYTES, seed NUMBER.
/// @throws std::invalid_argument, which names what was not understood
LinkSpec parse_link_spec(const std::string& text);

}  // namespace clique::test
