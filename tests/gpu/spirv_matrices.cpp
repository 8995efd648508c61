// Programs in SPIR-V with cooperative matrices (SPV_KHR_cooperative_matrix): their products on the device.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "gpu.hpp"
#include "spirv/modules.hpp"

namespace clique::test {

/// The kernels of cooperative_matrices.spvasm, by one sub-group.
class SpirvMatrices : public GpuTest {
 protected:
  static constexpr size_t kItems = 32;
  static constexpr size_t kSide = 16;

  void SetUp() override {
    GpuTest::SetUp();
    for (const char* extension : {"cl_khr_il_program", "cl_clique_cooperative_matrix"})
      if (!has_extension(extension)) GTEST_SKIP() << "no " << extension;
    if (spirv_module("cooperative_matrices").empty())
      GTEST_SKIP() << "there was no assembler for the modules";
  }
  /// The program with other values of its specialization constants, before it is built.
  Program specialized(const std::vector<std::pair<cl_uint, cl_uint>>& constants) {
    const auto module = spirv_module("cooperative_matrices");
    cl_int err = CL_SUCCESS;
    Program program(clCreateProgramWithIL(context, module.data(), module.size(), &err));
    EXPECT_EQ(CL_SUCCESS, err);
    for (const auto& [id, value] : constants)
      EXPECT_CL(clSetProgramSpecializationConstant(program, id, sizeof value, &value));
    return program;
  }
  Program built() {
    Program program = specialized({});
    EXPECT_CL(clBuildProgram(program, 1, &device, "", nullptr, nullptr));
    return program;
  }
  /// Small integers that repeat in no row or column of a matrix.
  static int number(size_t i) { return static_cast<int>(i * i % 5 + i / 7 % 3) - 3; }
  /// An integer from -3 to 3 in half precision.
  static cl_half half_of(int value) {
    constexpr cl_half kMagnitudes[] = {0, 0x3C00, 0x4000, 0x4200};
    return static_cast<cl_half>(kMagnitudes[std::abs(value)] | (value < 0 ? 0x8000 : 0));
  }
  /// The value of a normal number, or 0, in half precision.
  static float value_of(cl_half half) {
    const int exponent = half >> 10 & 31;
    const float magnitude =
        exponent == 0 ? 0 : std::ldexp(static_cast<float>(0x400 | (half & 0x3FF)), exponent - 25);
    return (half & 0x8000) != 0 ? -magnitude : magnitude;
  }
  template <typename T, typename F>
  static std::vector<T> filled(size_t count, F&& f) {
    std::vector<T> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = static_cast<T>(f(i));
    return values;
  }
};

TEST_F(SpirvMatrices, GivenHalvesThenTheProductIsThatOfTheHost) {
  constexpr size_t kDepth = 80;
  const Program program = built();
  const Kernel halves = kernel(program, "halves");
  const auto a = [](size_t row, size_t k) { return number(row * kDepth + k); };
  const auto b = [](size_t k, size_t column) { return number(column * kDepth + k + 11); };
  const auto left =
      filled<cl_half>(kSide * kDepth, [&](size_t i) { return half_of(a(i / kDepth, i % kDepth)); });
  const auto right =
      filled<cl_half>(kSide * kDepth, [&](size_t i) { return half_of(b(i % kDepth, i / kDepth)); });
  const Mem mem_a = buffer(left.size(), left.data()), mem_b = buffer(right.size(), right.data());
  const Mem out = buffer<cl_float>(kSide * kSide);
  set_args(halves, mem_a, mem_b, out, cl_uint{kDepth});
  ASSERT_CL(launch(halves, kItems, kItems));
  EXPECT_EQ(filled<cl_float>(kSide * kSide,
                             [&](size_t i) {
                               int sum = 1;
                               for (size_t k = 0; k < kDepth; ++k) sum += a(i / kSide, k) * b(k, i % kSide);
                               return static_cast<cl_float>(sum) * 0.5F;
                             }),
            read<cl_float>(out, kSide * kSide));
}

TEST_F(SpirvMatrices, GivenLayoutsBySpecializationThenTheyAreFollowed) {
  constexpr cl_uint kByRows = 1;
  const Program program = specialized({{kByRows, 1}});
  ASSERT_CL(clBuildProgram(program, 1, &device, "", nullptr, nullptr));
  const Kernel halves = kernel(program, "halves");
  const auto left = filled<cl_half>(kSide * kSide, [](size_t i) { return half_of(number(i)); });
  const auto right = filled<cl_half>(kSide * kSide, [](size_t i) { return half_of(number(i + 11)); });
  const Mem mem_a = buffer(left.size(), left.data()), mem_b = buffer(right.size(), right.data());
  const Mem out = buffer<cl_float>(kSide * kSide);
  set_args(halves, mem_a, mem_b, out, cl_uint{kSide});
  ASSERT_CL(launch(halves, kItems, kItems));
  // A is in columns now, and B in rows.
  EXPECT_EQ(filled<cl_float>(kSide * kSide,
                             [](size_t i) {
                               int sum = 1;
                               for (size_t k = 0; k < kSide; ++k)
                                 sum += number(k * kSide + i / kSide) * number(k * kSide + i % kSide + 11);
                               return static_cast<cl_float>(sum) * 0.5F;
                             }),
            read<cl_float>(out, kSide * kSide));
}

TEST_F(SpirvMatrices, GivenRowsThatTheDeviceLacksBySpecializationThenTheLogNamesTheMatrix) {
  constexpr cl_uint kHalfOfRows = 0;
  const Program program = specialized({{kHalfOfRows, 4}});
  EXPECT_EQ(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(program, 1, &device, "", nullptr, nullptr));
  size_t size = 0;
  ASSERT_CL(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size));
  std::string log(size, '\0');
  ASSERT_CL(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr));
  EXPECT_NE(std::string::npos, log.find("8 × 16")) << log;
}

TEST_F(SpirvMatrices, GivenBytesBehindOtherPointersThenTheProductIsThatOfTheHost) {
  constexpr size_t kDepth = 32;
  const Program program = built();
  const Kernel bytes = kernel(program, "bytes");
  const auto left = filled<cl_char>(kSide * kDepth, [](size_t i) { return i * 37 % 256 - 128; });
  const auto right = filled<cl_uchar>(kDepth * kSide, [](size_t i) { return i * 91 % 256; });
  const auto before = filled<cl_int>(kSide * kSide, [](size_t i) { return 1000 * i - 77; });
  const Mem mem_a = buffer(left.size(), left.data()), mem_b = buffer(right.size(), right.data());
  const Mem out = buffer(before.size(), before.data());
  set_args(bytes, mem_a, mem_b, out);
  ASSERT_CL(launch(bytes, kItems, kItems));
  EXPECT_EQ(filled<cl_int>(kSide * kSide,
                           [&](size_t i) {
                             int rest = before[i];
                             for (size_t k = 0; k < kDepth; ++k)
                               rest -= left[i / kSide * kDepth + k] * right[k * kSide + i % kSide];
                             return 3 * rest;
                           }),
            read<cl_int>(out, kSide * kSide));
}

TEST_F(SpirvMatrices, GivenBfloat16ThenTheProductIsThatOfTheHost) {
  const Program program = built();
  const Kernel bfloats = kernel(program, "bfloats");
  const auto bfloat_of = [](int value) {
    const auto single = static_cast<cl_float>(value);
    cl_uint bits = 0;
    std::memcpy(&bits, &single, sizeof bits);
    return bits >> 16U;
  };
  const auto left = filled<cl_ushort>(kSide * kSide, [&](size_t i) { return bfloat_of(number(i)); });
  const auto right = filled<cl_ushort>(kSide * kSide, [&](size_t i) { return bfloat_of(number(i + 11)); });
  const Mem mem_a = buffer(left.size(), left.data()), mem_b = buffer(right.size(), right.data());
  const Mem out = buffer<cl_float>(kSide * kSide);
  set_args(bfloats, mem_a, mem_b, out);
  ASSERT_CL(launch(bfloats, kItems, kItems));
  // The result is in columns.
  EXPECT_EQ(filled<cl_float>(kSide * kSide,
                             [](size_t i) {
                               int sum = 0;
                               for (size_t k = 0; k < kSide; ++k)
                                 sum += number(i % kSide * kSide + k) * number(k * kSide + i / kSide + 11);
                               return sum;
                             }),
            read<cl_float>(out, kSide * kSide));
}

TEST_F(SpirvMatrices, GivenHalvesInLocalMemoryThenTheProductIsThatOfTheHost) {
  const Program program = built();
  const Kernel tiles = kernel(program, "tiles");
  const auto left = filled<cl_half>(kSide * kSide, [](size_t i) { return half_of(number(i)); });
  const auto right = filled<cl_half>(kSide * kSide, [](size_t i) { return half_of(number(i + 11)); });
  const auto before = filled<cl_half>(kSide * kSide, [](size_t i) { return half_of(number(i + 23)); });
  const Mem mem_a = buffer(left.size(), left.data()), mem_b = buffer(right.size(), right.data());
  const Mem out = buffer(before.size(), before.data());
  set_args(tiles, mem_a, mem_b, out);
  ASSERT_CL(launch(tiles, kItems, kItems));
  const auto results = read<cl_half>(out, kSide * kSide);
  for (size_t i = 0; i < results.size(); ++i) {
    int sum = number(i + 23);
    for (size_t k = 0; k < kSide; ++k)
      sum += number(i / kSide * kSide + k) * number(k * kSide + i % kSide + 11);
    EXPECT_EQ(static_cast<float>(sum), value_of(results[i])) << i;
  }
}

TEST_F(SpirvMatrices, GivenElementsByIndexThenEachIsChangedOnce) {
  const Program program = built();
  const Kernel elements = kernel(program, "elements");
  const auto numbers = filled<cl_float>(kSide * kSide, [](size_t i) { return i; });
  const Mem in = buffer(numbers.size(), numbers.data());
  const Mem out = buffer<cl_half>(kSide * kSide);
  const Mem lengths = buffer<cl_uint>(kItems);
  set_args(elements, in, out, lengths);
  ASSERT_CL(launch(elements, kItems, kItems));
  EXPECT_EQ(std::vector<cl_uint>(kItems, kSide * kSide / kItems), read<cl_uint>(lengths, kItems));
  const auto results = read<cl_half>(out, kSide * kSide);
  for (size_t row = 0; row < kSide; ++row)
    for (size_t column = 0; column < kSide; ++column)
      EXPECT_EQ(static_cast<float>(row * kSide + column + 1), value_of(results[column * kSide + row]))
          << row << ' ' << column;
}

}  // namespace clique::test
