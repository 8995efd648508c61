// cl_clique_cuda_source: kernels in CUDA C++ on the device.
#include "api/capture.hpp"
#include "gpu.hpp"

namespace clique::test {

class CudaSource : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!has_extension("cl_clique_cuda_source"))
      GTEST_SKIP() << "the device does not take programs in CUDA C++";
  }
  /// Builds for one device only, since other devices of the context may not support the language.
  Program build_cuda(const char* source, const std::string& options = "", cl_int expected = CL_SUCCESS) {
    cl_int err = CL_SUCCESS;
    Program program(clCreateProgramWithSource(context, 1, &source, nullptr, &err));
    EXPECT_EQ(CL_SUCCESS, err);
    const std::string all = "-x cuda " + options;
    EXPECT_EQ(expected, clBuildProgram(program, 1, &device, all.c_str(), nullptr, nullptr))
        << log_of(program);
    return program;
  }
  std::string log_of(cl_program program) {
    size_t size = 0;
    EXPECT_CL(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size));
    std::string log(size, '\0');
    EXPECT_CL(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr));
    return log;
  }
  template <typename T>
  static cl_int set(cl_kernel kernel, cl_uint index, const T& value) {
    return clSetKernelArg(kernel, index, sizeof value, &value);
  }
  cl_int status_after(cl_kernel kernel, size_t global, size_t local, const size_t* offset = nullptr) {
    Event event;
    const cl_int launched =
        clEnqueueNDRangeKernel(queue, kernel, 1, offset, &global, &local, 0, nullptr, event.out());
    if (launched != CL_SUCCESS) return launched;
    clWaitForEvents(1, event.ptr());
    return info<cl_int>(clGetEventInfo, event.get(), CL_EVENT_COMMAND_EXECUTION_STATUS);
  }
  static std::vector<float> counted(size_t count) {
    std::vector<float> numbers;
    for (size_t i = 0; i < count; ++i) numbers.push_back(static_cast<float>(i));
    return numbers;
  }
};

TEST_F(CudaSource, GivenBuffersAndValuesThenTheKernelComputesWithThem) {
  constexpr size_t kCount = 1000;
  const Program program = build_cuda(R"(
    struct Pair { double slope; short shift; };
    extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned long long n, char sign, Pair pair) {
      unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
      if (i < n) y[i] += sign * a * x[i] * (float)pair.slope + pair.shift;
    })");
  const auto numbers = counted(kCount);
  const Mem x = buffer<float>(kCount, numbers.data(), CL_MEM_READ_ONLY);
  const Mem y = buffer<float>(kCount, numbers.data());
  const struct {
    double slope = 3;
    short shift = 7;
  } pair;
  const Kernel axpy = kernel(program, "axpy");
  ASSERT_EQ(6U, info<cl_uint>(clGetKernelInfo, axpy.get(), CL_KERNEL_NUM_ARGS));
  ASSERT_CL(set(axpy, 0, 2.0F));
  ASSERT_CL(set(axpy, 1, x.get()));
  ASSERT_CL(set(axpy, 2, y.get()));
  ASSERT_CL(set(axpy, 3, cl_ulong{kCount - 1}));
  ASSERT_CL(set(axpy, 4, cl_char{-1}));
  ASSERT_CL(set(axpy, 5, pair));
  ASSERT_CL(launch(axpy, 1024, 128));
  const auto result = read<float>(y, kCount);
  for (size_t i = 0; i + 1 < kCount; ++i) ASSERT_EQ(numbers[i] - 6 * numbers[i] + 7, result[i]) << i;
  EXPECT_EQ(numbers.back(), result.back());
}

TEST_F(CudaSource, GivenWrongSizesThenTheyAreRefused) {
  const Program program =
      build_cuda("extern \"C\" __global__ void k(int *p, int n, double d) { *p = n + (int)d; }");
  const Kernel made = kernel(program, "k");
  EXPECT_EQ(CL_INVALID_ARG_SIZE, set(made, 0, cl_int{0}));
  EXPECT_EQ(CL_INVALID_ARG_SIZE, set(made, 1, cl_long{0}));
  EXPECT_EQ(CL_INVALID_ARG_SIZE, set(made, 2, cl_float{0}));
  EXPECT_EQ(CL_INVALID_ARG_INDEX, set(made, 3, cl_int{0}));
  EXPECT_EQ(CL_INVALID_ARG_VALUE, clSetKernelArg(made, 1, sizeof(cl_int), nullptr));
}

TEST_F(CudaSource, GivenNoBufferThenThePointerIsNull) {
  const Program program = build_cuda(
      "extern \"C\" __global__ void k(int *out, const int *maybe) { *out = maybe == nullptr ? 1 : *maybe; }");
  const Kernel made = kernel(program, "k");
  const cl_int number = 42;
  const Mem out = buffer<cl_int>(1);
  const Mem in = buffer<cl_int>(1, &number);
  ASSERT_CL(set(made, 0, out.get()));
  ASSERT_CL(clSetKernelArg(made, 1, sizeof(cl_mem), nullptr));
  ASSERT_CL(launch(made, 1, 1));
  EXPECT_EQ(1, read<cl_int>(out, 1)[0]);
  ASSERT_CL(set(made, 1, in.get()));
  ASSERT_CL(launch(made, 1, 1));
  EXPECT_EQ(42, read<cl_int>(out, 1)[0]);
  ASSERT_CL(set(made, 1, cl_mem{nullptr}));
  ASSERT_CL(launch(made, 1, 1));
  EXPECT_EQ(1, read<cl_int>(out, 1)[0]);
}

TEST_F(CudaSource, GivenDynamicMemoryThenAllOfItCanBeUsed) {
  const Program program = build_cuda(R"(
    extern "C" __global__ void reverse(unsigned *out, unsigned words) {
      extern __shared__ unsigned tile[];
      for (unsigned i = threadIdx.x; i < words; i += blockDim.x) tile[i] = i * 3;
      __syncthreads();
      unsigned sum = 0;
      for (unsigned i = threadIdx.x; i < words; i += blockDim.x) sum += tile[words - 1 - i];
      atomicAdd(out, sum);
    })");
  const Kernel made = kernel(program, "reverse");
  ASSERT_EQ(3U, info<cl_uint>(clGetKernelInfo, made.get(), CL_KERNEL_NUM_ARGS));
  const auto most = info<cl_ulong>(clGetDeviceInfo, device, CL_DEVICE_LOCAL_MEM_SIZE);
  for (const cl_ulong bytes : {cl_ulong{1024}, most}) {
    const cl_uint zero = 0;
    const Mem out = buffer<cl_uint>(1, &zero);
    const auto words = static_cast<cl_uint>(bytes / sizeof(cl_uint));
    ASSERT_CL(set(made, 0, out.get()));
    ASSERT_CL(set(made, 1, words));
    EXPECT_EQ(CL_INVALID_ARG_SIZE, clSetKernelArg(made, 2, 0, nullptr));
    ASSERT_CL(clSetKernelArg(made, 2, bytes, nullptr));
    ASSERT_CL(launch(made, 256, 256));
    cl_uint expected = 0;
    for (cl_uint i = 0; i < words; ++i) expected += i * 3;
    EXPECT_EQ(expected, read<cl_uint>(out, 1)[0]) << bytes;
  }
}

TEST_F(CudaSource, GivenWhatOnlyCudaHasThenItWorks) {
  const Program program = build_cuda(R"(
    __constant__ int table[4] = {1, 10, 100, 1000};
    __device__ int calls;
    extern "C" __global__ void k(int *sums, int *counter) {
      int value = table[threadIdx.x & 3];
      for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xFFFFFFFFu, value, step);
      if (threadIdx.x % warpSize == 0) sums[blockIdx.x * blockDim.x / warpSize + threadIdx.x / warpSize] = value;
      if (threadIdx.x == 0 && atomicAdd(&calls, 1) == (int)gridDim.x - 1) *counter = calls;
    })");
  const Kernel made = kernel(program, "k");
  const Mem sums = buffer<cl_int>(8);
  const Mem counter = buffer<cl_int>(1);
  ASSERT_CL(set(made, 0, sums.get()));
  ASSERT_CL(set(made, 1, counter.get()));
  ASSERT_CL(launch(made, 256, 64));
  EXPECT_EQ(std::vector<cl_int>(8, 8888), read<cl_int>(sums, 8));
  EXPECT_EQ(4, read<cl_int>(counter, 1)[0]);
}

TEST_F(CudaSource, GivenNamesOfCppThenKernelsAreFound) {
  const Program program = build_cuda(R"(
    namespace box { template <int N> __global__ void put(int *p) { *p = N; } }
    template __global__ void box::put<7>(int *);
    template __global__ void box::put<8>(int *);
    __global__ void plain(int *p) { *p = 1; }
    __global__ void twice(int *p) { *p = 2; }
    __global__ void twice(int *p, int by) { *p = 2 * by; })");
  const auto result = [&](const char* name) {
    const Kernel made = kernel(program, name);
    const Mem out = buffer<cl_int>(1);
    EXPECT_CL(set(made, 0, out.get()));
    EXPECT_CL(launch(made, 1, 1));
    return read<cl_int>(out, 1)[0];
  };
  EXPECT_EQ(7, result("box::put<7>"));
  EXPECT_EQ(8, result("box::put<8>"));
  EXPECT_EQ(1, result("plain"));
  EXPECT_EQ(1, result("_Z5plainPi"));
  EXPECT_EQ(2, result("_Z5twicePi"));
  cl_int err = CL_SUCCESS;
  const Kernel ambiguous(clCreateKernel(program, "twice", &err));
  EXPECT_EQ(CL_INVALID_KERNEL_NAME, err);
  EXPECT_EQ(5U, info<size_t>(clGetProgramInfo, program.get(), CL_PROGRAM_NUM_KERNELS));
}

TEST_F(CudaSource, GivenHeadersOfCudaThenHalfIsThere) {
  const Program program = build_cuda(R"(
    #if __has_include(<cuda_fp16.h>)
      #include <cuda_fp16.h>
      extern "C" __global__ void k(float *p) {
        *p = __half2float(__hadd(__float2half(1.5f), __float2half(2.25f)));
      }
    #else
      extern "C" __global__ void k(float *p) { *p = -1; }
    #endif
  )");
  const Kernel made = kernel(program, "k");
  const Mem out = buffer<float>(1);
  ASSERT_CL(set(made, 0, out.get()));
  ASSERT_CL(launch(made, 1, 1));
  const float result = read<float>(out, 1)[0];
  if (result == -1) GTEST_SKIP() << "the node has no headers of CUDA";
  EXPECT_EQ(3.75F, result);
}

TEST_F(CudaSource, GivenErrorsThenTheBuildLogIsNvrtcs) {
  const Program program =
      build_cuda("extern \"C\" __global__ void k(int *p) { *p = undeclared; }", "", CL_BUILD_PROGRAM_FAILURE);
  EXPECT_NE(std::string::npos, log_of(program).find("undeclared"));
  const Program warned = build_cuda("extern \"C\" __global__ void k(int *p) { int unused; *p = 1; }");
  EXPECT_NE(std::string::npos, log_of(warned).find("warning"));
  build_cuda("extern \"C\" __global__ void k(int *p) { int unused; *p = 1; }", "-Werror",
             CL_BUILD_PROGRAM_FAILURE);
  build_cuda("extern \"C\" __global__ void k(int *p) { *p = N; }",
             "-D N=3 -w -std=c++17 -cl-fast-relaxed-math");
  build_cuda("extern \"C\" __global__ void k(int *p) { *p = 3; }", "-I .");
}

TEST_F(CudaSource, GivenWhatItsKernelsCannotKnowThenTheLaunchFails) {
  const Program program =
      build_cuda("extern \"C\" __global__ void __launch_bounds__(64) k(int *p) { atomicAdd(p, 1); }");
  const Kernel made = kernel(program, "k");
  const Mem out = buffer<cl_int>(1);
  ASSERT_CL(set(made, 0, out.get()));
  const size_t offset = 64;
  EXPECT_EQ(CL_INVALID_GLOBAL_OFFSET, status_after(made, 64, 64, &offset));
  EXPECT_EQ(CL_INVALID_WORK_GROUP_SIZE, status_after(made, 96, 64));
  EXPECT_EQ(CL_INVALID_WORK_GROUP_SIZE, status_after(made, 128, 128));
  EXPECT_EQ(CL_COMPLETE, status_after(made, 64, 64));
}

TEST_F(CudaSource, GivenPrintfThenItIsPrintedBeforeTheEnd) {
  const Program program =
      build_cuda("extern \"C\" __global__ void k(int n) { printf(\"%d of %d\\n\", threadIdx.x, n); }");
  const Kernel made = kernel(program, "k");
  ASSERT_CL(set(made, 0, cl_int{3}));
  const Capture capture;
  ASSERT_CL(launch(made, 3, 3));
  ASSERT_CL(clFinish(queue));
  EXPECT_EQ("0 of 3\n1 of 3\n2 of 3\n", capture.text());
}

TEST_F(CudaSource, GivenBinaryThenItRuns) {
  const Program program = build_cuda("extern \"C\" __global__ void k(int *p) { *p = 11; }");
  auto sizes = info<std::vector<size_t>>(clGetProgramInfo, program.get(), CL_PROGRAM_BINARY_SIZES);
  std::vector<std::vector<unsigned char>> binaries;
  std::vector<unsigned char*> pointers;
  for (const size_t size : sizes) binaries.emplace_back(size);
  for (auto& binary : binaries) pointers.push_back(binary.empty() ? nullptr : binary.data());
  ASSERT_CL(clGetProgramInfo(program, CL_PROGRAM_BINARIES, pointers.size() * sizeof(unsigned char*),
                             pointers.data(), nullptr));
  size_t index = 0;
  while (sizes[index] == 0) ++index;
  const unsigned char* bytes = binaries[index].data();
  cl_int err = CL_SUCCESS;
  const Program again(clCreateProgramWithBinary(context, 1, &device, &sizes[index], &bytes, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  ASSERT_CL(clBuildProgram(again, 1, &device, "", nullptr, nullptr));
  const Kernel made = kernel(again, "k");
  const Mem out = buffer<cl_int>(1);
  ASSERT_CL(set(made, 0, out.get()));
  ASSERT_CL(launch(made, 1, 1));
  EXPECT_EQ(11, read<cl_int>(out, 1)[0]);
}

}  // namespace clique::test
