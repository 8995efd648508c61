// A session that uses a device beside others: bench/share starts several of these at the same time. Also
// finds out how much work a kernel has to have to take a certain time.
#include <deque>
#include <iostream>

#include "opencl.hpp"

namespace {

using namespace bench;

struct ShareOptions : OpenCLOptions {
  double milliseconds = 0;
  size_t rounds = 0;
  size_t items = 0;
  size_t ahead = 4;
  double seconds = 5;
};

/// Work that keeps every compute unit busy and uses no memory.
constexpr const char* kBurn = R"(
kernel void burn(global float* to, ulong rounds) {
  float a = get_global_id(0) * 1e-6f, b = 0.5f;
  for (ulong i = 0; i < rounds; ++i) {
    a = fma(a, 0.999f, b);
    b = fma(b, 0.998f, a * 1e-3f);
  }
  to[get_global_id(0)] = a + b;
})";

class Burner {
 public:
  explicit Burner(const ShareOptions& options)
      : device_(devices_of(options.platform).at(0)), context_(device_), queue_(context_, device_) {
    const size_t units = device_.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
    const bool gpu = (device_.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_GPU) != 0;
    items_ = options.items != 0 ? options.items : units * (gpu ? 2048 : 64);
    kernel_ = build_kernel(context_, kBurn, "burn");
    buffer_ = cl::Buffer(context_, CL_MEM_READ_WRITE, items_ * sizeof(cl_float));
    kernel_.setArg(0, buffer_);
  }

  void set_rounds(size_t rounds) { kernel_.setArg(1, static_cast<cl_ulong>(rounds)); }
  cl::Event launch() {
    cl::Event event;
    queue_.enqueueNDRangeKernel(kernel_, cl::NullRange, cl::NDRange(items_), cl::NullRange, nullptr, &event);
    queue_.flush();
    return event;
  }
  double time_of_one() {
    return seconds([this] { launch().wait(); });
  }

 private:
  cl::Device device_;
  cl::Context context_;
  cl::CommandQueue queue_;
  cl::Kernel kernel_;
  cl::Buffer buffer_;
  size_t items_ = 0;
};

/// Reports how many rounds take this long.
void calibrate(Burner& burner, double wanted, int repeats) {
  // Whatever else the machine does only adds to the time.
  const auto time_of = [&](size_t rounds) {
    burner.set_rounds(rounds);
    double least = burner.time_of_one();
    for (int i = 1; i < repeats; ++i) least = std::min(least, burner.time_of_one());
    return least;
  };
  size_t rounds = 512;
  while (time_of(rounds) < std::clamp(wanted, 0.002, 0.02)) rounds *= 2;
  // Without what a launch costs by itself.
  const size_t half = rounds / 2;
  const double time = time_of(rounds) - time_of(half);
  if (time <= 0) throw std::runtime_error("twice the work takes no longer, because others use the device");
  report("rounds", std::max(1.0, static_cast<double>(rounds - half) * wanted / time), "");
}

/// Runs kernels, of which some are always ahead, and reports how many ended in the time.
void work(Burner& burner, const ShareOptions& options) {
  using Clock = std::chrono::steady_clock;
  burner.set_rounds(options.rounds);
  for (int warm_up = 0; warm_up < 3; ++warm_up) burner.time_of_one();
  std::puts("ready");
  std::fflush(stdout);
  std::string line;
  std::getline(std::cin, line);

  std::deque<std::pair<cl::Event, Clock::time_point>> ahead;
  std::vector<double> waits;
  const auto start = Clock::now();
  const auto end = start + std::chrono::duration<double>(options.seconds);
  while (Clock::now() < end) {
    while (ahead.size() < options.ahead) {
      const auto now = Clock::now();
      ahead.emplace_back(burner.launch(), now);
    }
    ahead.front().first.wait();
    const auto now = Clock::now();
    waits.push_back(std::chrono::duration<double>(now - ahead.front().second).count());
    ahead.pop_front();
  }
  const double passed = std::chrono::duration<double>(Clock::now() - start).count();
  report("kernels", static_cast<double>(waits.size()) / passed, "/s");
  report("median wait", 1e3 * median(waits), "ms");
  report("longest wait", 1e3 * *std::max_element(waits.begin(), waits.end()), "ms");
  // Later sessions are not to have the device for themselves because this one has ended a little earlier.
  for (const auto& [event, since] : ahead) event.wait();
}

}  // namespace

int main(int argc, char** argv) {
  ShareOptions options;
  const auto add = [&](CommandLine& line) {
    line.option("--milliseconds", options.milliseconds, "find the rounds for kernels of this length, and end",
                0.0);
    line.option("--rounds", options.rounds, "work of a kernel, as --milliseconds finds it");
    line.option("--items", options.items, "work-items of a kernel; default: enough for the whole device");
    line.option("--ahead", options.ahead, "kernels that are enqueued before the first of them has ended",
                1.0);
    line.option("--seconds", options.seconds, "how long to run, from the first line on standard input", 0.1);
  };
  return bench::run_opencl(argc, argv, "A session that uses a device beside others", options, add, [&] {
    Burner burner(options);
    if (options.milliseconds > 0)
      calibrate(burner, options.milliseconds / 1e3, options.repeats);
    else if (options.rounds > 0)
      work(burner, options);
    else
      throw std::runtime_error("say --milliseconds or --rounds");
  });
}
