// Integer functions of every type, for scalars and for vectors of 3 and 16, compared with arithmetic of
// sufficient width.
#include <type_traits>

#include "precision.hpp"

namespace clique::test {

namespace {

__extension__ using Wide = __int128;

template <typename T>
struct Limits {
  static constexpr int bits = static_cast<int>(sizeof(T) * 8);
  static constexpr Wide low = std::is_signed_v<T> ? -(Wide{1} << (bits - 1)) : Wide{0};
  static constexpr Wide high = (Wide{1} << (bits - (std::is_signed_v<T> ? 1 : 0))) - 1;
};

template <typename T>
Wide saturated(Wide x) {
  return std::clamp(x, Limits<T>::low, Limits<T>::high);
}

/// The lowest 128 bits of the product, which are all of it except for unsigned 64-bit numbers.
Wide product(Wide a, Wide b) {
  __extension__ using Bits = unsigned __int128;
  return static_cast<Wide>(static_cast<Bits>(a) * static_cast<Bits>(b));
}
bool overflows(Wide a, Wide b, Wide limit) {
  return a > 0 && b > 0 && a > limit / b;
}

/// Divides by 2 to the power of `count`, and rounds towards minus infinity.
Wide shifted(Wide x, int count) {
  return x >> count;
}

template <typename T>
int leading_zeros(T x) {
  int count = 0;
  for (int bit = Limits<T>::bits - 1; bit >= 0 && (Wide{x} >> bit & 1) == 0; --bit) ++count;
  return count;
}
template <typename T>
int trailing_zeros(T x) {
  int count = 0;
  for (int bit = 0; bit < Limits<T>::bits && (Wide{x} >> bit & 1) == 0; ++bit) ++count;
  return count;
}
template <typename T>
T rotated(T x, T count) {
  using U = std::make_unsigned_t<T>;
  const int n = static_cast<int>(static_cast<U>(count) % Limits<T>::bits);
  const U bits = static_cast<U>(x);
  return static_cast<T>(n == 0 ? bits : static_cast<U>(bits << n | bits >> (Limits<T>::bits - n)));
}

/// One function: the call, its number of arguments, and the lowest bits of its result.
template <typename T>
struct IntegerFunction {
  const char* name;
  int arguments;
  Wide (*expected)(Wide a, Wide b, Wide c);
};

template <typename T>
std::vector<IntegerFunction<T>> functions() {
  return {
      {"abs", 1, [](Wide a, Wide, Wide) { return a < 0 ? -a : a; }},
      {"clz", 1, [](Wide a, Wide, Wide) { return Wide{leading_zeros(static_cast<T>(a))}; }},
      {"ctz", 1, [](Wide a, Wide, Wide) { return Wide{trailing_zeros(static_cast<T>(a))}; }},
      {"popcount", 1,
       [](Wide a, Wide, Wide) {
         Wide count = 0;
         for (int bit = 0; bit < Limits<T>::bits; ++bit) count += a >> bit & 1;
         return count;
       }},
      {"abs_diff", 2, [](Wide a, Wide b, Wide) { return a < b ? b - a : a - b; }},
      {"add_sat", 2, [](Wide a, Wide b, Wide) { return saturated<T>(a + b); }},
      {"sub_sat", 2, [](Wide a, Wide b, Wide) { return saturated<T>(a - b); }},
      {"hadd", 2, [](Wide a, Wide b, Wide) { return shifted(a + b, 1); }},
      {"rhadd", 2, [](Wide a, Wide b, Wide) { return shifted(a + b + 1, 1); }},
      {"max", 2, [](Wide a, Wide b, Wide) { return std::max(a, b); }},
      {"min", 2, [](Wide a, Wide b, Wide) { return std::min(a, b); }},
      {"mul_hi", 2, [](Wide a, Wide b, Wide) { return shifted(product(a, b), Limits<T>::bits); }},
      {"rotate", 2, [](Wide a, Wide b, Wide) { return Wide{rotated(static_cast<T>(a), static_cast<T>(b))}; }},
      {"mad_hi", 3, [](Wide a, Wide b, Wide c) { return shifted(product(a, b), Limits<T>::bits) + c; }},
      {"mad_sat", 3,
       [](Wide a, Wide b, Wide c) {
         // If this much is out of range, so is the sum with any valid `c`.
         if (overflows(a, b, 2 * Limits<T>::high)) return Limits<T>::high;
         return saturated<T>(product(a, b) + c);
       }},
      // The lower bound comes before the upper one.
      {"clamp", 3,
       [](Wide a, Wide b, Wide c) { return std::min(std::max(a, std::min(b, c)), std::max(b, c)); }},
  };
}

template <typename T>
std::vector<T> values(size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> result;
  while (result.size() < count) {
    // Numbers of every length, and numbers close to the limits.
    const auto bits = static_cast<T>(random() >> (random() % 64));
    const T choices[] = {bits,
                         static_cast<T>(~bits),
                         static_cast<T>(random()),
                         static_cast<T>(Limits<T>::low + static_cast<T>(random() % 3)),
                         static_cast<T>(Limits<T>::high - static_cast<T>(random() % 3)),
                         static_cast<T>(random() % 3)};
    result.push_back(choices[random() % std::size(choices)]);
  }
  return result;
}

}  // namespace

class Integers : public PrecisionTest {
 protected:
  static constexpr size_t kCount = 3 * 16 * 1024;

  /// Builds kernels for one vector width; `width` is empty for scalars.
  static std::string kernels(const std::string& function, int arguments, const std::string& width) {
    const auto value = [&](const std::string& name) {
      return width.empty() ? name + "[i]" : "vload" + width + "(i, " + name + ")";
    };
    std::string call = function + "(";
    if (function == "clamp") {
      call += value("a") + ", min(" + value("b") + ", " + value("c") + "), max(" + value("b") + ", " +
              value("c") + ")";
    } else {
      call += value("a");
      if (arguments > 1) call += ", " + value("b");
      if (arguments > 2) call += ", " + value("c");
    }
    call += ")";
    // abs and abs_diff return the unsigned type.
    const std::string bits = "AS_T" + width + "(" + call + ")";
    return "kernel void k" + width + "_" + function +
           "(global const T* a, global const T* b, global const T* c, global T* out) { const size_t i = "
           "get_global_id(0); " +
           (width.empty() ? "out[i] = " + bits : "vstore" + width + "(" + bits + ", i, out)") + "; }\n";
  }

  template <typename T>
  void sweep(const char* name) {
    const std::string type = name;
    std::string source = "#define T " + type + "\n";
    for (const char* width : {"", "3", "16"})
      source += std::string("#define AS_T") + width + " as_" + type + width + "\n";
    for (const auto& function : functions<T>())
      for (const char* width : {"", "3", "16"}) source += kernels(function.name, function.arguments, width);
    // ctz exists since OpenCL C 2.0.
    const Program program = build(source.c_str(), has_opencl_c_3() ? "-cl-std=CL3.0" : "-cl-std=CL2.0");
    const auto a = values<T>(kCount, 1), b = values<T>(kCount, 2), c = values<T>(kCount, 3);
    const Mem in_a = buffer(kCount, a.data()), in_b = buffer(kCount, b.data()),
              in_c = buffer(kCount, c.data());
    for (const auto& function : functions<T>()) {
      for (const int width : {1, 3, 16}) {
        const std::string kernel_name =
            "k" + (width == 1 ? std::string() : std::to_string(width)) + "_" + function.name;
        const Kernel k = kernel(program, kernel_name.c_str());
        const Mem out = buffer<T>(kCount);
        set_args(k, in_a, in_b, in_c, out);
        ASSERT_CL(launch(k, kCount / static_cast<size_t>(width)));
        const auto got = read<T>(out, kCount);
        int wrong = 0;
        for (size_t i = 0; i < kCount; ++i) {
          const T expected = static_cast<T>(function.expected(a[i], b[i], c[i]));
          if (got[i] == expected || ++wrong > 3) continue;
          ADD_FAILURE() << function.name << " of " << type << " (as a vector of " << width << "): " << +a[i]
                        << ", " << +b[i] << ", " << +c[i] << " gave " << +got[i] << ", not " << +expected;
        }
      }
    }
  }
};

TEST_F(Integers, GivenEveryTypeThenResultsAreExact) {
  sweep<cl_char>("char");
  sweep<cl_uchar>("uchar");
  sweep<cl_short>("short");
  sweep<cl_ushort>("ushort");
  sweep<cl_int>("int");
  sweep<cl_uint>("uint");
  sweep<cl_long>("long");
  sweep<cl_ulong>("ulong");
}

}  // namespace clique::test
