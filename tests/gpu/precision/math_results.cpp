// Mathematical functions with a second result, and functions that depend on the format of their numbers.
#include "precision.hpp"

namespace clique::test {

namespace {

/// The number next to `from` in the direction of `to`.
template <typename T>
T next(T from_number, T to_number) {
  using Bits = typename Format<T>::Bits;
  const long double from = value(from_number), to = value(to_number);
  constexpr Bits sign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));
  const auto bits = std::bit_cast<Bits>(from_number);
  if (from == to || std::isnan(from) || std::isnan(to)) return to_number;
  if (from == 0) return from_bits<T>(static_cast<Bits>(std::signbit(to) ? sign | 1U : 1U));
  return from_bits<T>(static_cast<Bits>((from < to) == !std::signbit(from) ? bits + 1 : bits - 1));
}

}  // namespace

class MathResults : public PrecisionTest {
 protected:
  static constexpr size_t kCount = 1 << 15;

  /// Compares two results of a function of one argument with `expected_first` and `expected_second`.
  template <typename T, typename R>
  void check_two(const std::string& name, const std::vector<T>& x, const std::vector<T>& first,
                 const std::vector<R>& second, long double limit, long double (*expected_first)(long double),
                 long double (*expected_second)(long double)) {
    Verdict verdict(std::string(Format<T>::name) + "_" + name, limit);
    for (size_t i = 0; i < x.size(); ++i) {
      const long double at = value(x[i]);
      long double second_error = 0;
      if constexpr (std::is_same_v<R, cl_int>) {
        if (std::isfinite(at))
          second_error = std::abs(static_cast<long double>(second[i]) - expected_second(at));
      } else {
        second_error = distance(second[i], expected_second(at));
      }
      verdict.add(std::max(distance(first[i], expected_first(at)), second_error), [&] {
        std::ostringstream text;
        text << name << "(" << exactly(at) << ") = " << exactly(value(first[i])) << " and ";
        if constexpr (std::is_same_v<R, cl_int>)
          text << second[i];
        else
          text << exactly(value(second[i]));
        text << ", not " << exactly(expected_first(at)) << " and " << exactly(expected_second(at));
        return text.str();
      });
    }
    verdict.report();
  }

  template <typename T>
  void second_results() {
    const Program program = build_for<T>(R"(
      #define TWO(name, R) \
        kernel void name##_first(global const T* x, global T* out) { \
          R second; out[get_global_id(0)] = name(x[get_global_id(0)], &second); } \
        kernel void name##_second(global const T* x, global R* out) { \
          name(x[get_global_id(0)], &out[get_global_id(0)]); }
      TWO(fract, T) TWO(modf, T) TWO(sincos, T) TWO(frexp, int) TWO(lgamma_r, int)
      kernel void k_ilogb(global const T* x, global int* out) {
        out[get_global_id(0)] = ilogb(x[get_global_id(0)]); })");
    const std::vector<T> x = numbers<T>(kCount, 3);
    const auto check = [&](const std::string& name, auto second, long double limit, auto expected_first,
                           auto expected_second) {
      check_two(name, x, run<T>(program, name + "_first", x),
                run<decltype(second)>(program, name + "_second", x), limit, +expected_first,
                +expected_second);
    };
    check(
        "fract", T{}, 0.5,
        [](long double v) {
          if (std::isinf(v)) return std::copysign(0.0L, v);
          const long double rest = v - std::floor(v);
          return std::min(rest, std::ldexp(1 - std::ldexp(1.0L, -Format<T>::digits), 0));
        },
        [](long double v) { return std::floor(v); });
    check(
        "modf", T{}, 0,
        [](long double v) { return std::isinf(v) ? std::copysign(0.0L, v) : v - std::trunc(v); },
        [](long double v) { return std::trunc(v); });
    check(
        "sincos", T{}, std::is_same_v<T, Half16> ? 2 : 4, [](long double v) { return std::sin(v); },
        [](long double v) { return std::cos(v); });
    check(
        "frexp", cl_int{}, 0,
        [](long double v) {
          int exponent = 0;
          return std::frexp(v, &exponent);
        },
        [](long double v) {
          int exponent = 0;
          std::frexp(v, &exponent);
          return static_cast<long double>(exponent);
        });
    const auto exponents = run<cl_int>(program, "k_ilogb", x);
    for (size_t i = 0; i < x.size(); ++i) {
      const long double v = value(x[i]);
      if (v == 0 || std::isnan(v)) {
        // FP_ILOGB0 and FP_ILOGBNAN are INT_MIN or INT_MAX.
        EXPECT_TRUE(exponents[i] == INT_MAX || exponents[i] <= -INT_MAX)
            << exactly(v) << ": " << exponents[i];
      } else {
        EXPECT_EQ(std::isinf(v) ? INT_MAX : std::ilogb(v), exponents[i]) << exactly(v);
      }
    }
    // The precision of lgamma is not specified; its sign is.
    const auto signs = run<cl_int>(program, "lgamma_r_second", x);
    for (size_t i = 0; i < x.size(); ++i) {
      const long double v = value(x[i]);
      if (!std::isfinite(v) || v == 0 || (v < 0 && v == std::floor(v))) continue;
      const bool negative = v < 0 && std::fmod(std::floor(v), 2.0L) != 0;
      ASSERT_EQ(negative ? -1 : 1, signs[i]) << exactly(v);
    }
  }

  template <typename T>
  void two_arguments() {
    const Program program = build_for<T>(R"(
      kernel void k_nextafter(global const T* x, global const T* y, global T* out) {
        out[get_global_id(0)] = nextafter(x[get_global_id(0)], y[get_global_id(0)]); }
      kernel void remquo_first(global const T* x, global const T* y, global T* out) {
        int q; out[get_global_id(0)] = remquo(x[get_global_id(0)], y[get_global_id(0)], &q); }
      kernel void remquo_second(global const T* x, global const T* y, global int* out) {
        remquo(x[get_global_id(0)], y[get_global_id(0)], &out[get_global_id(0)]); }
      kernel void k_fma(global const T* x, global const T* y, global const T* z, global T* out) {
        out[get_global_id(0)] = fma(x[get_global_id(0)], y[get_global_id(0)], z[get_global_id(0)]); })");
    const auto [x, y] = pairs<T>(kCount, 4);
    const auto neighbours = run<T>(program, "k_nextafter", x, y);
    Verdict next_verdict(std::string(Format<T>::name) + "_nextafter", 0);
    for (size_t i = 0; i < x.size(); ++i) {
      const long double a = value(x[i]), b = value(y[i]);
      const long double expected = std::isnan(a) || std::isnan(b)
                                       ? std::numeric_limits<long double>::quiet_NaN()
                                       : value(next(x[i], y[i]));
      next_verdict.add(distance(neighbours[i], expected), [&, a = a, b = b] {
        return "nextafter(" + exactly(a) + ", " + exactly(b) + ") = " + exactly(value(neighbours[i])) +
               ", not " + exactly(expected);
      });
    }
    next_verdict.report();

    const auto rests = run<T>(program, "remquo_first", x, y);
    const auto quotients = run<cl_int>(program, "remquo_second", x, y);
    Verdict rest_verdict(std::string(Format<T>::name) + "_remquo", 0);
    for (size_t i = 0; i < x.size(); ++i) {
      const long double a = value(x[i]), b = value(y[i]);
      const long double expected = std::remainder(a, b);
      const long double rest_error = distance(rests[i], expected);
      long double quotient_error = 0;
      int low_bits = 0;
      if (std::isfinite(a) && !std::isnan(b) && b != 0) {
        // The lowest seven bits of the quotient, computed without a format that holds all of it.
        const long double divisor = std::abs(b);
        const long double rest = std::isinf(b) ? std::abs(a) : std::fmod(std::abs(a), 128 * divisor);
        const long double whole = std::isinf(b) ? 0 : (rest - std::remainder(rest, divisor)) / divisor;
        low_bits = static_cast<int>(std::rint(whole)) % 128;
        if (std::signbit(a) != std::signbit(b)) low_bits = -low_bits;
        quotient_error = std::abs(quotients[i] % 128 - low_bits);
      }
      rest_verdict.add(std::max(rest_error, quotient_error), [&, a = a, b = b] {
        return "remquo(" + exactly(a) + ", " + exactly(b) + ") = " + exactly(value(rests[i])) + " and " +
               std::to_string(quotients[i]) + ", not " + exactly(expected) + " and " +
               std::to_string(low_bits);
      });
    }
    rest_verdict.report();

    if constexpr (!std::is_same_v<T, Half16>) {
      const std::vector<T> z = numbers<T>(x.size(), 5);
      const auto sums = run<T>(program, "k_fma", x, y, z);
      Verdict fma_verdict(std::string(Format<T>::name) + "_fma", 0);
      for (size_t i = 0; i < sums.size(); ++i) {
        const T expected = std::fma(x[i], y[i], z[i]);
        fma_verdict.add(distance(sums[i], value(expected)), [&, x = x, y = y] {
          return "fma(" + exactly(value(x[i])) + ", " + exactly(value(y[i])) + ", " + exactly(value(z[i])) +
                 ") = " + exactly(value(sums[i])) + ", not " + exactly(value(expected));
        });
      }
      fma_verdict.report();
    }
  }
};

TEST_F(MathResults, GivenFloatsThenBothResultsAreRight) {
  second_results<float>();
  two_arguments<float>();
}

TEST_F(MathResults, GivenDoublesThenBothResultsAreRight) {
  if (!has_format<double>()) GTEST_SKIP() << "no cl_khr_fp64";
  second_results<double>();
  two_arguments<double>();
}

TEST_F(MathResults, GivenHalvesThenBothResultsAreRight) {
  if (!has_format<Half16>()) GTEST_SKIP() << "no cl_khr_fp16";
  second_results<Half16>();
  two_arguments<Half16>();
}

}  // namespace clique::test
