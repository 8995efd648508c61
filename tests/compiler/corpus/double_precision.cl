// options: -cl-std=CL1.2
// options: -cl-std=CL3.0 -cl-fp32-correctly-rounded-divide-sqrt
// options: -cl-unsafe-math-optimizations
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void doubles(__global double* x, __global double4* y, double a, __global long* l) {
  const int i = get_global_id(0);
  x[i] = a * x[i] + 1.5 / x[i + 1] - sqrt(x[i + 2]);
  y[i] = fma(y[i], (double4)(a), y[i + 1]);
  l[i] = convert_long_rtp(x[i]) + as_long(a);
  x[i + 1] = sin(a) + exp(a) * pow(a, x[i]) + fmod(x[i], a);
  x[i + 2] = (float)a + (int)a + (ulong)a;
}
