#pragma once

#include <cstdint>

namespace clique::icd {

class Memory;

/// A range of a memory object that a command uses, in bytes of the object itself. Does not keep the object
/// alive.
struct Access {
  enum Mode : std::uint8_t {
    Read = 1,
    Overwrite = 2,  ///< all of the range gets new content
    ReadWrite = 3,  ///< parts of the range may get new content
  };
  Memory* memory;
  std::uint64_t begin;
  std::uint64_t size;
  Mode mode;

  /// The whole object.
  static Access all(Memory& memory, Mode mode);
};

}  // namespace clique::icd
