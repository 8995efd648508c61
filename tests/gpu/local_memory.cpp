// Local memory, declared in kernels and passed as an argument, of more than the 48 KiB that a kernel may
// declare statically on NVIDIA GPUs.
#include "api/fixture.hpp"

namespace clique::test {

class LocalMemory : public ApiTest {
 protected:
  static constexpr size_t kGroup = 64;
  static constexpr size_t kGroups = 4;

  size_t most() {
    return static_cast<size_t>(info<cl_ulong>(clGetDeviceInfo, device, CL_DEVICE_LOCAL_MEM_SIZE));
  }
  /// Runs a kernel of (global uint* out) or (global uint* out, local uint* words, uint count).
  std::vector<cl_uint> run(cl_kernel kernel, size_t words, bool argument) {
    const Mem out = buffer<cl_uint>(kGroup * kGroups);
    EXPECT_CL(clSetKernelArg(kernel, 0, sizeof(cl_mem), out.ptr()));
    if (argument) {
      const auto count = static_cast<cl_uint>(words);
      EXPECT_CL(clSetKernelArg(kernel, 1, words * sizeof(cl_uint), nullptr));
      EXPECT_CL(clSetKernelArg(kernel, 2, sizeof count, &count));
    }
    const size_t global = kGroup * kGroups;
    EXPECT_CL(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, &kGroup, 0, nullptr, nullptr));
    return read<cl_uint>(out, global);
  }
  /// Each work-item writes every 64th word, beginning with its own, and sums the words that the item opposite
  /// wrote.
  static constexpr char body[] = R"(
    const uint me = get_local_id(0), other = 63 - me, group = get_group_id(0);
    for (uint i = me; i < count; i += 64) words[i] = i * 7 + group;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sum = 0;
    for (uint i = other; i < count; i += 64) sum += words[i];
    out[get_global_id(0)] = sum;
  )";
  static std::vector<cl_uint> expected(size_t count) {
    std::vector<cl_uint> sums;
    for (size_t i = 0; i < kGroup * kGroups; ++i) {
      cl_uint sum = 0;
      for (size_t word = kGroup - 1 - i % kGroup; word < count; word += kGroup)
        sum += static_cast<cl_uint>(word * 7 + i / kGroup);
      sums.push_back(sum);
    }
    return sums;
  }
};

TEST_F(LocalMemory, GivenArgumentOfAllThatTheDeviceHasThenItIsThere) {
  const size_t count = most() / sizeof(cl_uint);
  const std::string source =
      "kernel void k(global uint* out, local uint* words, uint count) {" + std::string(body) + "}";
  const Program program = build(source.c_str());
  EXPECT_EQ(expected(count), run(kernel(program, "k"), count, true));
}

TEST_F(LocalMemory, GivenDeclaredArrayOfAllThatTheDeviceHasThenItIsThere) {
  const size_t count = most() / sizeof(cl_uint);
  const std::string source = "kernel void k(global uint* out) { const uint count = " + std::to_string(count) +
                             "; local uint words[" + std::to_string(count) + "];" + body + "}";
  const Program program = build(source.c_str());
  const Kernel made = kernel(program, "k");
  EXPECT_EQ(expected(count), run(made, count, false));
  const auto reported = [&] {
    cl_ulong size = 0;
    EXPECT_CL(clGetKernelWorkGroupInfo(made, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof size, &size, nullptr));
    return size;
  };
  EXPECT_LE(count * sizeof(cl_uint), reported());
}

TEST_F(LocalMemory, GivenArgumentsAndDeclaredArraysThenTheyDoNotOverlap) {
  const Program program = build(R"(
    kernel void k(global uint* out, local uchar* bytes, local double4* wide, local ushort* words) {
      local uint own[64];
      local uchar odd[3];
      const uint me = get_local_id(0);
      own[me] = me * 3;
      if (me < 3) odd[me] = (uchar)(100 + me);
      for (uint i = me; i < 65; i += 64) { bytes[i] = (uchar)i; words[i] = (ushort)(i + 1000); }
      wide[me] = (double4)(me, me + 1, me + 2, me + 3);
      barrier(CLK_LOCAL_MEM_FENCE);
      const uint other = 63 - me;
      uint wrong = 0;
      if (own[other] != other * 3) wrong |= 1;
      if (odd[me % 3] != 100 + me % 3) wrong |= 2;
      if (bytes[other] != other || bytes[64] != 64) wrong |= 4;
      if (words[other] != other + 1000 || words[64] != 1064) wrong |= 8;
      if (wide[other].w != other + 3) wrong |= 16;
      if (((uintptr_t)wide & 31) != 0) wrong |= 32;
      out[get_global_id(0)] = wrong;
    })");
  const Kernel made = kernel(program, "k");
  const Mem out = buffer<cl_uint>(kGroup * kGroups);
  ASSERT_CL(clSetKernelArg(made, 0, sizeof(cl_mem), out.ptr()));
  ASSERT_CL(clSetKernelArg(made, 1, 65, nullptr));
  ASSERT_CL(clSetKernelArg(made, 2, kGroup * 32, nullptr));
  ASSERT_CL(clSetKernelArg(made, 3, 65 * 2, nullptr));
  const size_t global = kGroup * kGroups;
  ASSERT_CL(clEnqueueNDRangeKernel(queue, made, 1, nullptr, &global, &kGroup, 0, nullptr, nullptr));
  EXPECT_EQ(std::vector<cl_uint>(global, 0), read<cl_uint>(out, global));
}

TEST_F(LocalMemory, GivenMoreThanTheDeviceHasThenLaunchIsRefused) {
  if (info<cl_device_local_mem_type>(clGetDeviceInfo, device, CL_DEVICE_LOCAL_MEM_TYPE) != CL_LOCAL)
    GTEST_SKIP() << "local memory is ordinary memory";
  const size_t count = most() / sizeof(cl_uint) + 1024;
  const std::string source =
      "kernel void k(global uint* out, local uint* words, uint count) {" + std::string(body) + "}";
  const Program program = build(source.c_str());
  const Kernel made = kernel(program, "k");
  const Mem out = buffer<cl_uint>(kGroup);
  const auto words = static_cast<cl_uint>(count);
  ASSERT_CL(clSetKernelArg(made, 0, sizeof(cl_mem), out.ptr()));
  ASSERT_CL(clSetKernelArg(made, 1, count * sizeof(cl_uint), nullptr));
  ASSERT_CL(clSetKernelArg(made, 2, sizeof words, &words));
  Event event;
  const cl_int launched =
      clEnqueueNDRangeKernel(queue, made, 1, nullptr, &kGroup, &kGroup, 0, nullptr, event.out());
  // Only the node may be able to detect the error.
  if (launched == CL_SUCCESS) {
    EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, event.ptr()));
    EXPECT_EQ(CL_OUT_OF_RESOURCES,
              info<cl_int>(clGetEventInfo, event.get(), CL_EVENT_COMMAND_EXECUTION_STATUS));
  } else {
    EXPECT_EQ(CL_OUT_OF_RESOURCES, launched);
  }
}

}  // namespace clique::test
