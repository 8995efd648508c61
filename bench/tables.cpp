// Matrix multiplication and FFT of several sizes: the total time from data in the application's memory to
// results there.
#include "workloads.hpp"

namespace {

using namespace bench;

struct TableOptions : OpenCLOptions {
  size_t largest = 2048;
  size_t points = 1U << 22U;
};

void report_whole(const std::string& name, const cl::CommandQueue& queue, Workload work, int repeats) {
  const double time = median(repeats, [&] {
    return seconds([&] {
      write_common(queue, work);
      for (const Part& part : work.parts) {
        write_input(queue, part);
        compute(queue, part);
        read_output(queue, part);
      }
      queue.finish();
    });
  });
  work.check(work);
  report(name, 1e3 * time, "ms");
}

void measure(const TableOptions& options) {
  const cl::Device device = devices_of(options.platform).at(0);
  const cl::Context context(device);
  const cl::CommandQueue queue(context, device);
  for (size_t size = 1024; size <= std::min<size_t>(options.largest, 16384); size *= 2)
    report_whole("matrix multiplication " + std::to_string(size), queue, multiplication(context, size, 1),
                 options.repeats);
  for (size_t length = 8; length <= 8192; length *= 2)
    report_whole(
        "FFT of " + std::to_string(length) + " points, " + std::to_string(options.points / length) + " times",
        queue, transforms(context, length, options.points, 1), options.repeats);
}

}  // namespace

int main(int argc, char** argv) {
  TableOptions options;
  const auto add = [&](CommandLine& line) {
    line.option("--largest", options.largest, "rows of the largest matrices, from 1024 to 16384");
    line.option("--points", options.points, "points in all transforms of one figure");
  };
  return bench::run_opencl(argc, argv, "Matrix multiplication and FFT by size", options, add,
                           [&] { measure(options); });
}
