#include "functions.hpp"

#include <cmath>
#include <limits>

namespace clique::test {

namespace {

using Real = long double;

constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();
constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
const Real kPi = std::acos(Real{-1});

// The functions below keep exact what a multiplication by pi would round.

/// x minus the nearest multiple of 2, in [-1, 1].
Real modulo_2(Real x) {
  return std::remainder(x, Real{2});
}

Real sinpi(Real x) {
  if (std::isinf(x)) return kNan;
  if (x == std::trunc(x)) return std::copysign(Real{0}, x);
  Real r = modulo_2(x);
  if (r > Real{0.5}) r = 1 - r;
  if (r < Real{-0.5}) r = -1 - r;
  return std::sin(kPi * r);
}
Real cospi(Real x) {
  if (std::isinf(x)) return kNan;
  const Real r = std::abs(modulo_2(x));
  if (r == Real{0.5}) return 0;
  return r <= Real{0.25} ? std::cos(kPi * r) : std::sin(kPi * (Real{0.5} - r));
}
Real tanpi(Real x) {
  if (std::isinf(x)) return kNan;
  const Real r = modulo_2(x);
  if (std::abs(r) == Real{0.5}) return r > 0 ? kInfinity : -kInfinity;
  const Real quotient = sinpi(x) / cospi(x);
  return quotient;
}
Real acospi(Real x) {
  return std::acos(x) / kPi;
}
Real asinpi(Real x) {
  return std::asin(x) / kPi;
}
Real atanpi(Real x) {
  return std::atan(x) / kPi;
}
Real atan2pi(Real y, Real x) {
  return std::atan2(y, x) / kPi;
}
Real exp10(Real x) {
  return std::pow(Real{10}, x);
}
Real rsqrt(Real x) {
  return 1 / std::sqrt(x);
}
Real recip(Real x) {
  return 1 / x;
}
Real divide(Real x, Real y) {
  return x / y;
}
/// C leaves the gamma function undefined at -infinity and at negative integers.
Real tgamma(Real x) {
  if (x == -kInfinity || (x < 0 && x == std::trunc(x))) return kNan;
  return std::tgamma(x);
}

Real maxmag(Real x, Real y) {
  if (std::abs(x) > std::abs(y)) return x;
  if (std::abs(y) > std::abs(x)) return y;
  return std::fmax(x, y);
}
Real minmag(Real x, Real y) {
  if (std::abs(x) < std::abs(y)) return x;
  if (std::abs(y) < std::abs(x)) return y;
  return std::fmin(x, y);
}

Real powr(Real x, Real y) {
  if (std::isnan(x) || std::isnan(y) || x < 0) return kNan;
  if (y == 0 && (x == 0 || std::isinf(x))) return kNan;
  if (x == 1 && std::isinf(y)) return kNan;
  return std::pow(std::abs(x), y);
}
Real pown(Real x, int n) {
  return std::pow(x, static_cast<Real>(n));
}
Real rootn(Real x, int n) {
  if (n == 0 || std::isnan(x) || (x < 0 && n % 2 == 0)) return kNan;
  const Real magnitude = std::pow(std::abs(x), 1 / static_cast<Real>(n));
  return n % 2 != 0 ? std::copysign(magnitude, x) : magnitude;
}

template <Real (*function)(Real)>
Function one(const char* name, double float_limit, double double_limit, double half_limit) {
  return {name, float_limit, double_limit, half_limit, function, nullptr, nullptr};
}
template <Real (*function)(Real, Real)>
Function two(const char* name, double float_limit, double double_limit, double half_limit) {
  return {name, float_limit, double_limit, half_limit, nullptr, function, nullptr};
}
template <Real (*function)(Real, int)>
Function with_int(const char* name, double float_limit, double double_limit, double half_limit) {
  return {name, float_limit, double_limit, half_limit, nullptr, nullptr, function};
}

}  // namespace

const std::vector<Function>& math_functions() {
  static const std::vector<Function> functions = {
      one<std::acos>("acos", 4, 4, 2),
      one<std::acosh>("acosh", 4, 4, 2),
      one<acospi>("acospi", 5, 5, 2),
      one<std::asin>("asin", 4, 4, 2),
      one<std::asinh>("asinh", 4, 4, 2),
      one<asinpi>("asinpi", 5, 5, 2),
      one<std::atan>("atan", 5, 5, 2),
      one<std::atanh>("atanh", 5, 5, 2),
      one<atanpi>("atanpi", 5, 5, 2),
      one<std::cbrt>("cbrt", 2, 2, 2),
      one<std::ceil>("ceil", 0, 0, 0),
      one<std::cos>("cos", 4, 4, 2),
      one<std::cosh>("cosh", 4, 4, 2),
      one<cospi>("cospi", 4, 4, 2),
      one<std::erf>("erf", 16, 16, 4),
      one<std::erfc>("erfc", 16, 16, 4),
      one<std::exp>("exp", 3, 3, 2),
      one<std::exp2>("exp2", 3, 3, 2),
      one<exp10>("exp10", 3, 3, 2),
      one<std::expm1>("expm1", 3, 3, 2),
      one<std::fabs>("fabs", 0, 0, 0),
      one<std::floor>("floor", 0, 0, 0),
      one<std::log>("log", 3, 3, 2),
      one<std::log2>("log2", 3, 3, 2),
      one<std::log10>("log10", 3, 3, 2),
      one<std::log1p>("log1p", 2, 2, 2),
      one<std::logb>("logb", 0, 0, 0),
      one<std::rint>("rint", 0, 0, 0),
      one<std::round>("round", 0, 0, 0),
      one<rsqrt>("rsqrt", 2, 2, 1),
      one<std::sin>("sin", 4, 4, 2),
      one<std::sinh>("sinh", 4, 4, 2),
      one<sinpi>("sinpi", 4, 4, 2),
      one<std::sqrt>("sqrt", 3, 0.5, 0.5),
      one<std::tan>("tan", 5, 5, 2),
      one<std::tanh>("tanh", 5, 5, 2),
      one<tanpi>("tanpi", 6, 6, 2),
      one<tgamma>("tgamma", 16, 16, 4),
      one<std::trunc>("trunc", 0, 0, 0),
      two<std::atan2>("atan2", 6, 6, 2),
      two<atan2pi>("atan2pi", 6, 6, 2),
      two<std::copysign>("copysign", 0, 0, 0),
      two<std::fdim>("fdim", 0.5, 0.5, 0.5),
      two<std::fmax>("fmax", 0, 0, 0),
      two<std::fmin>("fmin", 0, 0, 0),
      two<std::fmod>("fmod", 0, 0, 0),
      two<std::hypot>("hypot", 4, 4, 2),
      two<maxmag>("maxmag", 0, 0, 0),
      two<minmag>("minmag", 0, 0, 0),
      two<std::pow>("pow", 16, 16, 4),
      two<powr>("powr", 16, 16, 4),
      two<std::remainder>("remainder", 0, 0, 0),
      with_int<std::ldexp>("ldexp", 0.5, 0.5, 0.5),
      with_int<pown>("pown", 16, 16, 4),
      with_int<rootn>("rootn", 16, 16, 4),
  };
  return functions;
}

const std::vector<Function>& half_functions() {
  static const std::vector<Function> functions = {
      one<std::cos>("half_cos", 8192, 0, 0),     one<std::exp>("half_exp", 8192, 0, 0),
      one<std::exp2>("half_exp2", 8192, 0, 0),   one<exp10>("half_exp10", 8192, 0, 0),
      one<std::log>("half_log", 8192, 0, 0),     one<std::log2>("half_log2", 8192, 0, 0),
      one<std::log10>("half_log10", 8192, 0, 0), one<recip>("half_recip", 8192, 0, 0),
      one<rsqrt>("half_rsqrt", 8192, 0, 0),      one<std::sin>("half_sin", 8192, 0, 0),
      one<std::sqrt>("half_sqrt", 8192, 0, 0),   one<std::tan>("half_tan", 8192, 0, 0),
      two<divide>("half_divide", 8192, 0, 0),    two<powr>("half_powr", 8192, 0, 0),
  };
  return functions;
}

}  // namespace clique::test
