// The properties of an emulated link, in tc-netem's notation.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace clique::test {

struct LinkSpec {
  std::chrono::nanoseconds delay{};
  std::chrono::nanoseconds jitter{};  // maximum difference of a packet's delay from `delay`
  double loss = 0;                    // probability, like `duplicate` and `reorder`
  double duplicate = 0;
  double reorder = 0;        // probability that a packet is not delayed
  double rate = 0;           // bits per second; 0: unlimited
  std::size_t limit = 1000;  // maximum packets that wait until the link is free
  unsigned mtu = 1500;
  std::optional<std::uint64_t> seed;

  /// Whether chance decides what happens to a packet.
  bool by_chance() const { return jitter.count() > 0 || loss > 0 || duplicate > 0 || reorder > 0; }
};

/// Parses a specification. It contains any of these, in any order: delay TIME [JITTER], loss P%, duplicate
/// P%, reorder P%, rate RATE, limit PACKETS, mtu BYTES, seed NUMBER.
/// @throws std::invalid_argument, which names the invalid part
LinkSpec parse_link_spec(const std::string& text);

}  // namespace clique::test
