// clCreateBuffer: OpenCL 3.0, section 5.2.1.
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "checks.hpp"

namespace clique::test::suite_clCreateBuffer {

class clCreateBuffer : public ApiTest {
 protected:
  cl_int create(cl_mem_flags flags, size_t size, void* host = nullptr) {
    cl_int err = CL_SUCCESS;
    made = Mem(::clCreateBuffer(context, flags, size, host, &err));
    EXPECT_EQ(err == CL_SUCCESS, made.get() != nullptr) << err;
    return err;
  }
  Mem made;
};

TEST_F(clCreateBuffer, GivenValidFlagsThenCreatedAndReported) {
  alignas(128) cl_int host[32] = {};
  const cl_mem_flags access[] = {0, CL_MEM_READ_WRITE, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY};
  const cl_mem_flags from_host[] = {0, CL_MEM_USE_HOST_PTR, CL_MEM_ALLOC_HOST_PTR, CL_MEM_COPY_HOST_PTR,
                                    CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR};
  const cl_mem_flags by_host[] = {0, CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_NO_ACCESS};
  for (const auto a : access) {
    for (const auto b : from_host) {
      for (const auto c : by_host) {
        const cl_mem_flags flags = a | b | c;
        const bool with_host = (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
        ASSERT_CL(create(flags, sizeof host, with_host ? host : nullptr)) << flags;
        // READ_WRITE is the default, so a driver may add it.
        EXPECT_EQ(flags | (a == 0 ? CL_MEM_READ_WRITE : 0),
                  info<cl_mem_flags>(clGetMemObjectInfo, made.get(), CL_MEM_FLAGS) |
                      (a == 0 ? CL_MEM_READ_WRITE : 0));
      }
    }
  }
}

TEST_F(clCreateBuffer, GivenExclusiveFlagsThenInvalidValue) {
  cl_int host[4] = {};
  const cl_mem_flags bad[] = {
      CL_MEM_READ_WRITE | CL_MEM_READ_ONLY,          CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY,
      CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,          CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR,
      CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR,    CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY,
      CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS};
  for (const auto flags : bad) {
    const bool with_host = (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
    EXPECT_EQ(CL_INVALID_VALUE, create(flags, sizeof host, with_host ? host : nullptr)) << flags;
  }
}

TEST_F(clCreateBuffer, GivenUnknownFlagThenInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE, create(cl_mem_flags{1} << 40, 64));
  EXPECT_EQ(CL_INVALID_VALUE, create(cl_mem_flags{1} << 63, 64));
}

TEST_F(clCreateBuffer, GivenNoSizeThenInvalidBufferSize) {
  EXPECT_EQ(CL_INVALID_BUFFER_SIZE, create(CL_MEM_READ_WRITE, 0));
}

TEST_F(clCreateBuffer, GivenMoreThanAnyDeviceAllowsThenInvalidBufferSize) {
  cl_ulong largest = 0;
  for (const cl_device_id each : devices())
    largest = std::max(largest, info<cl_ulong>(clGetDeviceInfo, each, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  EXPECT_EQ(CL_INVALID_BUFFER_SIZE, create(CL_MEM_READ_WRITE, largest + 1));
  EXPECT_EQ(CL_INVALID_BUFFER_SIZE, create(CL_MEM_READ_WRITE, SIZE_MAX));
}

TEST_F(clCreateBuffer, GivenHostFlagsWithoutHostPointerThenInvalidHostPtr) {
  for (const cl_mem_flags flags : {CL_MEM_USE_HOST_PTR, CL_MEM_COPY_HOST_PTR}) {
    EXPECT_EQ(CL_INVALID_HOST_PTR, create(flags, 64, nullptr)) << flags;
  }
}

TEST_F(clCreateBuffer, GivenHostPointerWithoutHostFlagsThenInvalidHostPtr) {
  cl_int host[4] = {};
  for (const cl_mem_flags flags :
       {cl_mem_flags{0}, cl_mem_flags{CL_MEM_READ_ONLY}, cl_mem_flags{CL_MEM_ALLOC_HOST_PTR}}) {
    EXPECT_EQ(CL_INVALID_HOST_PTR, create(flags, sizeof host, host)) << flags;
  }
}

TEST_F(clCreateBuffer, GivenNullContextThenInvalidContext) {
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateBuffer(nullptr, CL_MEM_READ_WRITE, 64, nullptr, &err));
  EXPECT_EQ(CL_INVALID_CONTEXT, err);
}

TEST_F(clCreateBuffer, GivenNoErrorPointerThenStillAnAnswer) {
  made = Mem(::clCreateBuffer(context, CL_MEM_READ_WRITE, 64, nullptr, nullptr));
  EXPECT_NE(nullptr, made.get());
  EXPECT_EQ(nullptr, ::clCreateBuffer(context, CL_MEM_READ_WRITE, 0, nullptr, nullptr));
}

TEST_F(clCreateBuffer, GivenCopiedHostPointerThenDataIsTakenAtOnce) {
  std::vector<cl_int> host(1000);
  std::iota(host.begin(), host.end(), 0);
  const auto expected = host;
  ASSERT_CL(create(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, host.size() * sizeof(cl_int), host.data()));
  std::fill(host.begin(), host.end(), -1);
  EXPECT_EQ(expected, read<cl_int>(made, expected.size()));
}

TEST_F(clCreateBuffer, GivenCopiedAndAllocatedHostPointerThenDataIsTaken) {
  std::vector<cl_int> host = {5, 4, 3, 2, 1};
  ASSERT_CL(create(CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR, host.size() * sizeof(cl_int), host.data()));
  EXPECT_EQ(host, read<cl_int>(made, host.size()));
}

TEST_F(clCreateBuffer, GivenUsedHostPointerThenItsDataIsTheBuffers) {
  std::vector<cl_int> host(256);
  std::iota(host.begin(), host.end(), 100);
  const auto expected = host;
  ASSERT_CL(create(CL_MEM_USE_HOST_PTR, host.size() * sizeof(cl_int), host.data()));
  EXPECT_EQ(host.data(), info<void*>(clGetMemObjectInfo, made.get(), CL_MEM_HOST_PTR));
  EXPECT_EQ(expected, read<cl_int>(made, expected.size()));
}

TEST_F(clCreateBuffer, GivenUsedHostPointerThatIsNotAlignedThenItWorksAllTheSame) {
  std::vector<unsigned char> storage(259);
  std::iota(storage.begin(), storage.end(), 0);
  ASSERT_CL(create(CL_MEM_USE_HOST_PTR, 256, storage.data() + 3));
  EXPECT_EQ(std::vector<unsigned char>(storage.begin() + 3, storage.end()), read<unsigned char>(made, 256));
}

TEST_F(clCreateBuffer, GivenHostDataThenEveryDeviceSeesIt) {
  const std::vector<cl_int> data = {1, 2, 3, 5, 8, 13};
  ASSERT_CL(create(CL_MEM_COPY_HOST_PTR, data.size() * sizeof(cl_int), const_cast<cl_int*>(data.data())));
  for (const cl_device_id each : devices()) {
    queue = make_queue(0, each);
    EXPECT_EQ(data, read<cl_int>(made, data.size()));
  }
}

TEST_F(clCreateBuffer, GivenOddSizesThenTheyAreKept) {
  for (const size_t size : {size_t{1}, size_t{3}, size_t{7}, size_t{4097}}) {
    ASSERT_CL(create(CL_MEM_READ_WRITE, size));
    EXPECT_EQ(size, info<size_t>(clGetMemObjectInfo, made.get(), CL_MEM_SIZE));
    std::vector<unsigned char> data(size, 0x5A);
    ASSERT_CL(clEnqueueWriteBuffer(queue, made, CL_TRUE, 0, size, data.data(), 0, nullptr, nullptr));
    EXPECT_EQ(data, read<unsigned char>(made, size));
  }
}

TEST_F(clCreateBuffer, GivenWrittenByOneDeviceThenReadByAnother) {
  ASSERT_CL(create(CL_MEM_READ_WRITE, sizeof(cl_int)));
  cl_int value = 0;
  for (const cl_device_id writer : devices()) {
    for (const cl_device_id reader : devices()) {
      ++value;
      const Queue write_queue = make_queue(0, writer);
      ASSERT_CL(
          clEnqueueWriteBuffer(write_queue, made, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr));
      queue = make_queue(0, reader);
      EXPECT_EQ(value, read<cl_int>(made, 1).front());
    }
  }
}

}  // namespace clique::test::suite_clCreateBuffer
