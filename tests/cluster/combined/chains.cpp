// Launches on a combined device that follow each other in an in-order queue, with other commands between some
// of them. Members have different amounts of work, so that some are several launches ahead of others. Results
// are compared with those of a computation on the host. Wants CLIQUE_COMBINE=all,
// CLIQUE_COMBINE_DIVIDE=always and CLIQUE_COMBINE_EXPLAIN=1.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#include <CL/opencl.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cluster/combined/complaints.hpp"
#include "cluster/combined/explanations.hpp"
#include "division/options.hpp"
#include "division/random_kernel.hpp"

namespace clique::test::division {

namespace {

constexpr const char* kUsage =
    "chain_tests [--seed N] [--seeds N] [--check]\n"
    "  --seed N   the first chain; 1\n"
    "  --seeds N  how many chains; 10\n"
    "  --check    builds the kernel with -clique-check-footprints; for members that are NVIDIA GPUs through "
    "CUDA\n";

constexpr std::size_t kItems = 16384;
constexpr std::size_t kGroup = 64;
/// Work-items that have more to do than others, if any have: one of this many equal shares.
constexpr std::size_t kShares = 16;
/// Integers of a buffer before and behind those that launches write.
constexpr std::size_t kMargin = 2048;
constexpr std::size_t kBuffers = 3;
constexpr unsigned kCommands = 40;

constexpr const char* kSource = R"(
__kernel void step_on(__global const uint* from, __global uint* to, int shift, uint slow, uint turns) {
  uint i = get_global_id(0);
  uint x = from[(int)i + MARGIN + shift];
  if (i / SHARE == slow)
    for (uint k = 0; k < turns; ++k) x = x * 1664525u + 1013904223u;
  to[i + MARGIN] = x + i;
}
)";

using Integers = std::vector<std::uint32_t>;

class Failed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A chain of commands on buffers of the device, and the same on the host.
class Chain {
 public:
  Chain(std::uint64_t seed, const cl::Context& context, const cl::Device& device, cl::Kernel kernel)
      : random_(seed), queue_(context, device), kernel_(std::move(kernel)) {
    for (std::size_t i = 0; i < kBuffers; ++i) {
      for (std::size_t at = 0; at < kItems + 2 * kMargin; ++at)
        expected_[i].push_back(static_cast<std::uint32_t>(at * 7919 + i));
      buffers_[i] = cl::Buffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes(expected_[i].size()),
                               expected_[i].data());
    }
  }

  void run() {
    for (unsigned i = 0; i < kCommands; ++i) {
      if (random_.percent(85))
        launch();
      else
        other_command();
    }
    for (std::size_t i = 0; i < kBuffers; ++i) read(i);
    queue_.finish();
    for (const Read& read : reads_)
      for (std::size_t at = 0; at < read.got.size(); ++at)
        if (read.got[at] != read.expected[at])
          throw Failed("integer " + std::to_string(at) + " of buffer " + std::to_string(read.buffer) +
                       " is " + std::to_string(read.got[at]) + " instead of " +
                       std::to_string(read.expected[at]) + " in a read after " +
                       std::to_string(read.launches) + " launches");
  }

 private:
  struct Read {
    std::size_t buffer;
    unsigned launches;
    Integers expected;
    Integers got;
  };

  static constexpr std::size_t bytes(std::size_t integers) { return integers * sizeof(std::uint32_t); }

  void launch() {
    const std::size_t from = random_.below(kBuffers);
    const std::size_t to = (from + 1 + random_.below(kBuffers - 1)) % kBuffers;
    const auto shift = random_.percent(30) ? 0 : random_.between(-std::int64_t{kMargin}, kMargin);
    const auto slow = static_cast<std::uint32_t>(random_.below(kShares));
    const auto turns = static_cast<std::uint32_t>(random_.percent(50) ? 0 : random_.below(20000));
    kernel_.setArg(0, buffers_[from]);
    kernel_.setArg(1, buffers_[to]);
    kernel_.setArg(2, static_cast<cl_int>(shift));
    kernel_.setArg(3, slow);
    kernel_.setArg(4, turns);
    // Neither changes what a launch may overtake.
    if (random_.percent(10)) queue_.enqueueBarrierWithWaitList();
    if (random_.percent(10)) queue_.enqueueMarkerWithWaitList();
    queue_.enqueueNDRangeKernel(kernel_, cl::NullRange, cl::NDRange(kItems), cl::NDRange(kGroup));
    ++launches_;
    for (std::size_t i = 0; i < kItems; ++i) {
      std::uint32_t x = expected_[from][i + kMargin + static_cast<std::size_t>(shift)];
      if (i / (kItems / kShares) == slow)
        for (std::uint32_t k = 0; k < turns; ++k) x = x * 1664525U + 1013904223U;
      expected_[to][i + kMargin] = x + static_cast<std::uint32_t>(i);
    }
  }

  void other_command() {
    const std::size_t buffer = random_.below(kBuffers);
    Integers& expected = expected_[buffer];
    const std::size_t begin = random_.below(expected.size() - 1);
    const std::size_t count = 1 + random_.below(std::min<std::size_t>(expected.size() - begin, 4096));
    const auto place = expected.begin() + static_cast<std::ptrdiff_t>(begin);
    switch (random_.below(4)) {
      case 0:
        queue_.enqueueFillBuffer(buffers_[buffer], launches_, bytes(begin), bytes(count));
        std::fill_n(place, count, launches_);
        return;
      case 1: {
        const std::size_t source = (buffer + 1) % kBuffers;
        queue_.enqueueCopyBuffer(buffers_[source], buffers_[buffer], bytes(begin), bytes(begin),
                                 bytes(count));
        std::copy_n(expected_[source].begin() + static_cast<std::ptrdiff_t>(begin), count, place);
        return;
      }
      case 2: {
        const Integers& data = written_.emplace_back(count, launches_ * 31);
        queue_.enqueueWriteBuffer(buffers_[buffer], CL_FALSE, bytes(begin), bytes(count), data.data());
        std::copy_n(data.begin(), count, place);
        return;
      }
      default:
        return read(buffer);
    }
  }

  /// Reads without waiting.
  void read(std::size_t buffer) {
    Read& read = reads_.emplace_back(Read{buffer, launches_, expected_[buffer], {}});
    read.got.resize(read.expected.size());
    queue_.enqueueReadBuffer(buffers_[buffer], CL_FALSE, 0, bytes(read.got.size()), read.got.data());
  }

  Random random_;
  cl::CommandQueue queue_;
  cl::Kernel kernel_;
  std::array<cl::Buffer, kBuffers> buffers_;
  std::array<Integers, kBuffers> expected_;
  std::deque<Integers> written_;  ///< what writes take their data from
  std::deque<Read> reads_;
  unsigned launches_ = 0;
};

int run(const Options& options, bool check) {
  const Explanations said;
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  std::vector<cl::Device> devices;
  platforms.at(0).getDevices(CL_DEVICE_TYPE_ALL, &devices);
  const cl::Device& device = devices.at(0);
  Complaints complaints;
  const cl::Context context(device, nullptr, &Complaints::note, &complaints);
  cl::Program program(context, kSource);
  const std::string macros =
      "-DMARGIN=" + std::to_string(kMargin) + " -DSHARE=" + std::to_string(kItems / kShares);
  program.build(device, (macros + (check ? " -clique-check-footprints" : "")).c_str());
  for (std::uint64_t seed = options.seed; seed < options.seed + options.seeds; ++seed) {
    std::string wrong;
    try {
      Chain(seed, context, device, {program, "step_on"}).run();
    } catch (const Failed& failed) {
      wrong = failed.what();
    } catch (const cl::Error&) {
      if (complaints.first().empty()) throw;
    }
    if (!complaints.first().empty()) wrong = complaints.first();
    if (wrong.empty()) continue;
    std::printf("WRONG: seed %llu: %s\n", static_cast<unsigned long long>(seed), wrong.c_str());
    return EXIT_FAILURE;
  }
  const bool divided = said.count(": divided into ") > 0 && said.count(": runs whole") == 0;
  std::printf("%llu chains of %u commands, %s; none wrong\n", static_cast<unsigned long long>(options.seeds),
              kCommands, divided ? "with divided launches" : "but not all launches were divided");
  return divided ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

}  // namespace clique::test::division

int main(int count, char** words) {
  try {
    bool check = false;
    const auto options =
        clique::test::division::parse(count, words, {.seeds = 10}, [&](const std::string& name) {
          check = check || name == "--check";
          return name == "--check";
        });
    return clique::test::division::run(options, check);
  } catch (const std::exception& error) {
    std::printf("%s\n%s", error.what(), clique::test::division::kUsage);
    return EXIT_FAILURE;
  }
}
