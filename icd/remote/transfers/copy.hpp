// Copying blocks of memory, with several threads where that is faster.
#pragma once

#include <cstddef>

namespace clique::icd {

/// How a block arrived, or how it leaves.
enum class Through {
  Memory,   ///< through memory that processes share; no other thread works on the transfer
  Network,  ///< with messages; threads that send and receive need processors at the same time
  Stream,   ///< through a stream: each has a thread that copies, too
};

/// memcpy. Several threads copy large blocks if the host has processors to spare, because one thread alone
/// does not reach the memory's bandwidth. The threads belong to the process and start when they are first
/// needed; they sleep while there is nothing to copy, and block all signals. Thread-safe.
void copy(std::byte* to, const std::byte* from, std::size_t size, Through through);
/// copy() of a block that arrived, or leaves, through memory.
void copy(std::byte* to, const std::byte* from, std::size_t size);

}  // namespace clique::icd
