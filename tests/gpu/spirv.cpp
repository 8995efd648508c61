// Programs in SPIR-V: the results of their kernels on the device.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>

#include "api/capture.hpp"
#include "gpu.hpp"
#include "spirv/modules.hpp"

namespace clique::test {

class Spirv : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!has_extension("cl_khr_il_program")) GTEST_SKIP() << "the device does not take SPIR-V";
    if (spirv_module("memory").empty()) GTEST_SKIP() << "there was no assembler for the modules";
  }
  Program build_il(const std::string& name) {
    const auto module = spirv_module(name);
    cl_int err = CL_SUCCESS;
    Program program(clCreateProgramWithIL(context, module.data(), module.size(), &err));
    EXPECT_EQ(CL_SUCCESS, err);
    EXPECT_CL(clBuildProgram(program, 1, &device, "", nullptr, nullptr));
    return program;
  }
  template <typename T>
  static void set(cl_kernel kernel, cl_uint index, const T& value) {
    EXPECT_CL(clSetKernelArg(kernel, index, sizeof value, &value));
  }
  static std::vector<cl_int> counted(size_t count) {
    std::vector<cl_int> numbers(count);
    for (size_t i = 0; i < count; ++i) numbers[i] = static_cast<cl_int>(i % 23) - 11;
    return numbers;
  }
};

TEST_F(Spirv, GivenMemoryOfAllKindsThenEachGroupSumsItsNumbers) {
  constexpr size_t kGroup = 64;
  constexpr size_t kGroups = 10;
  const cl_int table[] = {1, 10, 100, 1000};
  const cl_int factors[] = {2, -3};
  const auto numbers = counted(kGroup * kGroups);
  const Program program = build_il("memory");
  const Kernel sums = kernel(program, "sums");
  const Mem in = buffer<cl_int>(numbers.size(), numbers.data());
  const Mem by = buffer<cl_int>(2, factors, CL_MEM_READ_ONLY);
  const Mem out = buffer<cl_int>(kGroups);
  set(sums, 0, in.get());
  set(sums, 1, by.get());
  ASSERT_CL(clSetKernelArg(sums, 2, kGroup * sizeof(cl_int), nullptr));
  set(sums, 3, out.get());
  ASSERT_CL(launch(sums, numbers.size(), kGroup));
  const auto results = read<cl_int>(out, kGroups);
  for (size_t group = 0; group < kGroups; ++group) {
    cl_int expected = 0;
    for (size_t i = 0; i < kGroup; ++i)
      expected += numbers[group * kGroup + i] * factors[i & 1] + table[i & 3];
    EXPECT_EQ(expected, results[group]) << group;
  }
}

TEST_F(Spirv, GivenValuesThenTheyArriveWhole) {
  struct {
    cl_float x = 2;
    cl_float unused[3]{};
    cl_int v[4]{1, 20, 300, 4000};
    cl_char c = -5;
    cl_char rest[15]{};
  } item;
  static_assert(sizeof item == 48);
  const Program program = build_il("memory");
  const Kernel values = kernel(program, "values");
  const Mem out = buffer<cl_float>(7);
  set(values, 0, item);
  set(values, 1, cl_float4{{1, 2, 3, 4.5F}});
  set(values, 2, cl_short3{{7, -8, 9}});
  set(values, 3, cl_char{-100});
  set(values, 4, out.get());
  ASSERT_CL(launch(values, 1));
  EXPECT_EQ((std::vector<cl_float>{2, 4, 6, 9, 4321, 7 - 72 - 5, -100}), read<cl_float>(out, 7));
}

TEST_F(Spirv, GivenAtomicOperationsThenNoneIsLost) {
  constexpr size_t kCount = 10'000;
  const auto numbers = counted(kCount);
  const std::vector<cl_int> zeros(6);
  const Program program = build_il("memory");
  const Kernel counts = kernel(program, "counts");
  const Mem in = buffer<cl_int>(kCount, numbers.data());
  const Mem out = buffer<cl_int>(zeros.size(), zeros.data());
  set(counts, 0, in.get());
  set(counts, 1, out.get());
  ASSERT_CL(launch(counts, kCount, 100));
  std::vector<cl_int> expected(6);
  for (const cl_int n : numbers) {
    expected[0] += std::max(n, 0);
    expected[1] = std::min(expected[1], n);
    expected[2] = std::max(expected[2], n);
    expected[3] |= static_cast<cl_int>(1U << (static_cast<cl_uint>(n) & 31U));
    expected[4] += 2;
    expected[5] += 1;
  }
  EXPECT_EQ(expected, read<cl_int>(out, expected.size()));
}

TEST_F(Spirv, GivenControlFlowAndIdsThenEachItemGoesItsWay) {
  const std::vector<cl_int> numbers{1, 2, 5, 9, 1, 5, 5, 2, 5};
  const Program program = build_il("memory");
  const Kernel kinds = kernel(program, "kinds");
  const Mem mem = buffer<cl_int>(numbers.size(), numbers.data());
  set(kinds, 0, mem.get());
  ASSERT_CL(launch(kinds, numbers.size()));
  // 5 + 0 + … + (i - 1), without 5.
  EXPECT_EQ((std::vector<cl_int>{7, 1, 6, -9, 7, 15, 15, 1, 28}), read<cl_int>(mem, numbers.size()));
}

TEST_F(Spirv, GivenValuesOfOtherItemsThenTheyAreThoseOfTheGroup) {
  if (info<std::string>(clGetDeviceInfo, device, CL_DEVICE_VENDOR) != "NVIDIA Corporation")
    GTEST_SKIP() << "the extensions of SPIR-V are those of NVIDIA GPUs";
  constexpr size_t kItems = 64;
  constexpr size_t kWidth = 32;
  std::vector<cl_uint> numbers(kItems);
  for (size_t i = 0; i < kItems; ++i) numbers[i] = static_cast<cl_uint>(2 * i + 3);
  // For item i, the result of each operation in collectives.spvasm.
  using Operation = std::function<cl_uint(size_t i)>;
  const auto product = [&](size_t begin, size_t end) {
    return std::accumulate(numbers.begin() + static_cast<ptrdiff_t>(begin),
                           numbers.begin() + static_cast<ptrdiff_t>(end), cl_uint{1}, std::multiplies<>());
  };
  const auto first_of = [](size_t i) { return i / kWidth * kWidth; };
  const std::vector<Operation> operations{
      [&](size_t) { return product(0, kItems); },
      [&](size_t i) { return product(0, i + 1); },
      [&](size_t i) { return product(0, i); },
      [&](size_t i) {
        return std::accumulate(numbers.begin(), numbers.begin() + static_cast<ptrdiff_t>(i + 1), cl_uint{0},
                               std::bit_xor<>());
      },
      [&](size_t i) { return product(first_of(i), first_of(i) + kWidth); },
      [&](size_t i) { return numbers[first_of(i) + 5]; },
      [&](size_t i) { return numbers[i ^ 5U]; },
      [&](size_t i) { return i % kWidth + 5 < kWidth ? numbers[i + 5] : 2 * numbers[i + 5 - kWidth]; },
      [&](size_t i) { return i % kWidth >= 5 ? numbers[i - 5] : 2 * numbers[i - 5 + kWidth]; },
      [&](size_t i) { return numbers[i % kWidth]; },
  };
  const Program program = build_il("collectives");
  const Kernel collectives = kernel(program, "collectives");
  const Mem in = buffer<cl_uint>(kItems, numbers.data());
  const Mem out = buffer<cl_uint>(kItems * operations.size());
  set(collectives, 0, in.get());
  set(collectives, 1, out.get());
  ASSERT_CL(launch(collectives, kItems, kItems));
  const auto results = read<cl_uint>(out, kItems * operations.size());
  for (size_t k = 0; k < operations.size(); ++k)
    for (size_t i = 0; i < kItems; ++i)
      EXPECT_EQ(operations[k](i), results[kItems * k + i]) << k << ", " << i;
}

TEST_F(Spirv, GivenTheSameProgramInOpenClCThenTheResultsAreTheSame) {
  if (info<cl_device_fp_config>(clGetDeviceInfo, device, CL_DEVICE_DOUBLE_FP_CONFIG) == 0)
    GTEST_SKIP() << "the device has no doubles";
  constexpr size_t kCount = 4;
  const char* source = R"(
    kernel void mathematics(global float* x, global double* d, global int* n) {
      size_t i = get_global_id(0);
      float f = x[i];
      int e;
      float whole;
      x[i] = sin(f) + native_cos(f) * rsqrt(f + 2) - pow(f, 3.f) + fmax(f, 1.f) + fract(f, &whole) + frexp(f, &e) +
             whole + clamp(f, 0.f, 1.f) + mad(f, f, f) + fma(f, f, 1.f);
      d[i] = exp(d[i]) + sqrt(d[i]) / (f + 1);
      n[i] = mul_hi(n[i], 77) + popcount(n[i]) + abs_diff(n[i], 3) + convert_int_sat_rte(f) + e + isnan(f) +
             any((int2)(n[i], 1) < (int2)(2)) + rotate(n[i], 3);
      float4 v = vload4(i, x);
      x[i] += dot(v, v.wzyx) + length(v.xyz) + normalize(v).x + cross(v, v.yzxw).y + select(f, whole, e);
    })";
  const std::vector<cl_float> x{0.5F, 1.25F, 2.75F, 3.5F, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const std::vector<cl_double> d{1, 2, 0.5, 0.25};
  const std::vector<cl_int> n{1'000'000'000, -1, 77, 2};
  // One item at a time, since each item reads what other items write.
  const auto results = [&](const Program& program) {
    const Kernel mathematics = kernel(program, "mathematics");
    const Mem floats = buffer<cl_float>(x.size(), x.data());
    const Mem doubles = buffer<cl_double>(d.size(), d.data());
    const Mem ints = buffer<cl_int>(n.size(), n.data());
    set(mathematics, 0, floats.get());
    set(mathematics, 1, doubles.get());
    set(mathematics, 2, ints.get());
    for (size_t i = 0; i < kCount; ++i) EXPECT_CL(launch(mathematics, 1, 1, &i));
    return std::tuple(read<cl_float>(floats, x.size()), read<cl_double>(doubles, d.size()),
                      read<cl_int>(ints, n.size()));
  };
  const auto [floats, doubles, ints] = results(build_il("mathematics"));
  const auto [same_floats, same_doubles, same_ints] = results(build(source));
  EXPECT_EQ(same_ints, ints);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_NEAR(same_floats[i], floats[i], 1e-5 * std::fabs(same_floats[i]) + 1e-6) << i;
  for (size_t i = 0; i < d.size(); ++i) EXPECT_NEAR(same_doubles[i], doubles[i], 1e-13) << i;
}

TEST_F(Spirv, GivenImagesAndSamplersThenTheyAreReadAndWritten) {
  constexpr size_t kWidth = 8;
  constexpr size_t kHeight = 4;
  const cl_image_format format{CL_RGBA, CL_FLOAT};
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = kWidth;
  desc.image_height = kHeight;
  std::vector<cl_float> texels(kWidth * kHeight * 4);
  for (size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<cl_float>(i);
  cl_int err = CL_SUCCESS;
  const Mem in(
      clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &desc, texels.data(), &err));
  ASSERT_EQ(CL_SUCCESS, err);
  const Mem out(clCreateImage(context, CL_MEM_WRITE_ONLY, &format, &desc, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  const cl_sampler sampler =
      clCreateSampler(context, CL_TRUE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, &err);
  ASSERT_EQ(CL_SUCCESS, err);
  const Program program = build_il("images");
  const Kernel mirror = kernel(program, "mirror");
  set(mirror, 0, in.get());
  set(mirror, 1, out.get());
  set(mirror, 2, sampler);
  const size_t global[] = {kWidth, kHeight};
  ASSERT_CL(clEnqueueNDRangeKernel(queue, mirror, 2, nullptr, global, nullptr, 0, nullptr, nullptr));
  const size_t origin[3] = {0, 0, 0};
  const size_t region[3] = {kWidth, kHeight, 1};
  std::vector<cl_float> result(texels.size());
  ASSERT_CL(
      clEnqueueReadImage(queue, out, CL_TRUE, origin, region, 0, 0, result.data(), 0, nullptr, nullptr));
  ASSERT_CL(clReleaseSampler(sampler));
  for (size_t y = 0; y < kHeight; ++y)
    for (size_t x = 0; x < kWidth; ++x)
      for (size_t c = 0; c < 4; ++c)
        EXPECT_EQ(texels[(y * kWidth + kWidth - 1 - x) * 4 + c] + 2 * texels[(y * kWidth + x) * 4 + c],
                  result[(y * kWidth + x) * 4 + c])
            << x << ' ' << y << ' ' << c;
}

TEST_F(Spirv, GivenPrintfThenItPrints) {
  const Program program = build_il("printing");
  const Kernel printing = kernel(program, "printing");
  set(printing, 0, cl_int{7});
  set(printing, 1, cl_float{1.5F});
  const Capture capture;
  ASSERT_CL(launch(printing, 1, 1));
  ASSERT_CL(clFinish(queue));
  EXPECT_EQ("7 is a number, 7,2, 1.50!\n", capture.text());
}

TEST_F(Spirv, GivenAPartInSpirvThenItIsLinkedWithOpenClC) {
  const auto module = spirv_module("caller");
  cl_int err = CL_SUCCESS;
  const Program caller(clCreateProgramWithIL(context, module.data(), module.size(), &err));
  ASSERT_EQ(CL_SUCCESS, err);
  const char* source = "int triple(int n) { return 3 * n; }";
  const Program called(clCreateProgramWithSource(context, 1, &source, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  for (const cl_program part : {caller.get(), called.get()})
    ASSERT_CL(clCompileProgram(part, 1, &device, "", 0, nullptr, nullptr, nullptr, nullptr));
  const cl_program parts[] = {caller, called};
  const Program program(clLinkProgram(context, 1, &device, "", 2, parts, nullptr, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  const Kernel use = kernel(program, "use");
  const cl_int number = 14;
  const Mem mem = buffer<cl_int>(1, &number);
  set(use, 0, mem.get());
  ASSERT_CL(launch(use, 1));
  EXPECT_EQ(42, read<cl_int>(mem, 1)[0]);
}

}  // namespace clique::test
