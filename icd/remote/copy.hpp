#pragma once

#include <cstddef>

namespace clique::icd {

/// What a block has come through, or goes to.
enum class Through {
  Memory,   ///< that processes share: nobody else has anything to do with it
  Network,  ///< where ZeroMQ's threads are at work at the same time, and need processors, too
};

/// memcpy. Large blocks are copied by several threads where there are processors to spare, since one alone
/// does not fill the memory's bandwidth. The threads are the process's, made when first needed; they sleep
/// when there is nothing to copy, and get no signals. Any thread.
void copy(std::byte* to, const std::byte* from, std::size_t size, Through through);
/// The same through memory.
void copy(std::byte* to, const std::byte* from, std::size_t size);

}  // namespace clique::icd
