// options: -cl-std=CL1.2
// options: -cl-fast-relaxed-math
// options: -cl-unsafe-math-optimizations -cl-no-signed-zeros
// options: -cl-finite-math-only -cl-single-precision-constant
// options: -cl-denorms-are-zero -cl-mad-enable
// options: -cl-fp32-correctly-rounded-divide-sqrt
__kernel void functions(__global float4* x, __global float* y) {
  const int i = get_global_id(0);
  float4 v = x[i];
  v = sin(v) + cos(v) * tan(v) - exp(v) / log(fabs(v) + 1.0f);
  v += pow(v, 2.5f) + powr(fabs(v), v) + exp2(v) + log2(v) + exp10(v) + log10(v);
  v += sqrt(fabs(v)) + rsqrt(fabs(v)) + native_sin(v) + half_exp(v);
  v = mix(v, x[i + 1], 0.25f) + clamp(v, -1.0f, 1.0f) + step(v, x[i]) + smoothstep(0.0f, 1.0f, v);
  x[i] = normalize(v) * length(v) + cross(v, x[i + 1]) + distance(v, x[i]);
  float whole;
  int power;
  y[i] = fract(v.x, &whole) + whole + frexp(v.y, &power) + ldexp(v.z, power) + 0.1 * v.w;
  y[i + 1] = y[i] / 3.0f + 1.0f / y[i] + 1e-40f;
  y[i + 2] = isnan(y[i]) || isinf(y[i]) ? INFINITY : NAN;
}
