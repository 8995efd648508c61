// What the driver costs the application's process: memory for a context, processor time while nothing
// happens, and both for a large transfer. With --pause somebody else may look at other processes at the same
// moments.
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <thread>

#include "opencl.hpp"

namespace {

using namespace bench;

struct CostOptions : OpenCLOptions {
  size_t volume = gib;
  bool pause = false;
};

/// A value of /proc/self/status in MiB: "VmRSS", "VmHWM".
double memory(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.compare(0, key.size() + 1, key + ":") == 0) return std::stod(line.substr(key.size() + 1)) / kib;
  throw std::runtime_error("no " + key + " in /proc/self/status");
}

/// Seconds of processor time that all threads of this process have used.
double processor_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Tells whoever has the other end of our standard input where we are, and goes on when that has answered.
void pause(const CostOptions& options, const std::string& moment) {
  if (!options.pause) return;
  const std::string line = moment + "\n";
  char answer = 0;
  if (write(STDIN_FILENO, line.data(), line.size()) < 0 || read(STDIN_FILENO, &answer, 1) != 1)
    throw std::runtime_error("standard input is no socket of somebody who answers");
}

/// Reports what one `transfer` of `options.volume` costs; memory is what there is more than `idle_memory`.
template <typename Transfer>
void measure_volume(const CostOptions& options, const std::string& name, double idle_memory,
                    Transfer&& transfer) {
  pause(options, "before " + name);
  std::ofstream("/proc/self/clear_refs") << 5;  // The peak is counted from here.
  const double time_before = processor_time();
  transfer();
  const double time = processor_time() - time_before;
  const double peak = memory("VmHWM") - idle_memory;
  pause(options, "after " + name);
  report(name + ": client's CPU", time / (1e-9 * static_cast<double>(options.volume)), "s/GB");
  report(name + ": client's memory", peak, "MiB");
}

void measure(const CostOptions& options) {
  const double memory_before = memory("VmRSS");
  const cl::Device device = devices_of(options.platform).at(0);
  const cl::Context context(device);
  report("memory of platform and context", memory("VmRSS") - memory_before, "MiB");

  const cl::CommandQueue queue(context, device);
  const cl::Kernel kernel = build_kernel(context, "kernel void nothing() {}", "nothing");
  enqueue(queue(), kernel());
  queue.finish();
  constexpr int idle = 2;
  const double time_before = processor_time();
  std::this_thread::sleep_for(std::chrono::seconds(idle));
  report("CPU while idle", 1e3 * (processor_time() - time_before) / idle, "ms/s");

  const cl::Buffer buffer(context, CL_MEM_READ_WRITE, options.volume);
  std::vector<char> data(options.volume, 'x');
  // The device's memory is used from here on, and is not counted.
  queue.enqueueFillBuffer(buffer, cl_int{0}, 0, options.volume);
  queue.finish();
  const double idle_memory = memory("VmRSS");
  const std::string of = " of " + size_name(options.volume);
  measure_volume(options, "write" + of, idle_memory, [&] {
    queue.enqueueWriteBuffer(buffer, CL_TRUE, 0, options.volume, data.data());
    queue.finish();
  });
  measure_volume(options, "read" + of, idle_memory,
                 [&] { queue.enqueueReadBuffer(buffer, CL_TRUE, 0, options.volume, data.data()); });
}

}  // namespace

int main(int argc, char** argv) {
  CostOptions options;
  const auto add = [&](CLI::App& app) {
    app.add_option("--volume", options.volume, "size of the transfers")->transform(CLI::AsSizeValue(false));
    app.add_flag(
        "--pause", options.pause,
        "before and after each transfer, say so on standard input, a socket, and wait for an answer");
  };
  return bench::run_opencl(argc, argv, "Memory and processor time of the driver", options, add,
                           [&] { measure(options); });
}
