// The speed-up of several devices of one context over one: a matrix multiplication divided by rows, and a
// stencil divided into strips that exchange their edges after every step. Results are checked.
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "workloads.hpp"

namespace {

using namespace bench;

/// Number of multiplications in a row; the reported time is that of one.
constexpr int products = 4;
/// Size of the work-groups of the stencil's kernels for single rows. The width of the grid is a multiple of
/// it.
constexpr size_t group = 256;
/// Width of the work-groups of the kernel for the interior. They have several rows, so that neighbouring rows
/// are read once instead of three times.
constexpr size_t interior_width = 64;
constexpr size_t interior_height = group / interior_width;
constexpr float rate = 0.2F;

struct ScaleOptions : OpenCLOptions {
  size_t devices = 0;
  std::string only;
  size_t matrix = 0;
  size_t grid = 0;
  size_t steps = 0;
};

void print_header(size_t count, const std::vector<cl::Device>& devices) {
  std::printf("%zu of %zu devices, %s\n", count, devices.size(),
              devices[0].getInfo<CL_DEVICE_NAME>().c_str());
  std::printf("%-44s %8s %11s %9s %11s\n", "workload", "devices", "ms", "speed-up", "efficiency");
  std::fflush(stdout);
}

/// Prints the rows of one workload, for increasing numbers of devices.
class Table {
 public:
  explicit Table(std::string name) : name_(std::move(name)) {}

  /// Prints a row. The first one must be that of a single device.
  /// @param work amount of work, relative to that of the first row
  void add(size_t devices, double time, double work = 1) {
    if (one_ == 0) one_ = time;
    const double speedup = work * one_ / time;
    std::printf("%-44s %8zu %11.3f %9.2f %11.3f\n", name_.c_str(), devices, 1e3 * time, speedup,
                speedup / static_cast<double>(devices));
    std::fflush(stdout);
  }

 private:
  std::string name_;
  double one_ = 0;
};

/// The powers of 2 below `most`, and `most`.
std::vector<size_t> counts_to(size_t most) {
  std::vector<size_t> counts;
  for (size_t count = 1; count < most; count *= 2) counts.push_back(count);
  counts.push_back(most);
  return counts;
}

std::vector<cl::Device> first(const std::vector<cl::Device>& devices, size_t count) {
  return {devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(count)};
}

/// A multiplication in which all devices have the same number of rows and need the whole second matrix.
class Multiplication {
 public:
  Multiplication(Workload& work, const std::vector<cl::Device>& devices, size_t size) : work_(work) {
    const cl::Context context(devices);
    divide_multiplication(work, context, size, devices.size());
    for (const cl::Device& device : devices) queues_.emplace_back(context, device);
  }

  void write() const {
    std::vector<cl::Event> written(1);
    write_common(queues_[0], work_, &written[0]);
    queues_[0].flush();
    for (size_t i = 0; i < queues_.size(); ++i) {
      write_input(queues_[i], work_.parts[i]);
      queues_[i].enqueueBarrierWithWaitList(&written);
      queues_[i].flush();
    }
  }
  void compute() const {
    for (size_t i = 0; i < queues_.size(); ++i) {
      bench::compute(queues_[i], work_.parts[i]);
      queues_[i].flush();
    }
  }
  void read() const {
    for (size_t i = 0; i < queues_.size(); ++i) {
      read_output(queues_[i], work_.parts[i]);
      queues_[i].flush();
    }
  }
  void finish() const {
    for (const cl::CommandQueue& queue : queues_) queue.finish();
  }
  /// Throws kernels::Wrong if the result that was read is not the product. Clears the result.
  void check() const {
    work_.check(work_);
    std::fill(work_.output.begin(), work_.output.end(), NAN);
  }

 private:
  Workload& work_;
  std::vector<cl::CommandQueue> queues_;
};

void measure_multiplication(const std::vector<cl::Device>& devices, const std::vector<size_t>& counts,
                            size_t size, int repeats) {
  // For each number of devices, each device must get whole tiles.
  size_t unit = 1;
  for (const size_t count : counts) unit = std::lcm(unit, count);
  unit *= 64;
  size = std::max(size / unit, size_t{1}) * unit;
  Table resident("matrix multiplication " + std::to_string(size));
  Table whole("matrix multiplication " + std::to_string(size) + ", transfers");
  Workload work = multiplication(cl::Context(devices[0]), size, 1);
  for (const size_t count : counts) {
    const Multiplication multiplication(work, first(devices, count), size);
    multiplication.write();
    resident.add(count, median(repeats, [&] {
                   multiplication.finish();
                   return seconds([&] {
                            for (int i = 0; i < products; ++i) multiplication.compute();
                            multiplication.finish();
                          }) /
                          products;
                 }));
    multiplication.read();
    multiplication.finish();
    multiplication.check();
    whole.add(count, median(repeats, [&] {
                return seconds([&] {
                  multiplication.write();
                  multiplication.compute();
                  multiplication.read();
                  multiplication.finish();
                });
              }));
    multiplication.check();
  }
}

/// A strip's side towards a neighbour. There are separate buffers for the edge that the neighbour sends and
/// for the edge that it receives, two of each, used alternately. A buffer is written again two steps later,
/// after the edge of the step in between has arrived, and therefore after the neighbour has read it.
struct Side {
  std::array<cl::Buffer, 2> sent;
  std::array<cl::Buffer, 2> received;
  /// One for each grid that a step may read.
  std::array<cl::Kernel, 2> edge;
  std::vector<cl::Event> ready;
  std::vector<cl::Event> arrived;
};

/// The rows of the grid on one device.
struct Strip {
  size_t begin = 0;
  size_t rows = 0;
  cl::CommandQueue queue;
  /// Copies edges from neighbours while `queue` computes.
  cl::CommandQueue copies;
  std::array<cl::Buffer, 2> grids;
  /// One for each grid that a step may read.
  std::array<cl::Kernel, 2> interior;
  std::optional<Side> above;
  std::optional<Side> below;
};

/// A grid in strips, one on each device.
class Stencil {
 public:
  Stencil(const std::vector<cl::Device>& devices, size_t width, size_t rows)
      : context_(devices), program_(build_file(context_, "strip")), width_(width), rows_(rows) {
    const size_t count = devices.size();
    if (width == 0 || width % group != 0 || rows / count < 3)
      throw std::runtime_error("a grid of " + std::to_string(width) + " x " + std::to_string(rows) + " on " +
                               std::to_string(count) + " devices: the width must be a multiple of " +
                               std::to_string(group) + ", and each device needs at least 3 rows");
    for (size_t i = 0; i < count; ++i) {
      Strip strip;
      strip.begin = rows * i / count;
      strip.rows = rows * (i + 1) / count - strip.begin;
      strip.queue = cl::CommandQueue(context_, devices[i]);
      strip.copies = cl::CommandQueue(context_, devices[i]);
      for (cl::Buffer& grid : strip.grids) grid = buffer(strip.rows);
      for (size_t from : {0, 1})
        strip.interior[from] =
            kernel("strip_interior", strip.grids[from], strip.grids[1 - from], cl_ulong{strip.rows}, rate);
      if (i > 0) strip.above = side(strip, 0, 1);
      if (i + 1 < count) strip.below = side(strip, strip.rows - 1, strip.rows - 2);
      strips_.push_back(std::move(strip));
    }
  }

  /// Fills the grid with its initial values.
  void fill() {
    for (Strip& strip : strips_) {
      for (const cl::Buffer& grid : strip.grids) fill(strip, grid, strip.begin, strip.rows);
      if (strip.above) fill(strip, strip.above->received[0], strip.begin - 1, 1);
      if (strip.below) fill(strip, strip.below->received[0], strip.begin + strip.rows, 1);
      for (std::optional<Side>* side : {&strip.above, &strip.below})
        if (*side) (*side)->arrived.clear();
      strip.queue.flush();
    }
    finish();
  }

  /// Enqueues steps after fill(), without waiting for them.
  void run(size_t steps) {
    for (size_t step = 0; step < steps; ++step) {
      const size_t from = step % 2;
      for (Strip& strip : strips_) {
        for (std::optional<Side>* side : {&strip.above, &strip.below})
          if (*side) enqueue_edge(strip, **side, from);
        enqueue_interior(strip, from);
        strip.queue.flush();
      }
      for (size_t i = 0; i < strips_.size(); ++i) {
        Strip& strip = strips_[i];
        if (strip.above) enqueue_copy(strip, *strips_[i - 1].below, *strip.above, 1 - from);
        if (strip.below) enqueue_copy(strip, *strips_[i + 1].above, *strip.below, 1 - from);
        strip.copies.flush();
      }
    }
  }

  void finish() const {
    for (const Strip& strip : strips_) {
      strip.queue.finish();
      strip.copies.finish();
    }
  }

  /// A checksum of all bits of the grid after `steps` steps.
  cl_ulong sum(size_t steps) const {
    cl_ulong total = 0;
    std::vector<cl_ulong> sums(width_);
    const cl::Buffer sums_buffer(context_, CL_MEM_WRITE_ONLY, width_ * sizeof(cl_ulong));
    for (const Strip& strip : strips_) {
      enqueue(strip, kernel("strip_sum", strip.grids[steps % 2], cl_ulong{strip.begin}, cl_ulong{strip.rows},
                            sums_buffer));
      strip.queue.enqueueReadBuffer(sums_buffer, CL_TRUE, 0, width_ * sizeof(cl_ulong), sums.data());
      total = std::accumulate(sums.begin(), sums.end(), total);
    }
    return total;
  }

  /// Throws kernels::Wrong if elements at the edges of strips differ from those that the host computes.
  void check(size_t steps) const {
    for (const Strip& strip : strips_) {
      const size_t y = strips_.size() == 1 ? rows_ / 2 : strip.begin == 0 ? strip.rows - 1 : strip.begin;
      const size_t x = width_ / 3;
      float actual = NAN;
      strip.queue.enqueueReadBuffer(strip.grids[steps % 2], CL_TRUE,
                                    ((y - strip.begin) * width_ + x) * sizeof actual, sizeof actual, &actual);
      kernels::expect_near(on_host(x, y, steps), actual, 0, y * width_ + x);
    }
  }

 private:
  cl::Buffer buffer(size_t rows) const {
    return {context_, CL_MEM_READ_WRITE, rows * width_ * sizeof(float)};
  }

  template <typename... Args>
  cl::Kernel kernel(const char* name, const Args&... args) const {
    cl::Kernel kernel(program_, name);
    cl_uint index = 0;
    (kernel.setArg(index++, args), ...);
    return kernel;
  }

  /// @param row the strip's row at this side
  /// @param inside the strip's row next to it
  Side side(const Strip& strip, size_t row, size_t inside) const {
    Side side;
    for (size_t i : {0, 1}) {
      side.sent[i] = buffer(1);
      side.received[i] = buffer(1);
    }
    for (size_t from : {0, 1})
      side.edge[from] = kernel("strip_edge", strip.grids[from], side.received[from], strip.grids[1 - from],
                               side.sent[1 - from], cl_ulong{row}, cl_ulong{inside}, rate);
    return side;
  }

  /// Enqueues a kernel for `rows` rows.
  void enqueue(const Strip& strip, const cl::Kernel& kernel, size_t rows = 1) const {
    strip.queue.enqueueNDRangeKernel(kernel, cl::NullRange, {width_, rows}, {group, 1});
  }

  void fill(const Strip& strip, const cl::Buffer& to, size_t begin, size_t rows) const {
    enqueue(strip, kernel("strip_fill", to, cl_ulong{begin}), rows);
  }

  void enqueue_interior(const Strip& strip, size_t from) const {
    const size_t groups = (strip.rows - 2 + interior_height - 1) / interior_height;
    strip.queue.enqueueNDRangeKernel(strip.interior[from], cl::NullRange, {width_, groups * interior_height},
                                     {interior_width, interior_height});
  }

  void enqueue_edge(const Strip& strip, Side& side, size_t from) const {
    side.ready.resize(1);
    strip.queue.enqueueNDRangeKernel(side.edge[from], cl::NullRange, {width_}, {group}, &side.arrived,
                                     side.ready.data());
  }

  /// Enqueues the copy of an edge from a neighbour's side to that of `strip`.
  void enqueue_copy(const Strip& strip, const Side& neighbour, Side& side, size_t which) const {
    side.arrived.resize(1);
    strip.copies.enqueueCopyBuffer(neighbour.sent[which], side.received[which], 0, 0, width_ * sizeof(float),
                                   &neighbour.ready, side.arrived.data());
  }

  /// The initial value of element `i`, as in the kernel strip_fill.
  static float at_first(size_t i) {
    auto bits = static_cast<cl_uint>(i) * 2654435761U;
    bits ^= bits >> 15U;
    bits *= 2246822519U;
    return static_cast<float>(bits >> 16U) * (1.0F / 65536);
  }

  /// The value of an element after `steps` steps, computed on the host.
  float on_host(size_t x, size_t y, size_t steps) const {
    // In each step, an element only depends on its direct neighbours.
    const size_t left = x - std::min(x, steps);
    const size_t top = y - std::min(y, steps);
    const size_t width = std::min(x + steps, width_ - 1) - left + 1;
    const size_t height = std::min(y + steps, rows_ - 1) - top + 1;
    std::vector<float> in(width * height);
    for (size_t i = 0; i < in.size(); ++i) in[i] = at_first((top + i / width) * width_ + left + i % width);
    std::vector<float> out = in;
    for (size_t step = 0; step < steps; ++step) {
      for (size_t row = 1; row + 1 < height; ++row)
        for (size_t i = row * width + 1; i < (row + 1) * width - 1; ++i)
          out[i] = std::fma(
              rate, std::fma(-4.0F, in[i], (in[i - 1] + in[i + 1]) + (in[i - width] + in[i + width])), in[i]);
      std::swap(in, out);
    }
    return in[(y - top) * width + x - left];
  }

  cl::Context context_;
  cl::Program program_;
  size_t width_;
  size_t rows_;
  std::vector<Strip> strips_;
};

/// The median time of a step. Throws kernels::Wrong if a run's checksum differs from `expected`, which the
/// first run sets if it is empty.
double measure_steps(Stencil& stencil, size_t steps, int repeats, std::optional<cl_ulong>& expected) {
  const double time = median(repeats, [&] {
    stencil.fill();
    const double taken = seconds([&] {
      stencil.run(steps);
      stencil.finish();
    });
    const cl_ulong sum = stencil.sum(steps);
    if (!expected) expected = sum;
    if (sum != *expected)
      throw kernels::Wrong("the stencil's grid differs from that of one device, or of an earlier run");
    return taken;
  });
  stencil.check(steps);
  return time / static_cast<double>(steps);
}

void measure_stencil(const std::vector<cl::Device>& devices, const std::vector<size_t>& counts, size_t size,
                     size_t steps, int repeats) {
  const std::string name = std::to_string(size) + " x " + std::to_string(size);
  Table divided("stencil " + name + ", a step");
  std::optional<cl_ulong> sum;
  double one = 0;
  for (const size_t count : counts) {
    Stencil stencil(first(devices, count), size, size);
    const double time = measure_steps(stencil, steps, repeats, sum);
    divided.add(count, time);
    if (count == 1) one = time;
  }
  Table grown("stencil " + name + " for each, a step");
  grown.add(1, one);
  for (const size_t count : counts) {
    if (count == 1) continue;
    Stencil stencil(first(devices, count), size, size * count);
    std::optional<cl_ulong> sum_of_this;
    grown.add(count, measure_steps(stencil, steps, repeats, sum_of_this), static_cast<double>(count));
  }
}

void measure(const ScaleOptions& options) {
  const std::vector<cl::Device> devices = devices_of(options.platform);
  const size_t count = options.devices == 0 ? devices.size() : options.devices;
  if (devices.empty() || count > devices.size())
    throw std::runtime_error("--devices " + std::to_string(count) + ": the platform has " +
                             std::to_string(devices.size()));
  const std::vector<size_t> counts = counts_to(count);
  const bool gpu = devices[0].getInfo<CL_DEVICE_TYPE>() == CL_DEVICE_TYPE_GPU;
  const auto size = [gpu](size_t chosen, size_t for_gpu, size_t otherwise) {
    return chosen != 0 ? chosen : gpu ? for_gpu : otherwise;
  };
  print_header(count, devices);
  if (options.only != "stencil")
    measure_multiplication(devices, counts, size(options.matrix, 16384, 1024), options.repeats);
  if (options.only != "multiplication")
    measure_stencil(devices, counts, size(options.grid, 32768, 2048), size(options.steps, 200, 20),
                    options.repeats);
}

}  // namespace

int main(int argc, char** argv) {
  ScaleOptions options;
  options.repeats = 5;
  const auto add = [&](CommandLine& line) {
    line.option("--devices", options.devices, "largest number of devices; default: all of the platform");
    line.choice("--only", options.only, "run only this workload", {"multiplication", "stencil"});
    line.option("--matrix", options.matrix, "rows of the matrices; default: 16384 on GPUs, otherwise 1024");
    line.option("--grid", options.grid,
                "rows and columns of the grid; default: 32768 on GPUs, otherwise 2048");
    line.option("--steps", options.steps, "steps of the stencil; default: 200 on GPUs, otherwise 20");
  };
  return bench::run_opencl(argc, argv, "Several devices of one context against one", options, add,
                           [&] { measure(options); });
}
