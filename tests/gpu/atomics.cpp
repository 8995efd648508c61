// Atomics under contention: 32 and 64 bits, in global and local memory, with the functions of OpenCL C 1.x
// and of C11.
#include <algorithm>
#include <numeric>

#include "gpu.hpp"

namespace clique::test {

class Atomics : public GpuTest {
 protected:
  static constexpr size_t kGlobal = 1 << 16;
  static constexpr size_t kLocal = 128;

  /// Runs kernel k(global T* data) on `data` and returns the resulting content.
  template <typename T>
  std::vector<T> run(const std::string& source, std::vector<T> data, const char* options = "") {
    const Program program = build(source.c_str(), options);
    const Kernel made = kernel(program, "k");
    const Mem mem = buffer(data.size(), data.data());
    set_args(made, mem);
    EXPECT_CL(launch(made, kGlobal, kLocal));
    return read<T>(mem, data.size());
  }
};

TEST_F(Atomics, GivenEachFunctionOn32BitsThenEveryItemCounts) {
  const auto got = run<cl_uint>(R"(
    kernel void k(volatile global uint* data) {
      const uint i = get_global_id(0);
      atomic_inc(&data[0]);
      atomic_add(&data[1], i & 3);
      atomic_sub(&data[2], 2u);
      atomic_dec(&data[3]);
      atomic_min(&data[4], i ^ 0x5a5a);
      atomic_max(&data[5], i ^ 0x5a5a);
      atomic_or(&data[6], 1u << (i & 31));
      atomic_and(&data[7], ~(1u << (i & 15)));
      atomic_xor(&data[8], i);
      for (uint seen = data[9], before; (before = atomic_cmpxchg(&data[9], seen, seen + 3)) != seen;) seen = before;
      atomic_min((volatile global int*)&data[10], -(int)i);
    })",
                                {0, 0, 0, 0, 0xffffffff, 0, 0, 0xffffffff, 0, 0, 0});
  cl_uint folded = 0;
  for (cl_uint i = 0; i < kGlobal; ++i) folded ^= i;
  const cl_uint n = kGlobal;
  EXPECT_EQ((std::vector<cl_uint>{n, n / 4 * 6, 0U - 2 * n, 0U - n, 0, n - 1, 0xffffffff, 0xffff0000, folded,
                                  3 * n, 0U - (n - 1)}),
            got);
}

TEST_F(Atomics, GivenReturnedValuesThenEachIsReturnedOnce) {
  std::vector<cl_uint> data(kGlobal + 1);
  auto got = run<cl_uint>(
      "kernel void k(volatile global uint* d) { d[1 + get_global_id(0)] = atomic_inc(&d[0]); }", data);
  EXPECT_EQ(kGlobal, got.front());
  got.erase(got.begin());
  std::sort(got.begin(), got.end());
  std::vector<cl_uint> expected(kGlobal);
  std::iota(expected.begin(), expected.end(), 0U);
  EXPECT_EQ(expected, got);
}

TEST_F(Atomics, GivenLocalMemoryThenEachGroupCountsItsOwn) {
  const auto got = run<cl_uint>(R"(
    kernel void k(global uint* data) {
      volatile local uint count, largest;
      if (get_local_id(0) == 0) count = largest = 0;
      barrier(CLK_LOCAL_MEM_FENCE);
      atomic_add(&count, get_local_id(0));
      atomic_max(&largest, (uint)get_global_id(0));
      barrier(CLK_LOCAL_MEM_FENCE);
      if (get_local_id(0) == 0) data[get_group_id(0)] = count + largest;
    })",
                                std::vector<cl_uint>(kGlobal / kLocal));
  std::vector<cl_uint> expected;
  for (size_t group = 0; group < kGlobal / kLocal; ++group)
    expected.push_back(static_cast<cl_uint>(kLocal * (kLocal - 1) / 2 + group * kLocal + kLocal - 1));
  EXPECT_EQ(expected, got);
}

TEST_F(Atomics, GivenFloatExchangeThenNoValueIsLost) {
  const auto got = run<cl_float>(R"(
    kernel void k(volatile global float* d) {
      // Each item puts back the value that it took out, plus one.
      for (bool done = false; !done;) {
        const float got = atomic_xchg(&d[0], -1.0f);
        if (got >= 0.0f) { atomic_xchg(&d[0], got + 1.0f); done = true; }
      }
    })",
                                 {0.0F});
  EXPECT_EQ(std::vector<cl_float>{kGlobal}, got);
}

TEST_F(Atomics, GivenEachFunctionOn64BitsThenEveryItemCounts) {
  if (!has_extension("cl_khr_int64_base_atomics") || !has_extension("cl_khr_int64_extended_atomics"))
    GTEST_SKIP() << "no 64-bit atomics";
  const auto got = run<cl_ulong>(R"(
    #pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
    #pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
    kernel void k(volatile global ulong* data) {
      const ulong i = get_global_id(0);
      atom_add(&data[0], i << 20);
      atom_inc(&data[1]);
      atom_max(&data[2], i << 33);
      atom_min(&data[3], i << 33);
      atom_or(&data[4], 1ul << (i & 63));
      atom_xor(&data[5], i << 40);
      for (ulong seen = data[6], before; (before = atom_cmpxchg(&data[6], seen, seen + 5)) != seen;) seen = before;
    })",
                                 {0, 0xffffffff, 0, ~cl_ulong{0}, 0, 0, 0});
  const cl_ulong n = kGlobal;
  cl_ulong folded = 0;
  for (cl_ulong i = 0; i < n; ++i) folded ^= i << 40U;
  EXPECT_EQ((std::vector<cl_ulong>{(n * (n - 1) / 2) << 20U, 0xffffffff + n, (n - 1) << 33U, 0, ~cl_ulong{0},
                                   folded, 5 * n}),
            got);
}

TEST_F(Atomics, GivenC11AtomicsThenEveryItemCounts) {
  if (!has_opencl_c_3()) GTEST_SKIP() << "no OpenCL C 3.0";
  const auto got = run<cl_uint>(R"(
    kernel void k(global atomic_uint* data) {
      const uint i = get_global_id(0);
      atomic_fetch_add_explicit(&data[0], 1u, memory_order_relaxed, memory_scope_device);
      atomic_fetch_max_explicit(&data[1], i, memory_order_relaxed, memory_scope_device);
      uint seen = atomic_load_explicit(&data[2], memory_order_relaxed, memory_scope_device);
      while (!atomic_compare_exchange_strong_explicit(&data[2], &seen, seen + 2, memory_order_relaxed,
                                                      memory_order_relaxed, memory_scope_device)) {}
    })",
                                {0, 0, 0}, "-cl-std=CL3.0");
  EXPECT_EQ((std::vector<cl_uint>{kGlobal, kGlobal - 1, 2 * kGlobal}), got);
}

TEST_F(Atomics, GivenReleaseAndAcquireThenDataBeforeIsSeen) {
  const auto capabilities =
      info<cl_device_atomic_capabilities>(clGetDeviceInfo, device, CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES);
  if (!has_opencl_c_3() || (capabilities & CL_DEVICE_ATOMIC_ORDER_ACQ_REL) == 0 ||
      (capabilities & CL_DEVICE_ATOMIC_SCOPE_DEVICE) == 0)
    GTEST_SKIP() << "no acquire and release at device scope";
  // The last group to arrive sums what all groups wrote before they arrived.
  const size_t groups = kGlobal / kLocal;
  const auto got = run<cl_uint>(R"(
    kernel void k(global uint* data) {
      global atomic_uint* arrived = (global atomic_uint*)data;
      global uint* sums = data + 2;
      if (get_local_id(0) == 0) {
        sums[get_group_id(0)] = get_group_id(0) + 1;
        if (atomic_fetch_add_explicit(arrived, 1u, memory_order_acq_rel, memory_scope_device) ==
            get_num_groups(0) - 1) {
          uint sum = 0;
          for (uint i = 0; i < get_num_groups(0); ++i) sum += sums[i];
          data[1] = sum;
        }
      }
    })",
                                std::vector<cl_uint>(2 + groups), "-cl-std=CL3.0");
  EXPECT_EQ(groups * (groups + 1) / 2, got[1]);
}

}  // namespace clique::test
