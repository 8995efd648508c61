// Kernels that are limited by the device's memory bandwidth.
#include <cstring>

#include "bench.hpp"

namespace bench::kernels {

void saxpy(const Bench& bench) {
  const cl_uint count = bench.scale.pick(1U << 26U, 1U << 18U);
  const auto x = numbers<float>(count, -1, 1), y = numbers<float>(count, 0, 2);
  const cl::Buffer in = bench.upload(x), out = bench.upload(y);
  cl::Kernel kernel = bench.build("saxpy", "saxpy", "saxpy");
  const float a = 2.5F;
  bench.set(kernel, in, out, a, count);
  bench.run(kernel, {count}, {256});
  const auto got = bench.download<float>(out, count);
  for (std::size_t i = 0; i < count; i += 97) expect_near(double{a} * x[i] + y[i], got[i], 1e-6, i);
  bench.time("saxpy", kernel, {count}, {256}, 12.0 * count, "GB/s");
}

namespace {

/// Measures clEnqueueFillBuffer with a pattern of one T.
template <typename T>
void fill(const Bench& bench, const std::string& figure, const T& pattern) {
  const std::size_t size = bench.scale.pick(1U << 28U, 1U << 20U);
  const cl::Buffer out = bench.upload(std::vector<cl_uchar>(size, 0xee));
  bench.queue().enqueueFillBuffer(out, pattern, 0, size);
  const auto got = bench.download<T>(out, size / sizeof(T));
  for (std::size_t i = 0; i < got.size(); i += 97)
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): vectors have no padding
    if (std::memcmp(&got[i], &pattern, sizeof pattern) != 0)
      throw Wrong("element " + std::to_string(i) + " does not have the pattern");
  bench.time_command(
      figure,
      [&](cl::Event& event) { bench.queue().enqueueFillBuffer(out, pattern, 0, size, nullptr, &event); },
      static_cast<double>(size), "GB/s");
}

}  // namespace

void fill_short(const Bench& bench) {
  fill(bench, "fill, 4 bytes", cl_uint{0x04030201});
}

void fill_long(const Bench& bench) {
  fill(bench, "fill, 16 bytes", cl_uint4{{1, 2, 3, 4}});
}

void reduction(const Bench& bench) {
  const cl_uint count = bench.scale.pick(1U << 26U, 1U << 18U);
  const std::size_t groups = bench.scale.pick(1056U, 16U);
  const auto data = numbers<float>(count, -1, 1);
  const cl::Buffer in = bench.upload(data), sums = bench.upload(std::vector<float>(groups, NAN));
  cl::Kernel kernel = bench.build("reduction", "reduction", "reduction");
  bench.set(kernel, in, sums, count);
  bench.run(kernel, {groups * 256}, {256});
  const auto got = bench.download<float>(sums, groups);
  for (std::size_t group = 0; group < groups; group += 5) {
    double expected = 0;
    for (std::size_t begin = group * 256; begin < count; begin += groups * 256)
      expected = std::accumulate(
          data.begin() + static_cast<std::ptrdiff_t>(begin),
          data.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(begin + 256, count)), expected);
    expect_near(expected, got[group], 1e-2, group);
  }
  bench.time("reduction", kernel, {groups * 256}, {256}, 4.0 * count, "GB/s");
}

void stencil(const Bench& bench) {
  const cl_int size = bench.scale.pick(8192, 256);
  const std::size_t count = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
  const auto data = numbers<float>(count, 0, 100);
  const cl::Buffer in = bench.upload(data), out = bench.upload(std::vector<float>(count, NAN));
  cl::Kernel kernel = bench.build("stencil", "stencil", "5-point stencil");
  const float rate = 0.2F;
  bench.set(kernel, in, out, size, rate);
  const cl::NDRange all(static_cast<std::size_t>(size), static_cast<std::size_t>(size));
  bench.run(kernel, all, {32, 8});
  const auto got = bench.download<float>(out, count);
  const auto row = static_cast<std::size_t>(size);
  for (std::size_t i = 0; i < count; i += 101) {
    const std::size_t x = i % row, y = i / row;
    double expected = data[i];
    if (x > 0 && y > 0 && x < row - 1 && y < row - 1)
      expected +=
          double{rate} * (double{data[i - 1]} + data[i + 1] + data[i - row] + data[i + row] - 4.0 * data[i]);
    expect_near(expected, got[i], 1e-5, i);
  }
  bench.time("5-point stencil", kernel, all, {32, 8}, 8.0 * static_cast<double>(count), "GB/s");
}

void transpose(const Bench& bench) {
  const cl_int size = bench.scale.pick(8192, 256);
  const std::size_t row = static_cast<std::size_t>(size), count = row * row;
  const auto data = numbers<float>(count, 0, 1);
  const cl::Buffer in = bench.upload(data), out = bench.upload(std::vector<float>(count, NAN));
  cl::Kernel kernel = bench.build("transpose", "transpose", "transpose");
  bench.set(kernel, in, out, size);
  bench.run(kernel, {row, row / 4}, {32, 8});
  const auto got = bench.download<float>(out, count);
  for (std::size_t i = 0; i < count; ++i)
    if (data[i] != got[i % row * row + i / row])
      throw Wrong("element " + std::to_string(i) + " is not the one of the transposed matrix");
  bench.time("transpose", kernel, {row, row / 4}, {32, 8}, 8.0 * static_cast<double>(count), "GB/s");
}

}  // namespace bench::kernels
