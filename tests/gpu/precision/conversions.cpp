// Explicit conversions between all types, in all rounding modes, saturated and not (§6.4.3 of the OpenCL C
// specification).
#include "precision.hpp"

namespace clique::test {

namespace {

using Real = long double;  // holds every value of every type

enum class Rounding { Even, Zero, Up, Down };

Real rounded(Real x, Rounding rounding) {
  switch (rounding) {
    case Rounding::Even:
      return std::rint(x);
    case Rounding::Zero:
      return std::trunc(x);
    case Rounding::Up:
      return std::ceil(x);
    default:
      return std::floor(x);
  }
}

/// Rounds `x` to a number of the format T.
template <typename T>
Real in_format(Real x, Rounding rounding) {
  if (std::isnan(x) || std::isinf(x) || x == 0) return x;
  const Real step = unit<T>(x);
  const Real result = rounded(x / step, rounding) * step;
  if (std::abs(result) <= greatest<T>()) return result;
  const bool away = rounding == Rounding::Even || (rounding == Rounding::Up && x > 0) ||
                    (rounding == Rounding::Down && x < 0);
  return std::copysign(away ? std::numeric_limits<Real>::infinity() : greatest<T>(), x);
}

template <typename T>
Real real(T x) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<Real>(x);
  else
    return value(x);
}

struct Mode {
  const char* suffix;
  bool saturated;
  bool stated;
  Rounding rounding;
};
constexpr Mode kModes[] = {
    {"", false, false, Rounding::Even},       {"_rte", false, true, Rounding::Even},
    {"_rtz", false, true, Rounding::Zero},    {"_rtp", false, true, Rounding::Up},
    {"_rtn", false, true, Rounding::Down},    {"_sat", true, false, Rounding::Even},
    {"_sat_rte", true, true, Rounding::Even}, {"_sat_rtz", true, true, Rounding::Zero},
    {"_sat_rtp", true, true, Rounding::Up},   {"_sat_rtn", true, true, Rounding::Down},
};
/// Only conversions to integers saturate.
template <typename To>
constexpr size_t mode_count() {
  return std::is_integral_v<To> ? 10 : 5;
}

/// Whether `got` is a valid result of converting `from`.
template <typename To, typename From>
bool is_right(To got, From from, const Mode& mode) {
  const Real x = real(from);
  if constexpr (std::is_integral_v<To>) {
    constexpr Real low = std::numeric_limits<To>::min(), high = std::numeric_limits<To>::max();
    const Real whole = rounded(x, mode.stated ? mode.rounding : Rounding::Zero);
    if (mode.saturated) {
      if (std::isnan(x)) return got == 0;
      if (whole <= low) return got == std::numeric_limits<To>::min();
      if (whole >= high) return got == std::numeric_limits<To>::max();
      return static_cast<Real>(got) == whole;
    }
    if constexpr (std::is_integral_v<From>) return got == static_cast<To>(from);
    // The result for a number out of range is undefined.
    return std::isnan(x) || whole < low || whole > high || static_cast<Real>(got) == whole;
  } else {
    const Real expected = in_format<To>(x, mode.rounding);
    return std::isnan(expected) ? std::isnan(value(got)) : value(got) == expected;
  }
}

template <typename T>
std::vector<T> inputs(size_t count) {
  if constexpr (!std::is_integral_v<T>) {
    return numbers<T>(count, 21);
  } else {
    std::mt19937_64 random(22);
    std::vector<T> result = {0, 1, static_cast<T>(-1), std::numeric_limits<T>::min(),
                             std::numeric_limits<T>::max()};
    while (result.size() < count) {
      // Numbers with few bits, next to a power of 2 or to the middle of two floats, or with many bits.
      const std::uint64_t power = std::uint64_t{1} << (random() % 64);
      const std::uint64_t sum = power + (std::uint64_t{1} << (random() % 64)) + random() % 3 - 1;
      result.push_back(static_cast<T>(random() % 2 == 0 ? sum : random() >> (random() % 64)));
    }
    return result;
  }
}

}  // namespace

class Conversions : public PrecisionTest {
 protected:
  static constexpr size_t kCount = 1 << 13;

  template <typename T>
  struct Named {
    const char* name;
  };

  /// Each kernel makes all conversions from one type to another, first of scalars, then of vectors of 4.
  static std::string kernel_for(const std::string& to, const std::string& from, size_t modes) {
    std::string source = "kernel void from_" + from + "(global const " + from + "* in, global " + to +
                         "* out) { const size_t i = get_global_id(0), n = get_global_size(0);\n";
    std::string vectors =
        "if (i % 4 == 0) { const size_t j = i / 4; const " + from + "4 v = vload4(j, in);\n";
    for (size_t m = 0; m < modes; ++m) {
      const std::string suffix = kModes[m].suffix;
      source += "  out[" + std::to_string(m) + " * n + i] = convert_" + to + suffix + "(in[i]);\n";
      vectors += "  vstore4(convert_" + to + "4" + suffix + "(v), j, out + " + std::to_string(modes + m) +
                 " * n);\n";
    }
    return source + vectors + "} }\n";
  }

  template <typename To, typename From>
  void check(cl_program program, const char* to, const char* from) {
    const std::vector<From> in = inputs<From>(kCount);
    const Kernel k = kernel(program, (std::string("from_") + from).c_str());
    const Mem in_memory = buffer(in.size(), in.data());
    constexpr size_t modes = mode_count<To>();
    const Mem out = buffer<To>(2 * modes * kCount);
    set_args(k, in_memory, out);
    ASSERT_CL(launch(k, kCount));
    const auto got = read<To>(out, 2 * modes * kCount);
    for (size_t m = 0; m < 2 * modes; ++m) {
      const Mode& mode = kModes[m % modes];
      int wrong = 0;
      for (size_t i = 0; i < kCount; ++i) {
        const To result = got[m * kCount + i];
        if (is_right(result, in[i], mode) || ++wrong > 3) continue;
        ADD_FAILURE() << "convert_" << to << (m >= modes ? "4" : "") << mode.suffix << "("
                      << exactly(real(in[i])) << ") of " << from << " gave " << exactly(real(result));
      }
    }
  }

  template <typename To, typename... From>
  void check_all(const char* to, const Named<From>&... from) {
    std::string source = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n";
    for (const char* name : {from.name...}) source += kernel_for(to, name, mode_count<To>());
    const Program program = build(source.c_str());
    (check<To, From>(program, to, from.name), ...);
  }

  template <typename... T>
  void check_pairs(const Named<T>&... types) {
    (check_all<T>(types.name, types...), ...);
  }
};

TEST_F(Conversions, GivenEveryPairOfTypesThenResultsAreExact) {
  const Named<cl_char> c{"char"};
  const Named<cl_uchar> uc{"uchar"};
  const Named<cl_short> s{"short"};
  const Named<cl_ushort> us{"ushort"};
  const Named<cl_int> i{"int"};
  const Named<cl_uint> ui{"uint"};
  const Named<cl_long> l{"long"};
  const Named<cl_ulong> ul{"ulong"};
  const Named<float> f{"float"};
  const Named<double> d{"double"};
  const Named<Half16> h{"half"};
  if (has_format<double>() && has_format<Half16>())
    check_pairs(c, uc, s, us, i, ui, l, ul, f, d, h);
  else if (has_format<double>())
    check_pairs(c, uc, s, us, i, ui, l, ul, f, d);
  else
    check_pairs(c, uc, s, us, i, ui, l, ul, f);
}

}  // namespace clique::test
