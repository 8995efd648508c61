// What the work-items of a random launch access, and the launch as the client sees it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <vector>

#include "division/random_launch.hpp"
#include "icd/core/division/divide.hpp"

namespace clique::test::division {

using protocol::AtomicChange;

/// An access to a memory argument.
struct Used {
  unsigned buffer;
  std::uint64_t begin;
  unsigned size;
  bool writes;
  AtomicChange change = AtomicChange::None;  ///< of an atomic operation whose result is not used

  std::uint64_t end() const { return begin + size; }
  friend bool operator==(const Used&, const Used&) = default;
};

/// A launch accesses what is not expected of it.
class Wrong : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What one part of a launch has really accessed, of each byte of the objects.
struct Touched {
  std::array<std::vector<bool>, kObjects> read;
  std::array<std::vector<bool>, kObjects> written;

  Touched() {
    for (unsigned object = 0; object < kObjects; ++object) {
      read[object].resize(size_of(object));
      written[object].resize(size_of(object));
    }
  }
  void note(unsigned object, std::uint64_t begin, std::uint64_t size, bool writes) {
    for (std::uint64_t at = begin; at < begin + size; ++at) (writes ? written : read)[object][at] = true;
  }
};

class Recorder : public Store {
 public:
  explicit Recorder(const RandomLaunch& launch) : launch_(launch) {}

  std::uint64_t read(unsigned buffer, std::int64_t offset, unsigned size) override {
    note(buffer, offset, size, false, AtomicChange::None);
    const Part& part = launch_.buffers[buffer];
    // What the launch may have changed decides nothing that can be compared.
    for (const unsigned written : {0U, 2U, kBuffers})
      if (buffer == 1 && launch_.buffers[written].size > 0 && launch_.buffers[written].object == part.object)
        throw Undefined();
    return content(part.object, part.begin + static_cast<std::uint64_t>(offset));
  }
  void write(unsigned buffer, std::int64_t offset, unsigned size) override {
    note(buffer, offset, size, true, AtomicChange::None);
  }
  void change(unsigned buffer, std::int64_t offset, unsigned size, AtomicChange change, bool used) override {
    if (used) note(buffer, offset, size, false, AtomicChange::None);
    note(buffer, offset, size, true, used ? AtomicChange::None : change);
  }
  void pixel(unsigned image, const std::array<std::int64_t, 3>& at, bool writes) override {
    const auto place = launch_.place_of(image, at, writes);
    const auto size = static_cast<unsigned>(launch_.images->pixel_size());
    if (place) note(kBuffers + image, static_cast<std::int64_t>(*place), size, writes, AtomicChange::None);
  }

  /// Called for each access.
  std::function<void(const Used&)> check;

  static std::uint64_t content(unsigned object, std::uint64_t at) { return (at * 37 + object * 11) % 251; }

 private:
  void note(unsigned buffer, std::int64_t offset, unsigned size, bool writes, AtomicChange change) const {
    const Part& part = launch_.buffers[buffer];
    if (offset < 0 || static_cast<std::uint64_t>(offset) + size > part.size) throw Undefined();
    if (check) check({buffer, static_cast<std::uint64_t>(offset), size, writes, change});
  }

  const RandomLaunch& launch_;
};

inline bool contains(const icd::RangeSet& set, std::uint64_t begin, std::uint64_t end) {
  for (const auto& range : set.ranges())
    if (range.begin <= begin && end <= range.end) return true;
  return false;
}

inline constexpr unsigned kScalars = 4;

/// The arguments of a launch, for icd::divide. The launch has to outlive them.
struct LaunchArguments {
  icd::LaunchSpace space;
  std::vector<std::span<const std::byte>> scalars;
  std::vector<icd::UsedBuffer> buffers;

  explicit LaunchArguments(const RandomLaunch& launch) {
    static constexpr std::array<char, kObjects> kObjectNames{};
    space.dimensions = launch.dimensions;
    space.offset = launch.offset;
    space.global = launch.global;
    space.local = launch.local;
    const auto add = [&](const auto& scalar) { scalars.push_back(std::as_bytes(std::span(&scalar, 1))); };
    scalars.resize(kBuffers);
    for (unsigned i = 0; i < (launch.images == nullptr ? kBuffers : kMemoryArguments); ++i) {
      const Part& part = launch.buffers[i];
      buffers.push_back({i < kBuffers ? i : i + kScalars, &kObjectNames[part.object], part.begin, part.size});
      if (i < kBuffers) continue;
      const ImageKind& kind = *launch.images;
      const std::uint64_t row = kind.extent[0] * kind.pixel_size();
      buffers.back().image = icd::ImageLayout{
          kind.dimensions, kind.pixel_size(), kind.extent, {kind.pixel_size(), row, row * kind.extent[1]}};
    }
    add(launch.scalars.a);
    add(launch.scalars.b);
    add(launch.scalars.c);
    add(launch.scalars.d);
    scalars.resize(kMemoryArguments + kScalars);
  }

  icd::DivisibleLaunch of(const protocol::Footprint& footprint, const RandomLaunch& launch) const {
    return {footprint, scalars, buffers, space, launch.has_groups};
  }
};

}  // namespace clique::test::division
