// Loads under a condition, which the compiler for NVIDIA GPUs makes predicated instructions.
#include "gpu.hpp"

namespace clique::test {
namespace {

class GuardedLoads : public GpuTest {};

TEST_F(GuardedLoads, GivenConditionsThatDifferAmongWorkItemsThenEachHasItsValue) {
  const Program program = build(R"(
    kernel void k(global long* out, global const int* in, global const long* wide, global const int* absent, int n) {
      const int i = get_global_id(0);
      const int here = i % 3 == 0 ? in[i] : -1;
      const long there = i % 5 < 2 ? 7 : wide[i + 1];
      // An index behind the buffer, and a null pointer, where the condition is false.
      const int beyond = i < 10 ? in[i * 100000] : 2;
      const int none = n < 0 ? absent[i] : 3;
      // The load follows a write to the same place.
      out[i] = 5;
      const long own = i % 2 == 0 ? out[i] : 11;
      out[i] = here + 1000 * there + 1000000 * (long)(i == 0 ? beyond : i < 10 ? 0 : beyond) +
               10000000 * (long)none + 100000000 * own;
    })");
  constexpr cl_int kCount = 200;
  std::vector<cl_int> in(10 * 100000);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<cl_int>(i % 100);
  std::vector<cl_long> wide(kCount + 1);
  for (size_t i = 0; i < wide.size(); ++i) wide[i] = static_cast<cl_long>(2 * i);
  const Mem numbers = buffer(in.size(), in.data());
  const Mem wide_numbers = buffer(wide.size(), wide.data());
  const Mem out = buffer<cl_long>(kCount);
  const Kernel k = kernel(program, "k");
  EXPECT_CL(clSetKernelArg(k, 0, sizeof(cl_mem), out.ptr()));
  EXPECT_CL(clSetKernelArg(k, 1, sizeof(cl_mem), numbers.ptr()));
  EXPECT_CL(clSetKernelArg(k, 2, sizeof(cl_mem), wide_numbers.ptr()));
  EXPECT_CL(clSetKernelArg(k, 3, sizeof(cl_mem), nullptr));
  EXPECT_CL(clSetKernelArg(k, 4, sizeof(cl_int), &kCount));
  EXPECT_CL(launch(k, kCount));
  const std::vector<cl_long> got = read<cl_long>(out, kCount);
  for (cl_long i = 0; i < kCount; ++i) {
    const cl_long here = i % 3 == 0 ? i % 100 : -1;
    const cl_long there = i % 5 < 2 ? 7 : 2 * (i + 1);
    const cl_long beyond = i < 10 ? 0 : 2;
    const cl_long own = i % 2 == 0 ? 5 : 11;
    EXPECT_EQ(here + 1000 * there + 1000000 * beyond + 10000000 * 3 + 100000000 * own,
              got[static_cast<size_t>(i)])
        << i;
  }
}

}  // namespace
}  // namespace clique::test
