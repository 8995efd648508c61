// One buffer and many devices of one context: the time until all devices have what one has written, and until
// one device, or the host, has what each device has written a part of. With fewer than two devices, it
// measures nothing.
#include <algorithm>

#include "opencl.hpp"

namespace {

using namespace bench;

struct SpreadOptions : OpenCLOptions {
  std::vector<size_t> devices{2, 4, 8};
  std::vector<size_t> sizes{64 * mib};
};

/// The devices of one context, with an in-order queue each.
struct Group {
  explicit Group(const std::vector<cl::Device>& devices) : context(devices) {
    for (const cl::Device& device : devices) queues.emplace_back(context, device);
  }
  void finish() const {
    for (const cl::CommandQueue& queue : queues) queue.finish();
  }
  std::string name() const { return std::to_string(queues.size()) + " devices"; }

  cl::Context context;
  std::vector<cl::CommandQueue> queues;
};

/// The median time of `work`. Each measurement calls `prepare` first.
template <typename Prepare, typename Work>
double measure(const Group& group, int repeats, Prepare&& prepare, Work&& work) {
  return median(repeats, [&] {
    prepare();
    group.finish();
    return seconds(work);
  });
}

void measure_broadcast(const Group& group, size_t size, int repeats) {
  const cl::Buffer buffer(group.context, CL_MEM_READ_WRITE, size);
  cl_uchar value = 0;
  const double time = measure(
      group, repeats, [&] { group.queues[0].enqueueFillBuffer(buffer, ++value, 0, size); },
      [&] {
        for (size_t i = 1; i < group.queues.size(); ++i)
          group.queues[i].enqueueMigrateMemObjects({buffer}, 0);
        group.finish();
      });
  for (const cl::CommandQueue& queue : group.queues) {
    cl_uchar last = 0;
    queue.enqueueReadBuffer(buffer, CL_TRUE, size - 1, 1, &last);
    if (last != value)
      throw std::runtime_error("a device does not have the buffer's content after the broadcast");
  }
  report("broadcast of " + size_name(size) + ", " + group.name(), 1e3 * time, "ms");
}

void measure_gather(const Group& group, size_t size, int repeats) {
  const cl::Buffer buffer(group.context, CL_MEM_READ_WRITE, size);
  const size_t part = size / group.queues.size();
  cl_uchar value = 0;
  const auto scatter = [&] {
    ++value;
    for (size_t i = 0; i < group.queues.size(); ++i)
      group.queues[i].enqueueFillBuffer(buffer, static_cast<cl_uchar>(value + i), i * part, part);
  };
  const double on_device = measure(group, repeats, scatter, [&] {
    group.queues[0].enqueueMigrateMemObjects({buffer}, 0);
    group.queues[0].finish();
  });
  report("gather of " + size_name(size) + ", " + group.name(), 1e3 * on_device, "ms");

  std::vector<cl_uchar> data(size);
  const double on_host = measure(group, repeats, scatter, [&] {
    group.queues[0].enqueueReadBuffer(buffer, CL_TRUE, 0, size, data.data());
  });
  for (size_t i = 0; i < group.queues.size(); ++i)
    if (data[(i + 1) * part - 1] != static_cast<cl_uchar>(value + i))
      throw std::runtime_error("the host does not have what device " + std::to_string(i) + " has written");
  report("gather of " + size_name(size) + " on the host, " + group.name(), 1e3 * on_host, "ms");
}

void measure(const SpreadOptions& options) {
  const std::vector<cl::Device> devices = devices_of(options.platform);
  for (const size_t count : options.devices) {
    if (count < 2 || count > devices.size()) continue;
    const Group group({devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(count)});
    for (const size_t size : options.sizes) {
      measure_broadcast(group, size, options.repeats);
      measure_gather(group, size, options.repeats);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  SpreadOptions options;
  const auto add = [&](CommandLine& line) {
    line.option("--devices", options.devices, "numbers of devices to measure with");
    bench::add_sizes(line, options.sizes);
  };
  return bench::run_opencl(argc, argv, "One buffer and many devices of one context", options, add,
                           [&] { measure(options); });
}
