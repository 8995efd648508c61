// The mathematical functions of float, double and half, with special and random numbers.
#include "precision.hpp"

namespace clique::test {

class Math : public PrecisionTest {
 protected:
  static constexpr size_t kCount = 1 << 17;

  template <typename T>
  static double limit_of(const Function& function) {
    if constexpr (std::is_same_v<T, float>) return function.float_limit;
    if constexpr (std::is_same_v<T, double>) return function.double_limit;
    return function.half_limit;
  }

  static std::string source_for(const std::vector<Function>& functions) {
    std::string source;
    for (const Function& f : functions) {
      const std::string name = f.name;
      const std::string second = f.one != nullptr   ? ""
                                 : f.two != nullptr ? "global const T* b, "
                                                    : "global const int* b, ";
      const std::string arguments = f.one != nullptr ? "(a[i])" : "(a[i], b[i])";
      source += "kernel void k_" + name + "(global const T* a, " + second +
                "global T* out) { const size_t i = get_global_id(0); out[i] = " + name + arguments + "; }\n";
    }
    return source;
  }

  /// Compares what `function` returned for `a` and `b`. On devices without denormal numbers 0 is accepted in
  /// their place.
  template <typename T, typename B>
  void check(const Function& function, const std::vector<T>& a, const std::vector<B>& b,
             const std::vector<T>& got, bool denormals,
             const std::function<bool(long double, long double)>& in_domain) {
    Verdict verdict(std::string(Format<T>::name) + "_" + function.name, limit_of<T>(function));
    for (size_t i = 0; i < got.size(); ++i) {
      const long double x = value(a[i]);
      long double y = 0;
      long double expected = 0;
      if constexpr (std::is_same_v<B, cl_int>) {
        expected = function.with_int(x, b[i]);
        y = b[i];
      } else {
        if (function.two != nullptr) y = value(b[i]);
        expected = function.one != nullptr ? function.one(x) : function.two(x, y);
      }
      if (!in_domain(x, y)) continue;
      if (!denormals) {
        if (is_denormal<T>(x) || is_denormal<T>(y)) continue;
        if (is_denormal<T>(expected) && std::abs(value(got[i])) <= std::ldexp(1.0L, Format<T>::least))
          continue;
      }
      long double error = distance(got[i], expected);
      // A zero result has the sign of the zero argument.
      if (function.one != nullptr && x == 0 && expected == 0 && error == 0 &&
          std::signbit(value(got[i])) != std::signbit(expected))
        error = std::numeric_limits<long double>::infinity();
      verdict.add(error, [&] {
        std::ostringstream text;
        text << function.name << "(" << exactly(x);
        if (function.one == nullptr) text << ", " << exactly(y);
        text << ") = " << exactly(value(got[i])) << ", not " << exactly(expected);
        return text.str();
      });
    }
    verdict.report();
  }

  template <typename T>
  void sweep(const std::vector<Function>& functions, bool denormals,
             const std::function<bool(const Function&, long double, long double)>& in_domain) {
    const Program program = build_for<T>(source_for(functions));
    const std::vector<T> single = numbers<T>(kCount, 1);
    const auto both = pairs<T>(kCount, 2);
    std::vector<cl_int> integers;
    for (size_t i = 0; i < single.size(); ++i) {
      static constexpr cl_int kSpecial[] = {0,        1,         -1,        2,       -2,     3,    -3,
                                            4,        5,         7,         10,      16,     1000, -999,
                                            16777217, -16777217, 123456789, INT_MAX, INT_MIN};
      integers.push_back(i % 4 == 0 ? kSpecial[i / 4 % std::size(kSpecial)]
                                    : static_cast<cl_int>(i * 2654435761U) >> (i % 31));
    }
    for (const Function& function : functions) {
      const std::string name = std::string("k_") + function.name;
      const auto domain = [&](long double x, long double y) { return in_domain(function, x, y); };
      if (function.one != nullptr) {
        check(function, single, single, run<T>(program, name, single), denormals, domain);
      } else if (function.two != nullptr) {
        check(function, both.first, both.second, run<T>(program, name, both.first, both.second), denormals,
              domain);
      } else {
        check(function, single, integers, run<T>(program, name, single, integers), denormals, domain);
      }
    }
  }

  static bool everywhere(const Function& /*function*/, long double /*x*/, long double /*y*/) { return true; }
};

TEST_F(Math, GivenFloatsThenResultsAreWithinTheLimits) {
  sweep<float>(math_functions(), has_denormals<float>(), everywhere);
}

TEST_F(Math, GivenDoublesThenResultsAreWithinTheLimits) {
  if (!has_format<double>()) GTEST_SKIP() << "no cl_khr_fp64";
  sweep<double>(math_functions(), true, everywhere);
}

TEST_F(Math, GivenHalvesThenResultsAreWithinTheLimits) {
  if (!has_format<Half16>()) GTEST_SKIP() << "no cl_khr_fp16";
  sweep<Half16>(math_functions(), true, everywhere);
}

// The specification lets these functions treat denormal numbers as zero, and defines the trigonometric ones
// only up to 2^16.
TEST_F(Math, GivenFloatsThenHalfPrecisionFunctionsAreWithinTheLimits) {
  sweep<float>(half_functions(), false, [](const Function& function, long double x, long double /*y*/) {
    const std::string name = function.name;
    const bool periodic = name == "half_sin" || name == "half_cos" || name == "half_tan";
    return !periodic || (std::abs(x) <= 65536 && !std::isnan(x));
  });
}

}  // namespace clique::test
