// The driver's cost in the application's process: memory of a context, processor time while idle, and both
// for large transfers. With --pause, another process can look at further processes at the same moments.
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

/// A value of /proc/self/status in MiB, such as "VmRSS" or "VmHWM".
double memory(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.compare(0, key.size() + 1, key + ":") == 0) return std::stod(line.substr(key.size() + 1)) / kib;
  throw std::runtime_error("/proc/self/status has no line " + key);
}

/// The processor time that all threads of this process have used, in seconds.
double processor_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Sends `moment` to the process at the other end of standard input, and waits for its answer.
void pause(const CostOptions& options, const std::string& moment) {
  if (!options.pause) return;
  const std::string line = moment + "\n";
  char answer = 0;
  if (write(STDIN_FILENO, line.data(), line.size()) < 0 || read(STDIN_FILENO, &answer, 1) != 1)
    throw std::runtime_error(
        "--pause needs a socket as standard input, with a process at its other end that answers");
}

/// Reports the cost of one `transfer` of `options.volume` bytes. Memory is the peak less `idle_memory` (MiB).
template <typename Transfer>
void measure_volume(const CostOptions& options, const std::string& name, double idle_memory,
                    Transfer&& transfer) {
  pause(options, "before " + name);
  std::ofstream("/proc/self/clear_refs") << 5;  // resets the peak
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
  // Makes the driver allocate the buffer's memory, which is not counted.
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
  const auto add = [&](CommandLine& line) {
    line.bytes("--volume", options.volume, "size of the transfers");
    line.flag(
        "--pause", options.pause,
        "before and after each transfer, write a line to standard input, which must be a socket, and wait "
        "for an answer");
  };
  return bench::run_opencl(argc, argv, "Memory and processor time of the driver", options, add,
                           [&] { measure(options); });
}
