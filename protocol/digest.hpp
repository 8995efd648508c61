// Cryptographic digests that identify contents.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace clique::protocol {

/// BLAKE2b with 32 bytes.
using Digest = std::array<std::uint8_t, 32>;

/// Computes the digest of a sequence of parts. The division into parts does not matter.
class DigestBuilder {
 public:
  DigestBuilder();
  ~DigestBuilder();
  DigestBuilder(DigestBuilder&&) noexcept;
  DigestBuilder& operator=(DigestBuilder&&) noexcept;

  DigestBuilder& add(std::span<const std::uint8_t> part);
  DigestBuilder& add(std::string_view part);
  /// The digest of all parts. Call this once, last.
  Digest digest();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Digest digest_of(std::string_view content);

/// 64 hexadecimal digits.
std::string text_of(const Digest& digest);

}  // namespace clique::protocol
