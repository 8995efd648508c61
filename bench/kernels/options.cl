// Prices of European call and put options by Black and Scholes: elementary functions. REAL is float or double.
#ifdef DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
#else
typedef float real;
#endif

real normal(real x) { return (real)0.5 * erfc(-x * (real)0.70710678118654752); }

kernel void options(global const real* restrict spot, global const real* restrict strike,
                    global const real* restrict years, global real* restrict calls, global real* restrict puts,
                    real rate, real volatility) {
  const size_t i = get_global_id(0);
  const real deviation = volatility * sqrt(years[i]);
  const real first =
      (log(spot[i] / strike[i]) + (rate + (real)0.5 * volatility * volatility) * years[i]) / deviation;
  const real second = first - deviation;
  const real discounted = strike[i] * exp(-rate * years[i]);
  calls[i] = spot[i] * normal(first) - discounted * normal(second);
  puts[i] = discounted * normal(-second) - spot[i] * normal(-first);
}
