// Whether a launch can be divided into parts for several devices, and how. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "icd/core/division/balance.hpp"
#include "icd/core/division/evaluate.hpp"

namespace clique::icd {

/// A buffer or image that a launch uses: a part of the content of an object. What is written through one is
/// read through others of the same object.
struct UsedBuffer {
  std::size_t argument = 0;
  const void* object = nullptr;  ///< names the object that has the content
  std::uint64_t begin = 0;       ///< where the buffer begins in it, in bytes
  std::uint64_t size = 0;
  std::optional<ImageLayout> image = {};  ///< nothing: a buffer
  /// Whether a member needs memory only for what its part uses (Memory::sparse).
  bool sparse = false;
};

/// The arguments of a launch, as far as its division depends on them.
struct UsedValues {
  std::vector<std::span<const std::byte>> scalars;  ///< for each argument; empty: not a scalar
  std::vector<UsedBuffer> buffers;
  std::uint64_t room = ~std::uint64_t{0};  ///< DivisibleLaunch::room
};

/// A launch that may be divided.
struct DivisibleLaunch {
  const protocol::Footprint& footprint;
  ScalarArguments scalars;
  std::span<const UsedBuffer> buffers;
  LaunchSpace space;
  /// Whether the application gave the size of the work-groups. Otherwise every work-item of `space` is a
  /// group.
  bool has_groups = true;
  /// Bytes of sparse buffers for which each member has room in any case.
  std::uint64_t room = ~std::uint64_t{0};
};

/// The work-groups [begin, end) of the divided dimension, and what they use.
struct DividedPart {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::vector<RangeSet> reads;   ///< for each buffer, relative to its begin; includes what may be written
  std::vector<RangeSet> writes;  ///< for each buffer
};

/// Bytes of a buffer that work-items only change by atomic operations of one kind, whose results are not
/// used.
struct MergedChange {
  protocol::AtomicChange change = protocol::AtomicChange::Add;
  std::uint64_t width = 4;  ///< bytes of the integers
  /// Relative to the buffer's begin: multiples of `width`.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t size() const { return end - begin; }
};

/// A buffer of a divided launch that is only changed so. All parts but the first one change copies of it,
/// which are merged with it afterwards (icd/core/division/merge.hpp).
struct MergedBuffer {
  std::size_t buffer = 0;             ///< its position among those of the launch
  std::size_t argument = 0;           ///< of the kernel
  std::vector<MergedChange> changes;  ///< with no byte in common

  /// The end of all changes.
  std::uint64_t end() const;
};

struct Division {
  unsigned dimension = 0;
  std::uint64_t unit = 1;          ///< borders are multiples of so many groups, except for the last one
  std::vector<DividedPart> parts;  ///< none: the launch must not be divided
  std::string reason = {};         ///< why not, for people
  /// The parts but the first one have neither reads nor writes of these.
  std::vector<MergedBuffer> merged = {};

  Borders borders() const;
  /// How many bytes of copies are merged.
  std::uint64_t merged_bytes() const;
};

/// Divides a launch into as many parts as there are members, or fewer, along the last dimension for which
/// the parts neither write what others write nor write what others read. If there is none, buffers that are
/// only changed by atomic operations are merged. The footprint is well-formed.
/// @param members 1: nothing is divided; the only part says what the launch uses
/// @param balanced borders for such a dimension, if they fit and leave room for the parts on their members;
/// otherwise the parts have the same size
Division divide(const DivisibleLaunch& launch, std::size_t members, const Borders& balanced = {});

}  // namespace clique::icd
