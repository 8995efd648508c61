// Random kernels: everything that a part of a launch accesses has to be what the client expects of it, and
// parts of a divided launch must not interfere. docs/testing.md describes how to run more, and how to replay
// one.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <tuple>

#include "daemon/compiler/client/compiler_process.hpp"
#include "daemon/compiler/contract/language_features.hpp"
#include "daemon/compiler/contract/message_io.hpp"
#include "division/options.hpp"
#include "division/random_launch.hpp"
#include "division/recorder.hpp"
#include "icd/core/division/check_footprint.hpp"
#include "icd/core/division/divide.hpp"

namespace clique::test::division {

namespace {

namespace compiler = daemon::compiler;

constexpr const char* kUsage =
    "division_tests [--seed N] [--seeds N] [--print]\n"
    "  --seed N   the first program; 1\n"
    "  --seeds N  how many programs, with the seeds N, N + 1, ..., of 64 kernels each; 100\n"
    "  --print    prints the kernels\n";

constexpr unsigned kKernels = 64;
constexpr unsigned kLaunches = 8;

struct Counts {
  std::uint64_t kernels = 0;
  std::uint64_t obstacles = 0;
  std::uint64_t launches = 0;   ///< that are defined
  std::uint64_t divisions = 0;  ///< of such launches, into a number of parts
  std::uint64_t of_images = 0;  ///< of these, of launches that write images
  std::uint64_t merges = 0;     ///< of these, of launches whose changes of a buffer are merged
};

/// Compares one launch with what is expected of it.
class Comparison {
 public:
  Comparison(const RandomKernel& kernel, const protocol::Footprint& footprint, const RandomLaunch& launch)
      : kernel_(kernel), footprint_(footprint), launch_(launch), arguments_(launch) {}

  void run(Random& random, Counts& counts) {
    Recorder whole(launch_);
    const std::array<std::uint64_t, 3> all{launch_.groups(0), launch_.groups(1), launch_.groups(2)};
    launch_.each_item({}, all, [&](const Item& item) { kernel_.run(item, launch_.scalars, whole); });
    ++counts.launches;
    check_box(random);
    const bool writes_image =
        std::any_of(footprint_.accesses.begin(), footprint_.accesses.end(),
                    [](const auto& access) { return access.writes && !access.coordinates.empty(); });
    for (const std::size_t members : {2U, 3U, 5U}) {
      const icd::Division division = icd::divide(arguments_.of(footprint_, launch_), members);
      if (division.parts.empty()) continue;
      check_division(division);
      ++counts.divisions;
      counts.of_images += writes_image ? 1 : 0;
      counts.merges += division.merged.empty() ? 0 : 1;
    }
  }

 private:
  /// The accesses of some of the groups.
  void check_box(Random& random) const {
    icd::GroupBox box;
    for (unsigned d = 0; d < 3; ++d) {
      box.begin[d] = random.below(launch_.groups(d));
      box.end[d] = box.begin[d] + 1 + random.below(launch_.groups(d) - box.begin[d]);
    }
    std::array<icd::RangeSet, kMemoryArguments> reads;
    std::array<icd::RangeSet, kMemoryArguments> writes;
    for (const auto& access : footprint_.accesses) {
      const std::size_t used = access.argument < kBuffers ? access.argument : access.argument - kScalars;
      const icd::UsedBuffer& buffer = arguments_.buffers.at(used);
      (access.writes ? writes : reads)[used].add(icd::bytes_of(
          footprint_, access, arguments_.scalars, arguments_.space, box, {buffer.size, buffer.image}));
    }
    Recorder recorder(launch_);
    recorder.check = [&](const Used& used) {
      if (contains((used.writes ? writes : reads)[used.buffer], used.begin, used.end())) return;
      throw Wrong("a part " + std::string(used.writes ? "writes" : "reads") + " bytes " +
                  std::to_string(used.begin) + " to " + std::to_string(used.end()) + " of memory argument " +
                  std::to_string(used.buffer) + ", which was not expected of it");
    };
    launch_.each_item(box.begin, box.end,
                      [&](const Item& item) { kernel_.run(item, launch_.scalars, recorder); });
  }

  void check_division(const icd::Division& division) const {
    std::vector<std::unique_ptr<Touched>> touched;
    // What is merged: through which memory argument each byte of the objects is changed, from 1 on.
    std::array<std::vector<unsigned>, kObjects> changed;
    for (unsigned object = 0; object < kObjects; ++object) changed[object].resize(size_of(object));
    std::uint64_t next = 0;
    for (const icd::DividedPart& part : division.parts) {
      if (part.begin != next) throw Wrong("the parts do not follow each other");
      next = part.end;
      touched.push_back(std::make_unique<Touched>());
      std::array<std::uint64_t, 3> begin{};
      std::array<std::uint64_t, 3> end{launch_.groups(0), launch_.groups(1), launch_.groups(2)};
      begin[division.dimension] = part.begin;
      end[division.dimension] = part.end;
      Recorder recorder(launch_);
      std::vector<Used> accesses;
      recorder.check = [&](const Used& used) {
        accesses.push_back(used);
        const Part& argument = launch_.buffers[used.buffer];
        const icd::MergedBuffer* const merged = merge_of(division, used.buffer);
        if (merged != nullptr) require_merged(*merged, used);
        if (merged != nullptr && &part != &division.parts.front()) {
          if (!part.reads[used.buffer].empty()) throw Wrong("a part uses a buffer as well as its copy of it");
        } else if (!contains(part.reads[used.buffer], used.begin, used.end()) ||
                   (used.writes && !contains(part.writes[used.buffer], used.begin, used.end()))) {
          throw Wrong("a part of a division accesses what was not expected of it");
        }
        for (std::uint64_t at = argument.begin + used.begin; at < argument.begin + used.end(); ++at) {
          if (merged == nullptr) {
            touched.back()->note(argument.object, at, 1, used.writes);
            continue;
          }
          unsigned& through = changed[argument.object][at];
          if (through != 0 && through != used.buffer + 1)
            throw Wrong("merged bytes are those of two arguments");
          through = used.buffer + 1;
        }
      };
      launch_.each_item(begin, end, [&](const Item& item) {
        accesses.clear();
        kernel_.run(item, launch_.scalars, recorder);
        const auto whole = accesses;
        accesses.clear();
        kernel_.run(as_in_part(item, division.dimension, part), launch_.scalars, recorder);
        if (accesses != whole) throw Wrong("the kernel behaves differently as a part of the launch");
      });
    }
    if (next != launch_.groups(division.dimension)) throw Wrong("groups are in no part");
    for (std::size_t i = 0; i < touched.size(); ++i)
      for (std::size_t j = 0; j < touched.size(); ++j)
        if (i != j) require_apart(*touched[i], *touched[j]);
    for (const auto& each : touched)
      for (unsigned object = 0; object < kObjects; ++object)
        for (std::uint64_t at = 0; at < size_of(object); ++at)
          if (changed[object][at] != 0 && (each->read[object][at] || each->written[object][at]))
            throw Wrong("byte " + std::to_string(at) + " of an object is merged, and accessed otherwise");
  }

  static const icd::MergedBuffer* merge_of(const icd::Division& division, unsigned buffer) {
    const auto found = std::find_if(division.merged.begin(), division.merged.end(),
                                    [&](const auto& merged) { return merged.buffer == buffer; });
    return found == division.merged.end() ? nullptr : &*found;
  }

  static void require_merged(const icd::MergedBuffer& merged, const Used& used) {
    const auto has_byte = [&](const icd::MergedChange& each) {
      return used.begin < each.end && each.begin < used.end();
    };
    const auto found = std::find_if(merged.changes.begin(), merged.changes.end(), has_byte);
    if (std::count_if(merged.changes.begin(), merged.changes.end(), has_byte) != 1 ||
        used.begin < found->begin || used.end() > found->end ||
        (used.begin - found->begin) % found->width != 0)
      throw Wrong("bytes " + std::to_string(used.begin) + " to " + std::to_string(used.end()) +
                  " of memory argument " + std::to_string(used.buffer) + " change, but are not merged");
    if (used.change != found->change || used.size != found->width)
      throw Wrong("memory argument " + std::to_string(used.buffer) +
                  " is merged, but there are accesses of other kinds to the same bytes");
  }

  static void require_apart(const Touched& one, const Touched& other) {
    for (unsigned object = 0; object < kObjects; ++object)
      for (std::uint64_t at = 0; at < size_of(object); ++at)
        if (one.written[object][at] && (other.written[object][at] || other.read[object][at]))
          throw Wrong("one part writes byte " + std::to_string(at) + " of an object, which another one " +
                      (other.written[object][at] ? "writes" : "reads"));
  }

  /// How a driver that gets the part as a launch, with its offset and size, answers the kernel. Ids of
  /// work-groups come from the source of parts (daemon/backend/opencl/part_source.hpp).
  Item as_in_part(Item item, unsigned d, const icd::DividedPart& part) const {
    const std::uint64_t local = launch_.local[d];
    item.offset[d] += part.begin * local;
    item.group[d] -= part.begin;
    for (unsigned i = 0; i < 3; ++i) item.group[i] += item.offset[i] / item.enqueued_size[i];
    item.groups[d] = part.end - part.begin;
    item.global_size[d] = std::min(part.end * local, launch_.global[d]) - part.begin * local;
    return item;
  }

  const RandomKernel& kernel_;
  const protocol::Footprint& footprint_;
  const RandomLaunch& launch_;
  const LaunchArguments arguments_;
};

compiler::Analysis analyse(compiler::CompilerProcess& process, const std::string& source,
                           const std::string& options) {
  compiler::Request request;
  request.kind = compiler::Request::Kind::Analyse;
  request.architecture = "sm_90";
  request.source = source;
  request.options = options;
  request.extensions = compiler::language_extensions();
  const compiler::Result result = process.run(request, std::chrono::seconds(120));
  if (result.status != 0) throw Wrong("the kernels do not compile:\n" + result.log);
  return compiler::decode<compiler::Analysis>(result.binary);
}

void run_seed(std::uint64_t seed, compiler::CompilerProcess& process, const Options& options,
              Counts& counts) {
  Random random(seed);
  std::vector<RandomKernel> kernels;
  std::string source;
  for (unsigned i = 0; i < kKernels; ++i) {
    kernels.emplace_back("k" + std::to_string(i), random);
    source += kernels.back().source();
  }
  if (options.print) std::printf("== seed %llu\n%s", static_cast<unsigned long long>(seed), source.c_str());
  const bool partial = random.percent(50);
  const auto analysis = analyse(process, source, "-cl-std=CL3.0");
  for (const protocol::Footprint& footprint : analysis.footprints) {
    const RandomKernel& kernel = kernels.at(std::stoul(footprint.kernel.substr(1)));
    ++counts.kernels;
    if (const std::string flaw = icd::flaw_of(footprint, kMemoryArguments + 4); !flaw.empty())
      throw Wrong("the footprint of " + kernel.name() + ": " + flaw);
    if (!footprint.obstacle.empty()) {
      ++counts.obstacles;
      continue;
    }
    for (unsigned i = 0; i < kLaunches; ++i) {
      const RandomLaunch launch(random, kernel, footprint.uses_groups, partial);
      try {
        Comparison(kernel, footprint, launch).run(random, counts);
      } catch (const Undefined&) {
      } catch (const Wrong& wrong) {
        throw Wrong("launch " + std::to_string(i) + " of\n" + kernel.source() + wrong.what());
      }
    }
  }
}

int run(const Options& options) {
  compiler::CompilerProcess process(compiler::find_compiler(), compiler::Cache({}));
  Counts counts;
  for (std::uint64_t i = 0; i < options.seeds; ++i) {
    try {
      run_seed(options.seed + i, process, options, counts);
    } catch (const Wrong& wrong) {
      std::printf("WRONG: seed %s: %s\n", std::to_string(options.seed + i).c_str(), wrong.what());
      return EXIT_FAILURE;
    }
  }
  const auto show = [](std::uint64_t count) { return static_cast<unsigned long long>(count); };
  std::printf(
      "%llu kernels, %llu with obstacles; %llu launches, %llu divisions, %llu of them with writes to images, "
      "%llu with merges; none wrong\n",
      show(counts.kernels), show(counts.obstacles), show(counts.launches), show(counts.divisions),
      show(counts.of_images), show(counts.merges));
  // Kernels of which none can be divided would prove nothing.
  if (options.seeds >= 10 && (counts.divisions == 0 || counts.of_images == 0 || counts.merges == 0))
    return EXIT_FAILURE;
  return EXIT_SUCCESS;
}

}  // namespace

}  // namespace clique::test::division

int main(int count, char** words) {
  try {
    return clique::test::division::run(clique::test::division::parse(count, words, {.seeds = 100}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n%s", error.what(), clique::test::division::kUsage);
    return 2;
  }
}
