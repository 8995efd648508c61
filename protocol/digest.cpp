#include "protocol/digest.hpp"

#include <sodium.h>

#include <stdexcept>

namespace clique::protocol {

// In memory of its own, since sodium's type wants more alignment than its users should know of.
struct DigestBuilder::State {
  crypto_generichash_state hash;
};

DigestBuilder::DigestBuilder() : state_(std::make_unique<State>()) {
  // Chooses the fastest implementation for this processor. Further calls do nothing.
  if (sodium_init() < 0) throw std::runtime_error("libsodium cannot be initialised");
  crypto_generichash_init(&state_->hash, nullptr, 0, std::tuple_size_v<Digest>);
}

DigestBuilder::~DigestBuilder() = default;
DigestBuilder::DigestBuilder(DigestBuilder&&) noexcept = default;
DigestBuilder& DigestBuilder::operator=(DigestBuilder&&) noexcept = default;

DigestBuilder& DigestBuilder::add(std::span<const std::uint8_t> part) {
  crypto_generichash_update(&state_->hash, part.data(), part.size());
  return *this;
}

DigestBuilder& DigestBuilder::add(std::string_view part) {
  return add(std::span(reinterpret_cast<const std::uint8_t*>(part.data()), part.size()));
}

Digest DigestBuilder::digest() {
  Digest digest{};
  crypto_generichash_final(&state_->hash, digest.data(), digest.size());
  return digest;
}

Digest digest_of(std::string_view content) {
  return DigestBuilder().add(content).digest();
}

std::string text_of(const Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : digest) text += {kDigits[byte >> 4U], kDigits[byte & 15U]};
  return text;
}

}  // namespace clique::protocol
