// Random kernels as machine code, with checks that the compiler inserts before each access: what a part of a
// divided launch really accesses has to be what the client expects of it. docs/testing.md describes how to
// run more.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>

#include "division/checked_program.hpp"
#include "division/options.hpp"
#include "division/random_launch.hpp"
#include "division/recorder.hpp"
#include "icd/core/division/check_footprint.hpp"
#include "icd/core/division/divide.hpp"

namespace clique::test::division {

namespace {

constexpr const char* kCheckedUsage =
    "checked_tests [--seed N] [--seeds N] [--print] [--too-small]\n"
    "  --seed N     the first program; 1\n"
    "  --seeds N    how many programs, with the seeds N, N + 1, ..., of 32 kernels each; 20\n"
    "  --print      prints the kernels\n"
    "  --too-small  takes the last byte away from each range that is expected, which has to be noticed\n";

constexpr unsigned kCheckedKernels = 32;
constexpr unsigned kCheckedLaunches = 4;
/// Between objects, so that an access beside one is noticed before it does harm.
constexpr std::size_t kGap = 4096;

struct CheckedCounts {
  std::uint64_t kernels = 0;
  std::uint64_t launches = 0;
  std::uint64_t parts = 0;
  std::uint64_t accesses = 0;
  std::uint64_t merges = 0;
  std::uint64_t images = 0;  ///< accesses to pixels
};

/// What one object may be used for by a part: ranges of the whole object.
struct Expected {
  icd::RangeSet reads;
  icd::RangeSet writes;
};

icd::RangeSet shifted(const icd::RangeSet& ranges, std::uint64_t by, bool too_small) {
  icd::RangeSet result;
  for (const auto& range : ranges.ranges())
    result.add(range.begin + by, range.end + by - (too_small ? 1 : 0));
  return result;
}

/// One part of one launch, while it runs.
class PartRun {
 public:
  PartRun(const RandomLaunch& launch, const icd::Division& division, std::size_t part, bool too_small)
      : launch_(launch) {
    const icd::DividedPart& expected = division.parts[part];
    for (std::size_t i = 0; i < expected.reads.size(); ++i) {
      const Part& argument = launch.buffers[i];
      Expected& object = expected_[argument.object];
      object.reads.add(shifted(expected.reads[i], argument.begin, too_small));
      object.writes.add(shifted(expected.writes[i], argument.begin, too_small));
    }
    for (unsigned i = 0; i < kBuffers; ++i) {
      base_[i] = kGap + i * (kObjectSize + kGap);
      copy_[i] = kGap + (kBuffers + i) * (kObjectSize + kGap);
    }
    memory_.resize(kGap + 2 * kBuffers * (kObjectSize + kGap));
    for (unsigned i = 0; i < kBuffers; ++i)
      for (std::uint64_t at = 0; at < kObjectSize; ++at)
        memory_[base_[i] + at] = static_cast<std::byte>(Recorder::content(i, at));
    for (unsigned i = 0; i < kBuffers; ++i)
      arguments.buffers[i] = memory_.data() + base_[launch.buffers[i].object] + launch.buffers[i].begin;
    if (part == 0) return;
    for (const icd::MergedBuffer& merged : division.merged) {
      // The part changes a copy.
      icd::RangeSet changes;
      for (const icd::MergedChange& change : merged.changes) changes.add(change.begin, change.end);
      copies_[merged.buffer] = shifted(changes, 0, too_small);
      arguments.buffers[merged.buffer] = memory_.data() + copy_[merged.buffer];
    }
  }

  void check(const CheckedAccess& access) {
    ++accesses;
    const auto place = static_cast<std::size_t>(access.address - memory_.data());
    for (unsigned i = 0; i < kBuffers; ++i) {
      if (place >= base_[i] && place + access.size <= base_[i] + kObjectSize)
        return check_object(i, place - base_[i], access.size, access.writes);
      if (place < copy_[i] || place + access.size > copy_[i] + kObjectSize) continue;
      const std::uint64_t begin = place - copy_[i];
      if (!access.writes || !contains(copies_[i], begin, begin + access.size))
        note(access.writes, begin, access.size, "its copy of memory argument " + std::to_string(i));
      const Part& argument = launch_.buffers[i];
      if (begin + access.size <= argument.size)
        touched.note(argument.object, argument.begin + begin, access.size, access.writes);
      return;
    }
    note(access.writes, place, access.size, "the memory that holds all objects, outside of these");
  }

  void check(const CheckedPixel& pixel) {
    ++accesses;
    ++pixels;
    try {
      const auto place = launch_.place_of(pixel.image, pixel.at, pixel.writes);
      const Part& argument = launch_.buffers[kBuffers + pixel.image];
      if (place)
        check_object(argument.object, argument.begin + *place, launch_.images->pixel_size(), pixel.writes);
    } catch (const Undefined&) {
      wrong = "it reads a pixel outside of image " + std::to_string(pixel.image);
    }
  }

  CheckedMemory arguments;
  Touched touched;
  std::uint64_t accesses = 0;
  std::uint64_t pixels = 0;
  std::string wrong;  ///< empty: all accesses were expected

 private:
  void check_object(unsigned object, std::uint64_t begin, std::uint64_t size, bool writes) {
    touched.note(object, begin, size, writes);
    const Expected& expected = expected_[object];
    // What may be written has to be there before, because it may keep its content.
    if (contains(expected.reads, begin, begin + size) &&
        (!writes || contains(expected.writes, begin, begin + size)))
      return;
    std::string what = "object " + std::to_string(object);
    for (unsigned i = 0; i < kMemoryArguments; ++i) {
      const Part& argument = launch_.buffers[i];
      if (argument.object != object || argument.begin > begin ||
          begin + size > argument.begin + argument.size)
        continue;
      what += ", at offset " + std::to_string(begin - argument.begin) + " of memory argument " +
              std::to_string(i);
    }
    note(writes, begin, size, what);
  }

  void note(bool writes, std::uint64_t begin, std::uint64_t size, const std::string& what) {
    if (!wrong.empty()) return;
    wrong = std::string("it ") + (writes ? "writes" : "reads") + " bytes " + std::to_string(begin) + " to " +
            std::to_string(begin + size) + " of " + what + ", which was not expected of it";
  }

  const RandomLaunch& launch_;
  std::array<Expected, kObjects> expected_;
  std::array<icd::RangeSet, kBuffers> copies_;  ///< of arguments that are merged: what may change
  std::array<std::size_t, kBuffers> base_{};    ///< where objects that are buffers begin in the memory
  std::array<std::size_t, kBuffers> copy_{};
  std::vector<std::byte> memory_;
};

/// Runs launches of one program.
class CheckedRuns {
 public:
  CheckedRuns(CheckedProgram& program, bool optimised, bool too_small, CheckedCounts& counts)
      : program_(program), optimised_(optimised), too_small_(too_small), counts_(counts) {}

  void run(const RandomKernel& kernel, const protocol::Footprint& footprint, const RandomLaunch& launch) {
    Recorder recorder(launch);
    launch.each_item({}, {launch.groups(0), launch.groups(1), launch.groups(2)},
                     [&](const Item& item) { kernel.run(item, launch.scalars, recorder); });
    ++counts_.launches;
    const LaunchArguments arguments(launch);
    for (const std::size_t members : {1U, 2U, 3U, 5U}) {
      const icd::Division division = icd::divide(arguments.of(footprint, launch), members);
      counts_.merges += division.merged.empty() ? 0 : 1;
      std::vector<Touched> touched;
      for (std::size_t i = 0; i < division.parts.size(); ++i)
        touched.push_back(run_part(kernel, launch, division, i));
      require_apart(touched, merged_bytes(launch, division));
    }
  }

 private:
  /// @returns what the part has accessed; its copies count as what they are copies of
  Touched run_part(const RandomKernel& kernel, const RandomLaunch& launch, const icd::Division& division,
                   std::size_t index) {
    PartRun part(launch, division, index, too_small_);
    const Checks checks{[&](const CheckedAccess& access) { part.check(access); },
                        [&](const CheckedPixel& pixel) { part.check(pixel); }};
    Touched modelled;
    Recorder recorder(launch);
    recorder.check = [&](const Used& used) {
      const Part& argument = launch.buffers[used.buffer];
      modelled.note(argument.object, argument.begin + used.begin, used.size, used.writes);
    };
    std::array<std::uint64_t, 3> begin{};
    std::array<std::uint64_t, 3> end{launch.groups(0), launch.groups(1), launch.groups(2)};
    begin[division.dimension] = division.parts[index].begin;
    end[division.dimension] = division.parts[index].end;
    launch.each_item(begin, end, [&](const Item& item) {
      kernel.run(item, launch.scalars, recorder);
      program_.run(kernel.name(), item, launch.scalars, part.arguments, checks);
    });
    ++counts_.parts;
    counts_.accesses += part.accesses;
    counts_.images += part.pixels;
    const std::string where = "part " + std::to_string(index) + " of " +
                              std::to_string(division.parts.size()) + (optimised_ ? ", optimised: " : ": ");
    if (!part.wrong.empty()) throw Wrong(where + part.wrong);
    if (!optimised_) require_same(modelled, part.touched, where);
    return std::move(part.touched);
  }

  /// The bytes of which parts change copies.
  static std::array<icd::RangeSet, kObjects> merged_bytes(const RandomLaunch& launch,
                                                          const icd::Division& division) {
    std::array<icd::RangeSet, kObjects> merged;
    for (const icd::MergedBuffer& buffer : division.merged) {
      const Part& argument = launch.buffers[buffer.buffer];
      for (const icd::MergedChange& change : buffer.changes)
        merged[argument.object].add(argument.begin + change.begin, argument.begin + change.end);
    }
    return merged;
  }

  /// No part may write what another one reads or writes.
  static void require_apart(const std::vector<Touched>& parts,
                            const std::array<icd::RangeSet, kObjects>& merged) {
    for (unsigned object = 0; object < kObjects; ++object)
      for (std::uint64_t at = 0; at < size_of(object); ++at) {
        std::size_t writers = 0;
        std::size_t users = 0;
        for (const Touched& part : parts) {
          writers += part.written[object][at] ? 1 : 0;
          users += part.written[object][at] || part.read[object][at] ? 1 : 0;
        }
        if (writers > 0 && users > 1 && !contains(merged[object], at, at + 1))
          throw Wrong("one part writes byte " + std::to_string(at) + " of object " + std::to_string(object) +
                      ", which another one uses");
      }
  }

  /// The test's own model of OpenCL C has to access the same bytes as the compiler's code, or the tests that
  /// rely on it prove nothing. An atomic operation counts as a write here, and there perhaps as a read, too.
  static void require_same(const Touched& modelled, const Touched& real, const std::string& where) {
    for (unsigned object = 0; object < kObjects; ++object)
      for (std::uint64_t at = 0; at < size_of(object); ++at) {
        const bool reads = real.read[object][at];
        const bool writes = real.written[object][at];
        if (writes == modelled.written[object][at] && (modelled.read[object][at] ? reads || writes : !reads))
          continue;
        throw Wrong(where + "the compiler's code and this test's model differ in how they access byte " +
                    std::to_string(at) + " of object " + std::to_string(object));
      }
  }

  CheckedProgram& program_;
  bool optimised_;
  bool too_small_;
  CheckedCounts& counts_;
};

void run_seed(std::uint64_t seed, const Options& options, bool too_small, CheckedCounts& counts) {
  Random random(seed);
  std::map<std::string, RandomKernel> kernels;
  std::string source;
  for (unsigned i = 0; i < kCheckedKernels; ++i) {
    RandomKernel kernel("k" + std::to_string(i), random);
    source += kernel.source();
    kernels.emplace(kernel.name(), std::move(kernel));
  }
  if (options.print) std::printf("== seed %llu\n%s", static_cast<unsigned long long>(seed), source.c_str());
  const bool optimised = seed % 2 == 0;
  CheckedProgram program(source, optimised);
  CheckedRuns runs(program, optimised, too_small, counts);
  for (const protocol::Footprint& footprint : program.footprints()) {
    const RandomKernel& kernel = kernels.at(footprint.kernel);
    ++counts.kernels;
    if (const std::string flaw = icd::flaw_of(footprint, kMemoryArguments + kScalars); !flaw.empty())
      throw Wrong("the footprint of " + kernel.name() + ": " + flaw);
    if (!footprint.obstacle.empty()) continue;
    for (unsigned i = 0; i < kCheckedLaunches; ++i) {
      const RandomLaunch launch(random, kernel, footprint.uses_groups, random.percent(50));
      try {
        runs.run(kernel, footprint, launch);
      } catch (const Undefined&) {
      } catch (const Wrong& wrong) {
        throw Wrong("launch " + std::to_string(i) + " of\n" + kernel.source() + wrong.what());
      }
    }
  }
}

int run(const Options& options, bool too_small) {
  CheckedCounts counts;
  for (std::uint64_t i = 0; i < options.seeds; ++i) {
    try {
      run_seed(options.seed + i, options, too_small, counts);
    } catch (const Wrong& wrong) {
      const std::uint64_t seed = options.seed + i;
      std::printf("WRONG: seed %llu: %s\n", static_cast<unsigned long long>(seed), wrong.what());
      return EXIT_FAILURE;
    }
  }
  const auto show = [](std::uint64_t count) { return static_cast<unsigned long long>(count); };
  std::printf(
      "%llu kernels, %llu launches, %llu parts, %llu accesses checked, %llu of them to pixels, %llu "
      "divisions with "
      "merges; none wrong\n",
      show(counts.kernels), show(counts.launches), show(counts.parts), show(counts.accesses),
      show(counts.images), show(counts.merges));
  // Otherwise nothing was tested.
  return counts.accesses == 0 || (options.seeds >= 10 && (counts.images == 0 || counts.merges == 0))
             ? EXIT_FAILURE
             : EXIT_SUCCESS;
}

}  // namespace

}  // namespace clique::test::division

int main(int count, char** words) {
  using namespace clique::test::division;
  try {
    bool too_small = false;
    const Options options = parse(count, words, {.seeds = 20}, [&](const std::string& name) {
      if (name != "--too-small") return false;
      too_small = true;
      return true;
    });
    return run(options, too_small);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n%s", error.what(), kCheckedUsage);
    return 2;
  }
}
