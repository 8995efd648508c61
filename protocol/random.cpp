#include "protocol/random.hpp"

#include <sys/random.h>

#include <cerrno>

#include "protocol/throw_errno.hpp"

namespace clique::protocol {

void fill_random(std::span<std::uint8_t> bytes) {
  // Requests of at most 256 bytes are neither interrupted nor answered in part.
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw_errno("getrandom");
}

}  // namespace clique::protocol
