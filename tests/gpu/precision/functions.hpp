// The mathematical functions with their exact values, and the precision that results must have (§7.4, §7.5 of
// the OpenCL C specification).
#pragma once

#include <vector>

namespace clique::test {

/// A function of one or two floating-point numbers, or of one and an integer: whichever of `one`, `two` and
/// `with_int` is not null. Limits are in units in the last place.
struct Function {
  const char* name;
  double float_limit, double_limit, half_limit;
  long double (*one)(long double);
  long double (*two)(long double, long double) = nullptr;
  long double (*with_int)(long double, int) = nullptr;
};

/// The functions that are declared for float, double and half.
const std::vector<Function>& math_functions();
/// The half_ functions, which are declared for float only.
const std::vector<Function>& half_functions();

}  // namespace clique::test
