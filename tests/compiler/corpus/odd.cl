// Unusual constructs that real programs contain.
#pragma OPENCL EXTENSION cl_amd_printf : enable
#pragma OPENCL EXTENSION all : disable
typedef unsigned int u32;
typedef uchar uchar_array[16];
extern void never_called(int);
void calls_it(void) { never_called(1); }
int f();
__kernel void empty() {}
__kernel void unused(__global int* a, __local int* b, __constant int* c, sampler_t d, image2d_t e) {}
__kernel void _start(__global u32* x) {
  volatile __local u32 flag;
  uchar_array bytes = {0};
  asm volatile("" ::: "memory");
  __global uchar* raw = (__global uchar*)x;
  flag = raw[bytes[3]];
  x[0] = f() + *(__global volatile u32*)((size_t)x + 4) + flag + 'a' + L'b' + 0x1p3f + 1UL + 07;
  x[1] = (x[2] ?: 5) + ({ u32 t = x[3]; t * t; }) + (typeof(x[0]))2.5;
  mem_fence(CLK_GLOBAL_MEM_FENCE);
}
int f() { return 3; }
