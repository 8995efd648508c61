// Computations of programs that use one device, the first of the platform: to compare a combined device,
// which divides their launches among several devices, with one of its members. Results are checked.
#include <cmath>
#include <stdexcept>
#include <string>

#include "workloads.hpp"

namespace {

using namespace bench;

struct CombinedOptions : OpenCLOptions {
  int learning = 12;
  cl_int bodies = 32768;
  cl_int points = 32768;
  cl_int matrix = 1024;
  cl_int picture = 2048;
  cl_int grid = 4096;
  int steps = 1000;
  size_t prices = size_t{1} << 22U;
  std::string only;
};

/// The device, and how often computations are measured.
class Machine : public kernels::Bench {
 public:
  explicit Machine(const CombinedOptions& options)
      : Bench(devices_of(options.platform).at(0), options.repeats, {}), options_(options) {
    std::printf("# %s, %u compute units\n", device().getInfo<CL_DEVICE_NAME>().c_str(),
                device().getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>());
  }

  cl::Kernel kernel(const char* name) const { return {build_file(context(), name), name}; }
  template <typename T>
  void write(const cl::Buffer& buffer, const std::vector<T>& data) const {
    queue().enqueueWriteBuffer(buffer, CL_TRUE, 0, data.size() * sizeof(T), data.data());
  }
  void launch(const cl::Kernel& kernel, const cl::NDRange& global, const cl::NDRange& local) const {
    queue().enqueueNDRangeKernel(kernel, cl::NullRange, global, local);
  }

  /// Reports the median time of `work`, which ends with clFinish or a blocking call. Before, it runs as often
  /// as a combined device needs to learn how long the launches take.
  void measure(const char* name, const std::function<void()>& work) const {
    for (int i = 0; i < options_.learning; ++i) work();
    report(name, 1e3 * median(options_.repeats, [&] { return seconds(work); }), "ms");
  }

 private:
  const CombinedOptions& options_;
};

void nbody(const Machine& on, const CombinedOptions& options) {
  const auto count = static_cast<size_t>(options.bodies);
  const auto bodies = kernels::numbers<float>(4 * count, -1, 1);
  const cl::Buffer in = on.upload(bodies), out = on.upload(std::vector<float>(4 * count, NAN));
  cl::Kernel kernel = on.kernel("nbody");
  on.set(kernel, in, out, options.bodies, 0.01F);
  on.measure("n-body", [&] { on.run(kernel, {count}, {256}); });
  const auto got = on.download<float>(out, 4 * count);
  for (size_t i = 0; i < count; i += count / 61) {
    double sum = 0, sizes = 0;
    for (size_t j = 0; j < count; ++j) {
      double square = 0.01F;
      for (size_t axis = 0; axis < 3; ++axis)
        square += std::pow(double{bodies[4 * j + axis]} - bodies[4 * i + axis], 2);
      const double factor = bodies[4 * j + 3] / (square * std::sqrt(square));
      sum += (double{bodies[4 * j]} - bodies[4 * i]) * factor;
      sizes += std::abs(factor);
    }
    // Large terms of opposite signs cancel.
    kernels::expect_near(sum / sizes, got[4 * i] / sizes, 1e-5, 4 * i);
  }
}

/// A histogram: all work-groups add to the same few counters.
void distances(const Machine& on, const CombinedOptions& options) {
  constexpr size_t kBins = 256;
  constexpr cl_int kChecked = 64;
  const auto count = static_cast<size_t>(options.points);
  const auto points = kernels::numbers<cl_int>(4 * count, 0, 255);
  const cl::Buffer in = on.upload(points), bins = on.upload(std::vector<cl_uint>(kBins));
  cl::Kernel kernel = on.kernel("distances");
  on.set(kernel, in, bins, options.points);
  on.measure("histogram of distances", [&] { on.run(kernel, {count}, {256}); });
  on.write(bins, std::vector<cl_uint>(kBins));
  kernel.setArg(2, kChecked);
  on.run(kernel, {count}, {256});
  std::vector<cl_uint> expected(kBins);
  for (size_t i = 0; i < count; ++i)
    for (size_t other = 0; other < kChecked; ++other) {
      cl_int square = 0;
      for (size_t axis = 0; axis < 3; ++axis) {
        const cl_int apart = points[4 * i + axis] - points[4 * other + axis];
        square += apart * apart;
      }
      ++expected[static_cast<size_t>(square >> 10)];
    }
  const auto got = on.download<cl_uint>(bins, kBins);
  for (size_t i = 0; i < kBins; ++i)
    if (got[i] != expected[i])
      throw kernels::Wrong("bin " + std::to_string(i) + " has " + std::to_string(got[i]) +
                           " distances instead of " + std::to_string(expected[i]));
}

void multiply(const Machine& on, const CombinedOptions& options, const char* figure, const char* name,
              const cl::NDRange& global, const cl::NDRange& local) {
  const auto size = static_cast<size_t>(options.matrix);
  const auto a = kernels::numbers<float>(size * size, -1, 1), b = kernels::numbers<float>(size * size, 0, 2);
  const cl::Buffer in_a = on.upload(a), in_b = on.upload(b),
                   out = on.upload(std::vector<float>(size * size, NAN));
  cl::Kernel kernel = on.kernel(name);
  on.set(kernel, in_a, in_b, out, options.matrix);
  on.measure(figure, [&] { on.run(kernel, global, local); });
  const auto got = on.download<float>(out, size * size);
  for (size_t i = 0; i < got.size(); i += got.size() / 509) {
    double expected = 0;
    for (size_t k = 0; k < size; ++k) expected += double{a[i / size * size + k]} * b[k * size + i % size];
    kernels::expect_near(expected, got[i], 1e-3, i);
  }
}

void mandelbrot(const Machine& on, const CombinedOptions& options) {
  constexpr cl_int kMost = 1000;
  const auto size = static_cast<size_t>(options.picture);
  const cl::Buffer out = on.upload(std::vector<cl_int>(size * size, -1));
  cl::Kernel kernel = on.kernel("mandelbrot");
  on.set(kernel, out, options.picture, options.picture, kMost);
  on.measure("Mandelbrot set", [&] { on.run(kernel, {size, size}, {16, 8}); });
  // Rounding differs near the edge of the set, so that steps are compared where they are few.
  const auto got = on.download<cl_int>(out, size * size);
  for (size_t row = 0; row < size; row += 31) {
    const double y = -1.6 + 3.2 * static_cast<double>(row) / static_cast<double>(size);
    double real = 0, imaginary = 0;
    cl_int step = 0;
    while (step < kMost && real * real + imaginary * imaginary <= 4) {
      const double next = real * real - imaginary * imaginary - 2.2;
      imaginary = 2 * real * imaginary + y;
      real = next;
      ++step;
    }
    if (std::abs(got[row * size] - step) > 1)
      throw kernels::Wrong("row " + std::to_string(row) + " begins with " + std::to_string(got[row * size]) +
                           " instead of " + std::to_string(step));
  }
}

void stencil(const Machine& on, const CombinedOptions& options) {
  const auto size = static_cast<size_t>(options.grid);
  const auto begin = kernels::numbers<float>(size * size, 0, 100);
  cl::Buffer in = on.upload(begin), out = on.upload(begin);
  cl::Kernel kernel = on.kernel("stencil");
  kernel.setArg(2, options.grid);
  kernel.setArg(3, 0.2F);
  const auto steps = [&](int count) {
    for (int step = 0; step < count; ++step) {
      kernel.setArg(0, in);
      kernel.setArg(1, out);
      on.launch(kernel, {size, size}, {32, 8});
      std::swap(in, out);
    }
    on.queue().finish();
  };
  steps(options.learning);
  on.write(in, begin);
  steps(1);
  const auto got = on.download<float>(in, size * size);
  for (size_t i = 0; i < got.size(); i += 101) {
    const size_t x = i % size, y = i / size;
    double expected = begin[i];
    if (x > 0 && y > 0 && x < size - 1 && y < size - 1)
      expected +=
          0.2 * (double{begin[i - 1]} + begin[i + 1] + begin[i - size] + begin[i + size] - 4.0 * begin[i]);
    kernels::expect_near(expected, got[i], 1e-5, i);
  }
  report(("5-point stencil, " + std::to_string(options.steps) + " steps"),
         1e3 * seconds([&] { steps(options.steps); }), "ms");
}

/// Three kernels that use each other's content, and a clFinish after each step.
void fields(const Machine& on, const CombinedOptions& options) {
  const auto size = static_cast<size_t>(options.grid);
  const auto ex = kernels::numbers<float>(size * size, -1, 1),
             ey = kernels::numbers<float>(size * size, 0, 2),
             hz = kernels::numbers<float>(size * size, -2, 1);
  const cl::Buffer on_ex = on.upload(ex), on_ey = on.upload(ey), on_hz = on.upload(hz);
  const cl::Program program = build_file(on.context(), "fields");
  cl::Kernel change_ey(program, "fields_ey"), change_ex(program, "fields_ex"),
      change_hz(program, "fields_hz");
  on.set(change_ex, on_ex, on_hz, options.grid);
  on.set(change_hz, on_ex, on_ey, on_hz, options.grid);
  const auto steps = [&](int count) {
    for (int step = 0; step < count; ++step) {
      on.set(change_ey, on_ey, on_hz, options.grid, static_cast<float>(step));
      for (const cl::Kernel& kernel : {change_ey, change_ex, change_hz})
        on.launch(kernel, {size, size}, {32, 8});
      on.queue().finish();
    }
  };
  steps(1);
  const auto got = on.download<float>(on_hz, size * size);
  const auto new_ey = [&](size_t x, size_t y) {
    const size_t i = y * size + x;
    return y == 0 ? 0.0 : ey[i] - 0.5 * (double{hz[i]} - hz[i - size]);
  };
  const auto new_ex = [&](size_t x, size_t y) {
    const size_t i = y * size + x;
    return x == 0 ? double{ex[i]} : ex[i] - 0.5 * (double{hz[i]} - hz[i - 1]);
  };
  for (size_t i = 0; i < got.size(); i += 101) {
    const size_t x = i % size, y = i / size;
    double expected = hz[i];
    if (x < size - 1 && y < size - 1)
      expected -= 0.7 * (new_ex(x + 1, y) - new_ex(x, y) + new_ey(x, y + 1) - new_ey(x, y));
    kernels::expect_near(expected, got[i], 1e-5, i);
  }
  steps(options.learning);
  report(("fields, " + std::to_string(options.steps) + " steps of three kernels"),
         1e3 * seconds([&] { steps(options.steps); }), "ms");
}

void prices(const Machine& on, const CombinedOptions& options) {
  const size_t count = options.prices;
  const auto spot = kernels::numbers<float>(count, 5, 30), strike = kernels::numbers<float>(count, 1, 100),
             years = kernels::numbers<float>(count, 0.25, 10);
  const std::vector<float> nothing(count, NAN);
  const cl::Buffer in_spot = on.upload(spot), in_strike = on.upload(strike), in_years = on.upload(years),
                   calls = on.upload(nothing), puts = on.upload(nothing);
  cl::Kernel kernel = on.kernel("options");
  const float rate = 0.02F, volatility = 0.3F;
  on.set(kernel, in_spot, in_strike, in_years, calls, puts, rate, volatility);
  on.measure("Black-Scholes, resident data", [&] { on.run(kernel, {count}, {256}); });
  std::vector<float> got(count);
  on.measure("Black-Scholes, data from the host", [&] {
    on.write(in_spot, spot);
    on.write(in_strike, strike);
    on.write(in_years, years);
    on.launch(kernel, {count}, {256});
    on.queue().enqueueReadBuffer(calls, CL_TRUE, 0, count * sizeof(float), got.data());
  });
  const auto normal = [](double x) { return 0.5 * std::erfc(-x * M_SQRT1_2); };
  for (size_t i = 0; i < count; i += 211) {
    const double s = spot[i], k = strike[i], t = years[i];
    const double first =
        (std::log(s / k) + (rate + 0.5 * volatility * volatility) * t) / (volatility * std::sqrt(t));
    const double discounted = k * std::exp(-double{rate} * t);
    kernels::expect_near(s * normal(first) - discounted * normal(first - volatility * std::sqrt(t)), got[i],
                         1e-4, i);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CombinedOptions options;
  options.repeats = 5;
  const auto add = [&](CommandLine& line) {
    line.option("--learning", options.learning, "runs before the first measurement");
    line.option("--only", options.only, "run only the workloads whose names contain this");
    line.option("--bodies", options.bodies, "bodies of the n-body problem, a multiple of 256");
    line.option("--points", options.points, "points whose distances are counted, a multiple of 256");
    line.option("--matrix", options.matrix, "rows of the matrices, a multiple of 64");
    line.option("--picture", options.picture, "rows of the Mandelbrot set, a multiple of 16");
    line.option("--grid", options.grid, "rows of the grids of the stencil and the fields, a multiple of 32");
    line.option("--steps", options.steps, "steps of the stencil and the fields");
    line.option("--prices", options.prices, "options whose prices are computed, a multiple of 256");
  };
  return run_opencl(
      argc, argv, "Computations of programs that use one device: the first one", options, add, [&] {
        const Machine machine(options);
        const auto size = static_cast<size_t>(options.matrix);
        std::string names;
        bool any = false;
        const auto run = [&](const std::string& name, const auto& workload) {
          names.append(names.empty() ? "" : ", ").append(name);
          if (name.find(options.only) == std::string::npos) return;
          any = true;
          workload();
        };
        run("n-body", [&] { nbody(machine, options); });
        run("distances", [&] { distances(machine, options); });
        run("matmul", [&] { multiply(machine, options, "matmul, plain", "matmul", {size, size}, {16, 16}); });
        run("sgemm",
            [&] { multiply(machine, options, "sgemm, tiles", "sgemm", {size / 4, size / 4}, {16, 16}); });
        run("mandelbrot", [&] { mandelbrot(machine, options); });
        run("stencil", [&] { stencil(machine, options); });
        run("fields", [&] { fields(machine, options); });
        run("options", [&] { prices(machine, options); });
        if (!any)
          throw std::runtime_error("no workload has '" + options.only + "' in its name; there are " + names);
      });
}
