// cl_clique_cooperative_matrix: loads, stores, elements and products of all types, against the host.
#include <random>

#include "gpu.hpp"

namespace clique::test {

namespace {

/// A type of matrix, by its name after `clique_`.
struct Matrix {
  const char* name;
  const char* element;  ///< type in OpenCL C
  size_t size;          ///< bytes of an element
  size_t rows;
  size_t columns;
};
constexpr Matrix kMatrices[] = {
    {"half16x16_a", "half", 2, 16, 16},     {"half16x16_b", "half", 2, 16, 16},
    {"bfloat16x16_a", "ushort", 2, 16, 16}, {"bfloat16x16_b", "ushort", 2, 16, 16},
    {"char16x32_a", "char", 1, 16, 32},     {"char32x16_b", "char", 1, 32, 16},
    {"uchar16x32_a", "uchar", 1, 16, 32},   {"uchar32x16_b", "uchar", 1, 32, 16},
    {"half16x16", "half", 2, 16, 16},       {"float16x16", "float", 4, 16, 16},
    {"int16x16", "int", 4, 16, 16},
};

const Matrix& matrix_named(const std::string& name) {
  return *std::find_if(std::begin(kMatrices), std::end(kMatrices),
                       [&](const Matrix& matrix) { return matrix.name == name; });
}

/// The types of a product, and the numbers in its factors and in what it is added to: integers from the first
/// to the second number of each pair. All results are exact.
struct Product {
  const char* a;
  const char* b;
  const char* c;
  int of_a[2];
  int of_b[2];
  int of_c[2];
};
constexpr Product kProducts[] = {
    {"half16x16_a", "half16x16_b", "float16x16", {-2048, 2048}, {-1, 2}, {-1000000, 1000000}},
    {"half16x16_a", "half16x16_b", "half16x16", {-8, 8}, {-4, 4}, {-1000, 1000}},
    {"bfloat16x16_a", "bfloat16x16_b", "float16x16", {-256, 256}, {-200, 256}, {-1000000, 1000000}},
    {"char16x32_a", "char32x16_b", "int16x16", {-128, 127}, {-128, 127}, {-1000000000, 1000000000}},
    {"char16x32_a", "uchar32x16_b", "int16x16", {-128, 127}, {0, 255}, {-1000000000, 1000000000}},
    {"uchar16x32_a", "char32x16_b", "int16x16", {0, 255}, {-128, 127}, {-1000000000, 1000000000}},
    {"uchar16x32_a", "uchar32x16_b", "int16x16", {0, 255}, {0, 255}, {-1000000000, 1000000000}},
};

/// How a matrix lies in memory.
struct Layout {
  bool by_columns = false;
  size_t stride = 0;
  size_t at(size_t row, size_t column) const {
    return by_columns ? column * stride + row : row * stride + column;
  }
};

/// The macro of OpenCL C for an order.
const char* order_name(bool by_columns) {
  return by_columns ? "CLIQUE_COLUMN_MAJOR" : "CLIQUE_ROW_MAJOR";
}

/// `count` random integers from `range[0]` to `range[1]`.
std::vector<int> integers(size_t count, const int (&range)[2]) {
  static std::mt19937 engine;
  std::uniform_int_distribution<int> distribution(range[0], range[1]);
  std::vector<int> values(count);
  for (int& value : values) value = distribution(engine);
  values[count / 3] = range[0];
  values[count / 2] = range[1];
  return values;
}

std::vector<cl_uchar> random_bytes(size_t size) {
  const auto values = integers(size, {0, 255});
  return {values.begin(), values.end()};
}

}  // namespace

class CooperativeMatrix : public GpuTest {
 protected:
  /// What every program begins with.
  static constexpr char kPreamble[] = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n";

  bool is_absent() { return !has_extension("cl_clique_cooperative_matrix"); }

  /// Bytes from the device, of which the elements are those of `matrix`.
  static std::uint32_t element(const std::vector<cl_uchar>& bytes, const Matrix& matrix, size_t index) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + index * matrix.size, matrix.size);
    return value;
  }
};

#define SKIP_WITHOUT_MATRICES() \
  if (is_absent()) GTEST_SKIP() << "no cl_clique_cooperative_matrix"

TEST_F(CooperativeMatrix, GivenAnyDeviceThenTheMacroIsDefinedWhereTheExtensionIs) {
  const Program program = build(R"(
    kernel void k(global int* out) {
    #ifdef cl_clique_cooperative_matrix
      out[0] = cl_clique_cooperative_matrix;
    #else
      out[0] = 0;
    #endif
    })");
  const Kernel k = kernel(program, "k");
  const Mem out = buffer<cl_int>(1);
  set_args(k, out);
  ASSERT_CL(launch(k, 1));
  EXPECT_EQ(is_absent() ? 0 : 1, read<cl_int>(out, 1).front());
}

// Each of two work-groups moves two matrices, one in each sub-group, within memory in which there is more.
TEST_F(CooperativeMatrix, GivenAnyMemoryAndOrderWhenLoadedAndStoredThenOnlyTheElementsMove) {
  SKIP_WITHOUT_MATRICES();
  for (const Matrix& matrix : kMatrices) {
    const size_t step = 16 / matrix.size;
    const size_t most = std::max(matrix.rows, matrix.columns);
    // Two matrices lie side by side in the memory of a work-group.
    const size_t stride_from = 2 * most + step, stride_to = 2 * most + 3 * step;
    const size_t count = most * std::max(stride_from, stride_to) + step;
    std::string source = kPreamble;
    source +=
        "#define MOVE(name, FROM, TO, back, order_from, order_to) \\\n"
        "kernel void name(global const T* in, global T* out) { \\\n"
        "  local T local_in[COUNT] __attribute__((aligned(16))); \\\n"
        "  local T local_out[COUNT] __attribute__((aligned(16))); \\\n"
        "  in += get_group_id(0) * COUNT; out += get_group_id(0) * COUNT; \\\n"
        "  for (int i = get_local_id(0); i < COUNT; i += 64) { \\\n"
        "    local_in[i] = in[i]; local_out[i] = out[i]; } \\\n"
        "  barrier(CLK_LOCAL_MEM_FENCE); \\\n"
        "  const int place = STEP + get_local_id(0) / 32 * MOST; \\\n"
        "  const MATRIX m = LOAD(FROM + place, STRIDE_FROM, order_from); \\\n"
        "  clique_matrix_store(m, TO + place, STRIDE_TO, order_to); \\\n"
        "  barrier(CLK_LOCAL_MEM_FENCE); \\\n"
        "  if (back) \\\n"
        "    for (int i = get_local_id(0); i < COUNT; i += 64) out[i] = local_out[i]; }\n";
    const auto name_of = [](bool local_from, bool local_to, bool columns_from, bool columns_to) {
      std::string name = "move";
      for (const bool each : {local_from, local_to, columns_from, columns_to}) name += each ? '1' : '0';
      return name;
    };
    const auto each_variant = [&](auto&& f) {
      for (unsigned bits = 0; bits < 16; ++bits)
        f((bits & 1U) != 0, (bits & 2U) != 0, (bits & 4U) != 0, (bits & 8U) != 0);
    };
    each_variant([&](bool local_from, bool local_to, bool columns_from, bool columns_to) {
      source += "MOVE(" + name_of(local_from, local_to, columns_from, columns_to) +
                (local_from ? ", local_in" : ", in") + (local_to ? ", local_out, 1" : ", out, 0") + ", " +
                order_name(columns_from) + ", " + order_name(columns_to) + ")\n";
    });
    const std::string options = std::string("-DT=") + matrix.element + " -DMATRIX=clique_" + matrix.name +
                                " -DLOAD=clique_load_" + matrix.name + " -DCOUNT=" + std::to_string(count) +
                                " -DSTEP=" + std::to_string(step) + " -DMOST=" + std::to_string(most) +
                                " -DSTRIDE_FROM=" + std::to_string(stride_from) +
                                " -DSTRIDE_TO=" + std::to_string(stride_to);
    const Program program = build(source.c_str(), options.c_str());
    ASSERT_TRUE(program);
    const auto data = random_bytes(2 * count * matrix.size), before = random_bytes(2 * count * matrix.size);
    const Mem in = buffer(data.size(), data.data());
    each_variant([&](bool local_from, bool local_to, bool columns_from, bool columns_to) {
      const std::string name = name_of(local_from, local_to, columns_from, columns_to);
      const Kernel k = kernel(program, name.c_str());
      const Mem out = buffer(before.size(), before.data());
      set_args(k, in, out);
      ASSERT_CL(launch(k, 128, 64));
      auto expected = before;
      const Layout from{columns_from, stride_from}, to{columns_to, stride_to};
      for (size_t group = 0; group < 2; ++group)
        for (size_t part = 0; part < 2; ++part)
          for (size_t row = 0; row < matrix.rows; ++row)
            for (size_t column = 0; column < matrix.columns; ++column) {
              const size_t place = group * count + step + part * most;
              std::memcpy(expected.data() + (place + to.at(row, column)) * matrix.size,
                          data.data() + (place + from.at(row, column)) * matrix.size, matrix.size);
            }
      EXPECT_EQ(expected, read<cl_uchar>(out, before.size())) << matrix.name << ' ' << name;
    });
  }
}

TEST_F(CooperativeMatrix, GivenFillAndElementsThenEachElementIsHeldOnce) {
  SKIP_WITHOUT_MATRICES();
  for (const Matrix& matrix : kMatrices) {
    const std::string name = matrix.name;
    const std::string source = std::string(kPreamble) +
                               "kernel void k(global T* out, global int* lengths) {"
                               "  MATRIX m = FILL(5);"
                               "  for (int i = 0; i < CLIQUE_MATRIX_LENGTH(m); ++i) m.element[i] += i % 2;"
                               "  clique_matrix_store(m, out, COLUMNS, CLIQUE_ROW_MAJOR);"
                               "  lengths[get_global_id(0)] = CLIQUE_MATRIX_LENGTH(m); }";
    const std::string options = std::string("-DT=") + matrix.element + " -DMATRIX=clique_" + name +
                                " -DFILL=clique_fill_" + name +
                                " -DCOLUMNS=" + std::to_string(matrix.columns);
    const Program program = build(source.c_str(), options.c_str());
    const Kernel k = kernel(program, "k");
    const size_t count = matrix.rows * matrix.columns;
    const Mem out = buffer<cl_uchar>(count * matrix.size);
    const Mem lengths = buffer<cl_int>(32);
    set_args(k, out, lengths);
    ASSERT_CL(launch(k, 32, 32));
    const auto bytes = read<cl_uchar>(out, count * matrix.size);
    std::uint32_t even = 5, odd = 6;
    if (std::string(matrix.element) == "half") {
      even = 0x4500;
      odd = 0x4600;
    } else if (std::string(matrix.element) == "float") {
      even = 0x40A00000;
      odd = 0x40C00000;
    }
    size_t evens = 0, odds = 0;
    for (size_t i = 0; i < count; ++i) {
      const std::uint32_t value = element(bytes, matrix, i);
      evens += value == even ? 1 : 0;
      odds += value == odd ? 1 : 0;
    }
    EXPECT_EQ(count / 2, evens) << name;
    EXPECT_EQ(count / 2, odds) << name;
    EXPECT_EQ(std::vector<cl_int>(32, static_cast<cl_int>(count / 32)), read<cl_int>(lengths, 32)) << name;
  }
}

TEST_F(CooperativeMatrix, GivenMatricesOfOneShapeThenTheirElementsCorrespond) {
  SKIP_WITHOUT_MATRICES();
  const std::string source = std::string(kPreamble) + R"(
    kernel void k(global const float* in, global half* out) {
      const clique_float16x16 wide = clique_load_float16x16(in, 16, CLIQUE_ROW_MAJOR);
      clique_half16x16 narrow;
      for (int i = 0; i < CLIQUE_MATRIX_LENGTH(wide); ++i) narrow.element[i] = convert_half(wide.element[i]);
      clique_matrix_store(narrow, out, 16, CLIQUE_ROW_MAJOR);
    }
    kernel void widen(global const half* in, global float* out) {
      out[get_global_id(0)] = in[get_global_id(0)];
    })";
  const Program program = build(source.c_str());
  const Kernel k = kernel(program, "k"), widen = kernel(program, "widen");
  std::vector<float> numbers(256);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  const Mem in = buffer(numbers.size(), numbers.data());
  const Mem halves = buffer<cl_half>(256);
  const Mem out = buffer<float>(256);
  set_args(k, in, halves);
  ASSERT_CL(launch(k, 32, 32));
  set_args(widen, halves, out);
  ASSERT_CL(launch(widen, 256));
  EXPECT_EQ(numbers, read<float>(out, 256));
}

// The sum of two products, of which the second sub-group of the work-group computes none.
TEST_F(CooperativeMatrix, GivenFactorsInAnyMemoryAndOrderWhenMultipliedThenTheHostsProduct) {
  SKIP_WITHOUT_MATRICES();
  for (const Product& product : kProducts) {
    const Matrix &a = matrix_named(product.a), &b = matrix_named(product.b), &c = matrix_named(product.c);
    const size_t depth = a.columns;
    // Numbers as floats and integers become elements on the device, which bfloat is not.
    const bool bfloat = std::string(product.a).starts_with("bfloat");
    const std::string to_factor = bfloat ? "as_uint((float)(x)) >> 16" : "x";
    const auto source_for = [&](unsigned bits) {
      const bool local_memory = (bits & 4U) != 0;
      const std::string from_a = local_memory ? "local_a" : "as_a";
      const std::string from_b = local_memory ? "local_b" : "as_b";
      return std::string(kPreamble) + "#define DEPTH " + std::to_string(depth) + "\n#define ORDER_A " +
             order_name((bits & 1U) != 0) + "\n#define ORDER_B " + order_name((bits & 2U) != 0) +
             "\n#define AT(order, row, column, rows, columns) \\\n"
             "  ((order) == CLIQUE_ROW_MAJOR ? (row) * (columns) + (column) : (column) * (rows) + (row))\n"
             "#define FACTOR(x) (" +
             to_factor +
             ")\n"
             "typedef " +
             a.element + " TA; typedef " + b.element + " TB; typedef " + c.element +
             " TC;\n"
             "kernel void k(global const int* a, global const int* b, global const int* c, global int* out,\n"
             "              global TA* as_a, global TB* as_b, global TC* as_c) {\n"
             "  local TA local_a[32 * DEPTH] __attribute__((aligned(16)));\n"
             "  local TB local_b[32 * DEPTH] __attribute__((aligned(16)));\n"
             "  const int lane = get_local_id(0);\n"
             "  for (int i = lane; i < 32 * DEPTH; i += 64) {\n"
             "    as_a[AT(ORDER_A, i / (2 * DEPTH), i % (2 * DEPTH), 16, 2 * DEPTH)] = FACTOR(a[i]);\n"
             "    as_b[AT(ORDER_B, i / 16, i % 16, 2 * DEPTH, 16)] = FACTOR(b[i]);\n"
             "  }\n"
             "  for (int i = lane; i < 256; i += 64) as_c[i] = c[i];\n"
             "  barrier(CLK_GLOBAL_MEM_FENCE);\n"
             "  for (int i = lane; i < 32 * DEPTH; i += 64) local_a[i] = as_a[i], local_b[i] = as_b[i];\n"
             "  barrier(CLK_LOCAL_MEM_FENCE);\n"
             "  if (lane < 32) {\n"
             "    clique_" +
             c.name + " sum = clique_load_" + c.name +
             "(as_c, 16, CLIQUE_ROW_MAJOR);\n"
             "    for (int k = 0; k < 2 * DEPTH; k += DEPTH)\n"
             "      sum = clique_matrix_multiply_add(\n"
             "          clique_load_" +
             a.name + "(" + from_a +
             " + AT(ORDER_A, 0, k, 16, 2 * DEPTH),\n"
             "              ORDER_A == CLIQUE_ROW_MAJOR ? 2 * DEPTH : 16, ORDER_A),\n"
             "          clique_load_" +
             b.name + "(" + from_b +
             " + AT(ORDER_B, k, 0, 2 * DEPTH, 16),\n"
             "              ORDER_B == CLIQUE_ROW_MAJOR ? 16 : 2 * DEPTH, ORDER_B), sum);\n"
             "    clique_matrix_store(sum, as_c, 16, CLIQUE_ROW_MAJOR);\n"
             "  }\n"
             "  barrier(CLK_GLOBAL_MEM_FENCE);\n"
             "  for (int i = lane; i < 256; i += 64) out[i] = as_c[i];\n"
             "}\n";
    };
    const auto of_a = integers(16 * 2 * depth, product.of_a), of_b = integers(2 * depth * 16, product.of_b),
               of_c = integers(256, product.of_c);
    std::vector<cl_int> expected(of_c.begin(), of_c.end());
    for (size_t i = 0; i < 256; ++i)
      for (size_t k = 0; k < 2 * depth; ++k)
        expected[i] += of_a[i / 16 * 2 * depth + k] * of_b[k * 16 + i % 16];
    const Mem in_a = buffer(of_a.size(), of_a.data()), in_b = buffer(of_b.size(), of_b.data()),
              in_c = buffer(of_c.size(), of_c.data());
    const Mem as_a = buffer<cl_uchar>(of_a.size() * a.size), as_b = buffer<cl_uchar>(of_b.size() * b.size),
              as_c = buffer<cl_uchar>(of_c.size() * c.size);
    for (unsigned bits = 0; bits < 8; ++bits) {
      const std::string source = source_for(bits);
      for (const char* options : {"", "-cl-opt-disable"}) {
        const Program program = build(source.c_str(), options);
        const Kernel k = kernel(program, "k");
        const Mem out = buffer<cl_int>(256);
        set_args(k, in_a, in_b, in_c, out, as_a, as_b, as_c);
        ASSERT_CL(launch(k, 64, 64));
        EXPECT_EQ(expected, read<cl_int>(out, 256))
            << product.a << ' ' << product.b << ' ' << product.c << ' ' << bits << options;
      }
    }
  }
}

TEST_F(CooperativeMatrix, GivenStrideOfZeroThenEachRowIsTheSame) {
  SKIP_WITHOUT_MATRICES();
  const Program program = build(R"(
    kernel void k(global const int* row, global int* out) {
      clique_matrix_store(clique_load_int16x16(row, 0, CLIQUE_ROW_MAJOR), out, 16, CLIQUE_ROW_MAJOR);
    })");
  const Kernel k = kernel(program, "k");
  std::vector<cl_int> row(16), expected(256);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] = row[i % 16] = static_cast<cl_int>(100 + i % 16);
  const Mem in = buffer(row.size(), row.data());
  const Mem out = buffer<cl_int>(256);
  set_args(k, in, out);
  ASSERT_CL(launch(k, 32, 32));
  EXPECT_EQ(expected, read<cl_int>(out, 256));
}

TEST_F(CooperativeMatrix, GivenFunctionThatIsNotInlinedThenItTakesAndReturnsMatrices) {
  SKIP_WITHOUT_MATRICES();
  const std::string source = std::string(kPreamble) + R"(
    clique_float16x16 __attribute__((noinline)) doubled(clique_float16x16 matrix) {
      for (int i = 0; i < CLIQUE_MATRIX_LENGTH(matrix); ++i) matrix.element[i] *= 2;
      return matrix;
    }
    kernel void k(global float* data) {
      const clique_float16x16 matrix = clique_load_float16x16(data, 16, CLIQUE_COLUMN_MAJOR);
      clique_matrix_store(doubled(matrix), data, 16, CLIQUE_ROW_MAJOR);
    })";
  const Program program = build(source.c_str());
  const Kernel k = kernel(program, "k");
  std::vector<float> numbers(256), expected(256);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  for (size_t i = 0; i < numbers.size(); ++i) expected[i] = 2 * numbers[i % 16 * 16 + i / 16];
  const Mem data = buffer(numbers.size(), numbers.data());
  set_args(k, data);
  ASSERT_CL(launch(k, 32, 32));
  EXPECT_EQ(expected, read<float>(data, 256));
}

}  // namespace clique::test
