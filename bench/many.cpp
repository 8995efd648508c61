// What a program pays for the number of nodes that it uses: memory, descriptors and processor time for its
// start, for a kernel on every device with one wait for all, for a buffer that all devices read, and while it
// rests. The difference between runs with few and with many nodes, divided by that of the nodes, is what a
// node costs.
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "opencl.hpp"

namespace {

using namespace bench;

struct ManyOptions : OpenCLOptions {
  std::vector<size_t> sizes{4 * kib, 1 * mib, 16 * mib};
};

/// The processor time that all threads of this process have used, in milliseconds.
double processor_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

/// The memory that this process has, in MiB.
double memory() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / kib;
  throw std::runtime_error("/proc/self/status has no line VmRSS");
}

size_t descriptors() {
  const std::filesystem::directory_iterator open("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(open), end(open)));
}

/// Reports the medians of the time and of the processor time that `work` takes.
template <typename Work>
void measure(const std::string& name, int repeats, Work&& work) {
  std::vector<double> used;
  const double time = median(repeats, [&] {
    const double before = processor_time();
    const double taken = seconds(work);
    used.push_back(processor_time() - before);
    return taken;
  });
  report(name, 1e3 * time, "ms");
  report(name + ": client's CPU", median(std::move(used)), "ms");
}

/// The devices of one context, each with a queue and a buffer, and the kernels that read and write those.
struct Program {
  explicit Program(const std::vector<cl::Device>& devices) : context(devices), program(context, kSource) {
    program.build();
    change = cl::Kernel(program, "change");
    copy = cl::Kernel(program, "copy_first");
    for (const cl::Device& device : devices) {
      queues.emplace_back(context, device);
      own.emplace_back(context, CL_MEM_READ_WRITE, 4 * kib);
    }
  }

  /// A kernel on every device, and one wait for all.
  void round(cl::Kernel& kernel) const {
    std::vector<cl::Event> ends(queues.size());
    for (size_t i = 0; i < queues.size(); ++i) {
      kernel.setArg(0, own[i]);
      queues[i].enqueueNDRangeKernel(kernel, cl::NullRange, {1}, cl::NullRange, nullptr, &ends[i]);
      queues[i].flush();
    }
    cl::Event::waitForEvents(ends);
  }

  static constexpr const char* kSource =
      "kernel void change(global int* own) { ++*own; }\n"
      "kernel void copy_first(global int* own, global const int* shared) { *own = *shared; }\n";
  cl::Context context;
  cl::Program program;
  cl::Kernel change;
  cl::Kernel copy;
  std::vector<cl::CommandQueue> queues;
  std::vector<cl::Buffer> own;
};

/// The host writes a buffer, and a kernel on every device reads it.
void measure_broadcast(Program& program, size_t size, int repeats) {
  const cl::Buffer shared(program.context, CL_MEM_READ_ONLY, size);
  std::vector<cl_int> data(size / sizeof(cl_int));
  std::minstd_rand random;  // Slow links compress what can be compressed.
  std::generate(data.begin(), data.end(), random);
  program.copy.setArg(1, shared);
  measure("host to all devices, " + size_name(size), repeats, [&] {
    ++data[0];
    program.queues[0].enqueueWriteBuffer(shared, CL_FALSE, 0, size, data.data());
    program.queues[0].flush();
    program.round(program.copy);
  });
  for (size_t i = 0; i < program.queues.size(); ++i) {
    cl_int seen = 0;
    program.queues[i].enqueueReadBuffer(program.own[i], CL_TRUE, 0, sizeof seen, &seen);
    if (seen != data[0]) throw std::runtime_error("device " + std::to_string(i) + " has old content");
  }
}

void measure_all(const ManyOptions& options) {
  const double memory_before = memory();
  const size_t descriptors_before = descriptors();
  const std::vector<cl::Device> devices = devices_of(options.platform);
  report("devices", static_cast<double>(devices.size()), "");
  report("listing the devices: client's CPU", processor_time(), "ms");
  Program program(devices);
  program.round(program.change);
  report("start to a result of each device: client's CPU", processor_time(), "ms");
  report("client's memory", memory() - memory_before, "MiB");
  report("client's descriptors", static_cast<double>(descriptors() - descriptors_before), "");

  measure("a kernel on each device, one wait", 5 * options.repeats, [&] { program.round(program.change); });
  for (const size_t size : options.sizes) measure_broadcast(program, size, options.repeats);

  constexpr int kRest = 5;
  const double before = processor_time();
  std::this_thread::sleep_for(std::chrono::seconds(kRest));
  report("client's CPU while idle", (processor_time() - before) / kRest, "ms/s");
}

}  // namespace

int main(int argc, char** argv) {
  ManyOptions options;
  const auto add = [&](CommandLine& line) { bench::add_sizes(line, options.sizes); };
  return bench::run_opencl(argc, argv, "The cost of many nodes in the client", options, add,
                           [&] { measure_all(options); });
}
