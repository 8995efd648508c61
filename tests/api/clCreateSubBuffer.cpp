// clCreateSubBuffer: OpenCL 3.0, section 5.2.1.
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "checks.hpp"

namespace clique::test::suite_clCreateSubBuffer {

class clCreateSubBuffer : public ApiTest {
 protected:
  /// An alignment in bytes that every device accepts.
  size_t alignment() {
    cl_uint bits = 8;
    for (const cl_device_id each : devices())
      bits = std::max(bits, info<cl_uint>(clGetDeviceInfo, each, CL_DEVICE_MEM_BASE_ADDR_ALIGN));
    return bits / 8;
  }
  Mem parent(cl_mem_flags flags = CL_MEM_READ_WRITE) {
    std::vector<unsigned char> data(4 * alignment());
    std::iota(data.begin(), data.end(), 0);
    return buffer(data.size(), data.data(), flags);
  }
  cl_int create(cl_mem of, cl_mem_flags flags, size_t origin, size_t size) {
    const cl_buffer_region region = {origin, size};
    cl_int err = CL_SUCCESS;
    made = Mem(::clCreateSubBuffer(of, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
    EXPECT_EQ(err == CL_SUCCESS, made.get() != nullptr) << err;
    return err;
  }
  cl_mem_flags flags_of(cl_mem mem) { return info<cl_mem_flags>(clGetMemObjectInfo, mem, CL_MEM_FLAGS); }
  Mem made;
};

TEST_F(clCreateSubBuffer, GivenRegionThenItIsAViewOfTheParent) {
  const size_t a = alignment();
  const Mem whole = parent();
  ASSERT_CL(create(whole, 0, a, 2 * a));
  EXPECT_EQ(whole.get(), info<cl_mem>(clGetMemObjectInfo, made.get(), CL_MEM_ASSOCIATED_MEMOBJECT));
  EXPECT_EQ(a, info<size_t>(clGetMemObjectInfo, made.get(), CL_MEM_OFFSET));
  EXPECT_EQ(2 * a, info<size_t>(clGetMemObjectInfo, made.get(), CL_MEM_SIZE));
  EXPECT_EQ(cl_mem_object_type{CL_MEM_OBJECT_BUFFER},
            info<cl_mem_object_type>(clGetMemObjectInfo, made.get(), CL_MEM_TYPE));
  EXPECT_EQ(context.get(), info<cl_context>(clGetMemObjectInfo, made.get(), CL_MEM_CONTEXT));

  std::vector<unsigned char> expected(4 * a);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(std::vector<unsigned char>(expected.begin() + a, expected.begin() + 3 * a),
            read<unsigned char>(made, 2 * a));
  const std::vector<unsigned char> written(a, 0xEE);
  ASSERT_CL(clEnqueueWriteBuffer(queue, made, CL_TRUE, 5, a, written.data(), 0, nullptr, nullptr));
  std::copy(written.begin(), written.end(), expected.begin() + a + 5);
  EXPECT_EQ(expected, read<unsigned char>(whole, 4 * a));
}

TEST_F(clCreateSubBuffer, GivenWriteToParentThenSubBufferSeesIt) {
  const size_t a = alignment();
  const Mem whole = parent();
  ASSERT_CL(create(whole, CL_MEM_READ_WRITE, a, a));
  const std::vector<unsigned char> written(4 * a, 0x77);
  ASSERT_CL(
      clEnqueueWriteBuffer(queue, whole, CL_TRUE, 0, written.size(), written.data(), 0, nullptr, nullptr));
  EXPECT_EQ(std::vector<unsigned char>(a, 0x77), read<unsigned char>(made, a));
}

TEST_F(clCreateSubBuffer, GivenDisjointSubBuffersOnAllDevicesThenParentHasAllTheirData) {
  const size_t a = alignment();
  const size_t count = 4;
  const Mem whole = parent();
  std::vector<unsigned char> expected(count * a);
  for (size_t i = 0; i < count; ++i) {
    ASSERT_CL(create(whole, 0, i * a, a));
    const std::vector<unsigned char> part(a, static_cast<unsigned char>(0x10 + i));
    std::copy(part.begin(), part.end(), expected.begin() + i * a);
    const Queue on = make_queue(0, devices()[i % devices().size()]);
    ASSERT_CL(clEnqueueWriteBuffer(on, made, CL_TRUE, 0, a, part.data(), 0, nullptr, nullptr));
  }
  EXPECT_EQ(expected, read<unsigned char>(whole, count * a));
}

TEST_F(clCreateSubBuffer, GivenParentReleasedThenSubBufferKeepsTheData) {
  const size_t a = alignment();
  Mem whole = parent();
  ASSERT_CL(create(whole, 0, a, a));
  whole.reset();
  std::vector<unsigned char> expected(a);
  std::iota(expected.begin(), expected.end(), static_cast<unsigned char>(a));
  EXPECT_EQ(expected, read<unsigned char>(made, a));
}

TEST_F(clCreateSubBuffer, GivenNoAccessFlagsThenTheParentsAreInherited) {
  const Mem whole = parent(CL_MEM_READ_ONLY | CL_MEM_HOST_READ_ONLY);
  ASSERT_CL(create(whole, 0, 0, alignment()));
  EXPECT_EQ(cl_mem_flags{CL_MEM_READ_ONLY | CL_MEM_HOST_READ_ONLY},
            flags_of(made) & ~cl_mem_flags{CL_MEM_COPY_HOST_PTR});
  unsigned char byte = 0;
  EXPECT_EQ(CL_INVALID_OPERATION,
            clEnqueueWriteBuffer(queue, made, CL_TRUE, 0, 1, &byte, 0, nullptr, nullptr));
}

TEST_F(clCreateSubBuffer, GivenNarrowerFlagsThenTheyApply) {
  const Mem whole = parent();
  ASSERT_CL(create(whole, CL_MEM_READ_ONLY | CL_MEM_HOST_WRITE_ONLY, 0, alignment()));
  EXPECT_TRUE(flags_of(made) & CL_MEM_READ_ONLY);
  unsigned char byte = 0;
  EXPECT_EQ(CL_INVALID_OPERATION,
            clEnqueueReadBuffer(queue, made, CL_TRUE, 0, 1, &byte, 0, nullptr, nullptr));
  EXPECT_CL(clEnqueueReadBuffer(queue, whole, CL_TRUE, 0, 1, &byte, 0, nullptr, nullptr));
}

TEST_F(clCreateSubBuffer, GivenParentThatUsesHostMemoryThenHostPointerMovesByTheOrigin) {
  const size_t a = alignment();
  std::vector<unsigned char> host(4 * a);
  cl_int err = CL_SUCCESS;
  const Mem whole(clCreateBuffer(context, CL_MEM_USE_HOST_PTR, host.size(), host.data(), &err));
  ASSERT_EQ(CL_SUCCESS, err);
  ASSERT_CL(create(whole, 0, 2 * a, a));
  EXPECT_EQ(host.data() + 2 * a, info<void*>(clGetMemObjectInfo, made.get(), CL_MEM_HOST_PTR));
  EXPECT_TRUE(flags_of(made) & CL_MEM_USE_HOST_PTR);
}

TEST_F(clCreateSubBuffer, GivenMisalignedOriginThenMisalignedSubBufferOffset) {
  for (const cl_device_id each : devices()) {
    if (info<cl_uint>(clGetDeviceInfo, each, CL_DEVICE_MEM_BASE_ADDR_ALIGN) <= 8)
      GTEST_SKIP() << "a device accepts any origin";
  }
  EXPECT_EQ(CL_MISALIGNED_SUB_BUFFER_OFFSET, create(parent(), 0, 1, 8));
}

TEST_F(clCreateSubBuffer, GivenParentThatIsNoWholeBufferThenInvalidMemObject) {
  const Mem whole = parent();
  ASSERT_CL(create(whole, 0, 0, alignment()));
  const Mem sub(made.release_ownership());
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, create(sub, 0, 0, 8));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, create(nullptr, 0, 0, 8));
  if (info<cl_bool>(clGetDeviceInfo, device, CL_DEVICE_IMAGE_SUPPORT)) {
    const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    cl_image_desc desc = {};
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    desc.image_width = desc.image_height = 16;
    cl_int err = CL_SUCCESS;
    const Mem image(clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, nullptr, &err));
    ASSERT_EQ(CL_SUCCESS, err);
    EXPECT_EQ(CL_INVALID_MEM_OBJECT, create(image, 0, 0, 8));
  }
}

TEST_F(clCreateSubBuffer, GivenFlagsBeyondTheParentsThenInvalidValue) {
  struct Case {
    cl_mem_flags parent;
    cl_mem_flags sub;
  };
  const Case bad[] = {{CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE},
                      {CL_MEM_WRITE_ONLY, CL_MEM_READ_ONLY},
                      {CL_MEM_READ_ONLY, CL_MEM_READ_WRITE},
                      {CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY},
                      {CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY},
                      {CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY},
                      {CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY},
                      {CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_WRITE_ONLY},
                      {CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR},
                      {CL_MEM_READ_WRITE, CL_MEM_ALLOC_HOST_PTR},
                      {CL_MEM_READ_WRITE, CL_MEM_COPY_HOST_PTR},
                      {CL_MEM_READ_WRITE, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY},
                      {CL_MEM_READ_WRITE, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS},
                      {CL_MEM_READ_WRITE, cl_mem_flags{1} << 40}};
  for (const auto& each : bad) {
    EXPECT_EQ(CL_INVALID_VALUE, create(parent(each.parent), each.sub, 0, 8))
        << each.parent << " " << each.sub;
  }
}

TEST_F(clCreateSubBuffer, GivenRegionOutsideTheParentThenInvalidValue) {
  const size_t a = alignment();
  const Mem whole = parent();
  EXPECT_EQ(CL_INVALID_VALUE, create(whole, 0, 0, 4 * a + 1));
  EXPECT_EQ(CL_INVALID_VALUE, create(whole, 0, 4 * a, 1));
  EXPECT_EQ(CL_INVALID_VALUE, create(whole, 0, 3 * a, a + 1));
  EXPECT_EQ(CL_INVALID_VALUE, create(whole, 0, a, SIZE_MAX)) << "origin + size wraps around";
  EXPECT_EQ(CL_INVALID_VALUE, create(whole, 0, SIZE_MAX - a + 1, a)) << "origin + size wraps around to 0";
}

TEST_F(clCreateSubBuffer, GivenNoSizeThenInvalidBufferSize) {
  EXPECT_EQ(CL_INVALID_BUFFER_SIZE, create(parent(), 0, 0, 0));
}

TEST_F(clCreateSubBuffer, GivenBadCreateTypeOrInfoThenInvalidValue) {
  const Mem whole = parent();
  const cl_buffer_region region = {0, 8};
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateSubBuffer(whole, 0, 0, &region, &err));
  EXPECT_EQ(CL_INVALID_VALUE, err);
  err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, nullptr, &err));
  EXPECT_EQ(CL_INVALID_VALUE, err);
}

TEST_F(clCreateSubBuffer, GivenNoErrorPointerThenCreated) {
  const Mem whole = parent();
  const cl_buffer_region region = {0, 8};
  made = Mem(::clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, nullptr));
  EXPECT_NE(nullptr, made.get());
}

}  // namespace clique::test::suite_clCreateSubBuffer
