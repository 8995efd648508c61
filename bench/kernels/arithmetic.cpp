// Kernels that are limited by the device's arithmetic.
#include "bench.hpp"

namespace bench::kernels {

namespace {

/// Throws Wrong if `got` is not the product of two square matrices with rows of `row` elements.
void expect_product(const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& got,
                    std::size_t row) {
  for (std::size_t i = 0; i < got.size(); i += got.size() / 509) {
    double expected = 0;
    for (std::size_t k = 0; k < row; ++k) expected += double{a[i / row * row + k]} * b[k * row + i % row];
    expect_near(expected, got[i], 1e-3, i);
  }
}

}  // namespace

void sgemm(const Bench& bench) {
  const cl_int size = bench.scale.pick(2048, 128);
  const std::size_t row = static_cast<std::size_t>(size), count = row * row;
  const auto a = numbers<float>(count, -1, 1), b = numbers<float>(count, 0, 2);
  const cl::Buffer in_a = bench.upload(a), in_b = bench.upload(b),
                   out = bench.upload(std::vector<float>(count, NAN));
  cl::Kernel kernel = bench.build("sgemm", "sgemm", "sgemm");
  bench.set(kernel, in_a, in_b, out, size);
  const cl::NDRange global(row / 4, row / 4), local(16, 16);
  bench.run(kernel, global, local);
  expect_product(a, b, bench.download<float>(out, count), row);
  bench.time("sgemm", kernel, global, local, 2.0 * static_cast<double>(count) * size, "GFLOP/s");
}

namespace {

/// The nearest half to a number whose magnitude is at most that of the largest half.
double rounded_to_half(double value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  // 11 bits, or fewer below the smallest normal number.
  const int last = std::max(exponent, -13) - 11;
  return std::ldexp(std::nearbyint(std::ldexp(value, -last)), last);
}

/// The bits of a half that is 0 or normal.
cl_half half_bits(double value) {
  if (value == 0) return 0;
  int exponent = 0;
  const double mantissa = std::frexp(std::abs(value), &exponent);
  const auto bits =
      static_cast<unsigned>(exponent + 14) << 10U | (static_cast<unsigned>(2048 * mantissa) & 0x3ffU);
  return static_cast<cl_half>(bits | (value < 0 ? 0x8000U : 0U));
}

/// Multiplies matrices of half, with a product of float.
/// @param rows, columns the part of the product that a work-group of `local` computes
void multiply_halves(const Bench& bench, const std::string& figure, const char* file, std::size_t rows,
                     std::size_t columns, const cl::NDRange& local, const std::string& options = "") {
  const cl_int size = bench.scale.pick(4096, 256);
  const std::size_t row = static_cast<std::size_t>(size), count = row * row;
  auto a = numbers<float>(count, -1, 1), b = numbers<float>(count, 0, 2);
  const auto upload = [&](std::vector<float>& factor) {
    std::vector<cl_half> bits(count);
    for (std::size_t i = 0; i < count; ++i) {
      // A half can be any multiple of this up to 2.
      factor[i] = std::nearbyint(factor[i] * 1024) / 1024;
      bits[i] = half_bits(factor[i]);
    }
    return bench.upload(bits);
  };
  const cl::Buffer in_a = upload(a), in_b = upload(b), out = bench.upload(std::vector<float>(count, NAN));
  cl::Kernel kernel = bench.build("hgemm", file, figure, options);
  bench.set(kernel, in_a, in_b, out, size);
  const cl::NDRange global(row / columns * local[0], row / rows * local[1]);
  bench.run(kernel, global, local);
  expect_product(a, b, bench.download<float>(out, count), row);
  bench.time(figure, kernel, global, local, 2.0 * static_cast<double>(count) * size, "GFLOP/s");
}

}  // namespace

void hgemm(const Bench& bench) {
  multiply_halves(bench, "hgemm", "hgemm", 128, 128, {16, 16});
}

void hgemm_tensor(const Bench& bench) {
  bench.need("cl_clique_cooperative_matrix");
  // GPUs for graphics have less local memory than those for computing.
  const bool large = bench.device().getInfo<CL_DEVICE_LOCAL_MEM_SIZE>() >= 128 << 10;
  multiply_halves(bench, "hgemm, tensor cores", "hgemm_tensor", 128, 256, {32, 8},
                  large ? "-DTILES=4" : "-DTILES=3");
}

void nbody(const Bench& bench) {
  const cl_int count = bench.scale.pick(32768, 1024);
  const auto bodies = static_cast<std::size_t>(count);
  const auto data = numbers<float>(4 * bodies, -1, 1);
  const cl::Buffer in = bench.upload(data), out = bench.upload(std::vector<float>(4 * bodies, NAN));
  cl::Kernel kernel = bench.build("nbody", "nbody", "n-body");
  const float softening = 0.01F;
  bench.set(kernel, in, out, count, softening);
  bench.run(kernel, {bodies}, {256});
  const auto got = bench.download<float>(out, 4 * bodies);
  for (std::size_t i = 0; i < bodies; i += bodies / 61) {
    double sum[3] = {}, sizes = 0;
    for (std::size_t j = 0; j < bodies; ++j) {
      double d[3], square = softening;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        d[axis] = double{data[4 * j + axis]} - data[4 * i + axis];
        square += d[axis] * d[axis];
      }
      const double factor = data[4 * j + 3] / (square * std::sqrt(square));
      for (std::size_t axis = 0; axis < 3; ++axis) sum[axis] += d[axis] * factor;
      sizes += std::abs(factor);
    }
    // Large terms of opposite signs cancel.
    for (std::size_t axis = 0; axis < 3; ++axis)
      expect_near(sum[axis] / sizes, got[4 * i + axis] / sizes, 1e-5, 4 * i + axis);
  }
  bench.time("n-body", kernel, {bodies}, {256}, static_cast<double>(bodies) * static_cast<double>(bodies),
             "G pairs/s");
}

void fft(const Bench& bench) {
  constexpr std::size_t kLength = 4096;
  const std::size_t batch = bench.scale.pick<std::size_t>(4096, 8), count = batch * kLength;
  const auto data = numbers<float>(2 * count, -1, 1);
  const cl::Buffer in = bench.upload(data), out = bench.upload(std::vector<float>(2 * count, NAN));
  cl::Kernel kernel = bench.build("fft", "fft", "FFT");
  bench.set(kernel, in, out);
  bench.run(kernel, {batch * 256}, {256});
  const auto got = bench.download<float>(out, 2 * count);
  expect_spectrum(data, got, kLength);
  bench.time("FFT", kernel, {batch * 256}, {256}, 5.0 * 12 * static_cast<double>(count), "GFLOP/s");
}

void sha256(const Bench& bench) {
  const auto count = bench.scale.pick<std::size_t>(1U << 22U, 1U << 12U);
  // Each block contains "abc". All but the first also have four arbitrary bytes before the length, so that
  // they differ.
  std::vector<cl_uint> blocks(16 * count);
  for (std::size_t i = 0; i < count; ++i) {
    blocks[16 * i] = 0x61626380;
    blocks[16 * i + 14] = static_cast<cl_uint>(i);
    blocks[16 * i + 15] = 24;
  }
  const cl::Buffer in = bench.upload(blocks), out = bench.upload(std::vector<cl_uint>(8 * count));
  cl::Kernel kernel = bench.build("sha256", "sha256", "SHA-256");
  bench.set(kernel, in, out);
  bench.run(kernel, {count}, {256});
  const auto got = bench.download<cl_uint>(out, 8 * count);
  // The digest of "abc" in FIPS 180-2, appendix B.1.
  const std::vector<cl_uint> abc = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                                    0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
  if (!std::equal(abc.begin(), abc.end(), got.begin())) throw Wrong("the digest of \"abc\" is wrong");
  std::vector<cl_uint> firsts(count);
  for (std::size_t i = 0; i < count; ++i) firsts[i] = got[8 * i];
  std::sort(firsts.begin(), firsts.end());
  const auto different = std::unique(firsts.begin(), firsts.end()) - firsts.begin();
  if (different < static_cast<std::ptrdiff_t>(count * 99 / 100))
    throw Wrong("different blocks have the same digest");
  bench.time("SHA-256", kernel, {count}, {256}, static_cast<double>(count), "G blocks/s");
}

void md5_search(const Bench& bench) {
  const cl_uint per_item = 256;
  const auto items = bench.scale.pick<std::size_t>(1U << 22U, 1U << 10U);
  // "abc", padded: its first word is among those that are tried.
  const cl_uint word = 0x80636261, bits = 24;
  const auto first = bench.scale.pick<cl_uint>(0x60000000, 0x80600000);
  // The digest of its digest, which is in RFC 1321, appendix A.5.
  const cl_uint4 wanted = {{0xf4a95daf, 0x00a3f75a, 0x97edade3, 0x87f68f2f}};
  const cl::Buffer found = bench.upload(std::vector<cl_uint>(1));
  cl::Kernel kernel = bench.build("search_short", "md5", "MD5 search");
  bench.set(kernel, bits, first, per_item, wanted, found);
  bench.run(kernel, {items}, {256});
  if (bench.download<cl_uint>(found, 1)[0] != word) throw Wrong("the message \"abc\" is not found");
  bench.time("MD5 search", kernel, {items}, {256}, 2.0 * static_cast<double>(items) * per_item, "G blocks/s");
}

namespace {

template <typename Real>
void options(const Bench& bench, const std::string& figure, const char* build_options, std::size_t count,
             double tolerance) {
  const auto spot = numbers<Real>(count, 5, 30), strike = numbers<Real>(count, 1, 100),
             years = numbers<Real>(count, 0.25, 10);
  const cl::Buffer in_spot = bench.upload(spot), in_strike = bench.upload(strike),
                   in_years = bench.upload(years);
  const std::vector<Real> nothing(count, static_cast<Real>(NAN));
  const cl::Buffer calls = bench.upload(nothing), puts = bench.upload(nothing);
  cl::Kernel kernel = bench.build("options", "options", figure, build_options);
  const Real rate = static_cast<Real>(0.02), volatility = static_cast<Real>(0.3);
  bench.set(kernel, in_spot, in_strike, in_years, calls, puts, rate, volatility);
  bench.run(kernel, {count}, {256});
  const auto got_calls = bench.download<Real>(calls, count), got_puts = bench.download<Real>(puts, count);
  const auto normal = [](double x) { return 0.5 * std::erfc(-x * M_SQRT1_2); };
  for (std::size_t i = 0; i < count; i += 211) {
    const double s = spot[i], k = strike[i], t = years[i], r = rate, v = volatility;
    const double first = (std::log(s / k) + (r + 0.5 * v * v) * t) / (v * std::sqrt(t));
    const double second = first - v * std::sqrt(t), discounted = k * std::exp(-r * t);
    expect_near(s * normal(first) - discounted * normal(second), got_calls[i], tolerance, i);
    expect_near(discounted * normal(-second) - s * normal(-first), got_puts[i], tolerance, i);
  }
  bench.time(figure, kernel, {count}, {256}, static_cast<double>(count), "G options/s");
}

}  // namespace

void options_float(const Bench& bench) {
  options<float>(bench, "options, float", "", bench.scale.pick<std::size_t>(1U << 25U, 1U << 14U), 1e-4);
}

void options_double(const Bench& bench) {
  bench.need_double();
  options<double>(bench, "options, double", "-DDOUBLE", bench.scale.pick<std::size_t>(1U << 24U, 1U << 14U),
                  1e-12);
}

namespace {

/// Steps of the kernel, each with two multiplications and additions of two numbers.
constexpr std::size_t kPairSteps = 512;

void measure_pairs(const Bench& bench, const std::string& figure, cl::Kernel& kernel, std::size_t count) {
  bench.time(figure, kernel, {count}, {256}, static_cast<double>(2 * 4 * kPairSteps * count), "Gop/s");
}

}  // namespace

void short_pairs(const Bench& bench) {
  const auto count = bench.scale.pick<std::size_t>(1U << 22U, 1U << 12U);
  std::vector<cl_ushort> data(2 * count);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<cl_ushort>(40503 * i + 77);
  const cl::Buffer in = bench.upload(data), out = bench.upload(std::vector<cl_ushort>(2 * count));
  cl::Kernel kernel = bench.build("pairs", "pairs", "pairs of short");
  bench.set(kernel, in, out);
  bench.run(kernel, {count}, {256});
  const auto got = bench.download<cl_ushort>(out, 2 * count);
  for (std::size_t i = 0; i < 2 * count; i += 1009) {
    unsigned x = data[i], y = data[i ^ 1U];
    for (std::size_t step = 0; step < kPairSteps; ++step) {
      x = y * x + y;
      y = x * y + x;
    }
    if (static_cast<cl_ushort>(x + y) != got[i]) throw Wrong("element " + std::to_string(i) + " is wrong");
  }
  measure_pairs(bench, "pairs of short", kernel, count);
}

void half_pairs(const Bench& bench) {
  bench.need("cl_khr_fp16");
  const auto count = bench.scale.pick<std::size_t>(1U << 22U, 1U << 12U);
  // From here the numbers approach 0, slowly enough to remain normal.
  const auto start = [](std::size_t i) { return -static_cast<double>(4 + i % 13) / 64; };
  std::vector<cl_half> data(2 * count);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = half_bits(start(i));
  const cl::Buffer in = bench.upload(data), out = bench.upload(std::vector<cl_half>(2 * count));
  cl::Kernel kernel = bench.build("pairs", "pairs", "pairs of half", "-DHALF");
  bench.set(kernel, in, out);
  bench.run(kernel, {count}, {256});
  const auto got = bench.download<cl_half>(out, 2 * count);
  for (std::size_t i = 0; i < 2 * count; i += 1009) {
    double x = start(i), y = start(i ^ 1U);
    for (std::size_t step = 0; step < kPairSteps; ++step) {
      x = rounded_to_half(y * x + y);
      y = rounded_to_half(x * y + x);
    }
    if (half_bits(rounded_to_half(x + y)) != got[i])
      throw Wrong("element " + std::to_string(i) + " is wrong");
  }
  measure_pairs(bench, "pairs of half", kernel, count);
}

}  // namespace bench::kernels
