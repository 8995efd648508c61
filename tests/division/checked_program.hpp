// Random kernels as machine code of this processor, with a check before each access.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "division/random_kernel.hpp"
#include "protocol/footprint.hpp"

namespace clique::test::division {

/// What a check says of an access to memory that is not the work-item's own.
struct CheckedAccess {
  const std::byte* address = nullptr;
  std::uint64_t size = 0;
  bool writes = false;
};

/// What a check says of an access to a pixel.
struct CheckedPixel {
  unsigned image = 0;
  std::array<std::int64_t, 3> at{};
  bool writes = false;
};

/// Called by the code of kernels, before the access. They must not throw.
struct Checks {
  std::function<void(const CheckedAccess&)> access;
  std::function<void(const CheckedPixel&)> pixel;
};

/// The arguments of a kernel that are memory.
struct CheckedMemory {
  std::array<std::byte*, kBuffers> buffers{};
};

/// A program of random kernels. Compiled by clique-compiler's own front end, described by its own analysis,
/// and then, with checks, by LLVM for this processor. One thread runs one kernel at a time.
class CheckedProgram {
 public:
  /// Throws std::runtime_error.
  /// @param optimised whether LLVM optimises the kernels before the checks are inserted, so that these see
  /// the
  ///   accesses that a compiler makes of the source's; otherwise they see those that the analysis has seen
  CheckedProgram(const std::string& source, bool optimised);
  ~CheckedProgram();
  CheckedProgram(CheckedProgram&&) noexcept;

  const std::vector<protocol::Footprint>& footprints() const;

  /// Runs one work-item.
  void run(const std::string& kernel, const Item& item, const Scalars& scalars, const CheckedMemory& memory,
           const Checks& checks);

 private:
  class Code;
  std::unique_ptr<Code> code_;
};

}  // namespace clique::test::division
