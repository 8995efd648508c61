// The mathematical functions with their exact values, and how near results have to be (§7.4, §7.5 of the
// OpenCL C specification).
#pragma once

#include <vector>

namespace clique::test {

/// A function of one or two floating-point numbers, or of one and an integer: the one of `one`, `two` and
/// `with_int` that is not null. Limits are in units of the last place.
struct Function {
  const char* name;
  double float_limit, double_limit, half_limit;
  long double (*one)(long double);
  long double (*two)(long double, long double) = nullptr;
  long double (*with_int)(long double, int) = nullptr;
};

/// Those that are declared for float, double and half.
const std::vector<Function>& math_functions();
/// half_ functions, declared for float only.
const std::vector<Function>& half_functions();

}  // namespace clique::test
