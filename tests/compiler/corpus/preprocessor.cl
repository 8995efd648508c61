// options: -DNUMBER=3 -D NAME=scaled -D "TEXT=\"a b\"" -DLIST(x)=x,x
#if !defined(__OPENCL_VERSION__) || __OPENCL_C_VERSION__ != CL_VERSION_1_2 || !defined(__ENDIAN_LITTLE__)
#error the version
#endif
#ifndef cl_khr_fp64
#error the extensions
#endif
#ifdef __FAST_RELAXED_MATH__
#error the options
#endif
#define JOIN(a, b) a##b
#define QUOTE(a) #a
__kernel void JOIN(kernel_, NAME)(__global int* x) {
  const int list[2] = {LIST(NUMBER)};
  x[0] = list[x[1] & 1] + sizeof(TEXT) + sizeof(QUOTE(NAME)) + __LINE__;
}
__kernel_exec(4, float) void executed(__global float4* x) { x[0] = 1; }
