// clSetContentSizeBufferPoCL: cl_pocl_content_size.
#include "svm.hpp"

namespace clique::test::suite_clSetContentSizeBufferPoCL {

class clSetContentSizeBufferPoCL : public ApiTest {
 protected:
  using Function = cl_int(CL_API_CALL*)(cl_mem, cl_mem);

  void SetUp() override {
    ApiTest::SetUp();
    if (HasFatalFailure()) return;
    const std::string extensions = info<std::string>(clGetPlatformInfo, platform(), CL_PLATFORM_EXTENSIONS);
    if (extensions.find("cl_pocl_content_size") == std::string::npos)
      GTEST_SKIP() << "the platform lacks cl_pocl_content_size";
    set_content_size = reinterpret_cast<Function>(
        clGetExtensionFunctionAddressForPlatform(platform(), "clSetContentSizeBufferPoCL"));
    ASSERT_NE(nullptr, set_content_size);
  }
  Function set_content_size = nullptr;
};

TEST_F(clSetContentSizeBufferPoCL, GivenDevicesThenAllReportIt) {
  for (cl_device_id one : devices())
    EXPECT_NE(std::string::npos,
              info<std::string>(clGetDeviceInfo, one, CL_DEVICE_EXTENSIONS).find("cl_pocl_content_size"));
}

TEST_F(clSetContentSizeBufferPoCL, GivenContentThenTheMeantPartIsEverywhere) {
  std::vector<cl_uint> data(1000);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<cl_uint>(i * i);
  const cl_ulong size = 1234;
  for (cl_device_id first : devices()) {
    const Mem mem = buffer<cl_uint>(data.size());
    const Mem sizes = buffer<cl_ulong>(1);
    ASSERT_CL(set_content_size(mem, sizes));
    const Queue writer = make_queue(0, first);
    ASSERT_CL(clEnqueueWriteBuffer(writer, mem, CL_TRUE, 0, data.size() * sizeof(cl_uint), data.data(), 0,
                                   nullptr, nullptr));
    ASSERT_CL(clEnqueueWriteBuffer(writer, sizes, CL_TRUE, 0, sizeof size, &size, 0, nullptr, nullptr));
    for (cl_device_id other : devices()) {
      const Queue reader = make_queue(0, other);
      std::vector<cl_uint> result(data.size());
      ASSERT_CL(clEnqueueReadBuffer(reader, mem, CL_TRUE, 0, result.size() * sizeof(cl_uint), result.data(),
                                    0, nullptr, nullptr));
      EXPECT_EQ(0, std::memcmp(data.data(), result.data(), size));
    }
  }
}

TEST_F(clSetContentSizeBufferPoCL, GivenContentOfTheHostThenTheMeantPartIsThere) {
  std::vector<cl_uint> data(1000, 7);
  const cl_ulong size = 1234;
  const Mem mem = buffer<cl_uint>(data.size(), data.data());
  const Mem sizes = buffer<cl_ulong>(1, &size);
  ASSERT_CL(set_content_size(mem, sizes));
  std::vector<cl_uint> result(data.size());
  ASSERT_CL(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, result.size() * sizeof(cl_uint), result.data(), 0,
                                nullptr, nullptr));
  EXPECT_EQ(0, std::memcmp(data.data(), result.data(), size));
}

TEST_F(clSetContentSizeBufferPoCL, GivenSizeInSharedVirtualMemoryThenTheMeantPartIsEverywhere) {
  if (!std::all_of(devices().begin(), devices().end(), has_svm)) GTEST_SKIP() << "no shared virtual memory";
  const std::vector<cl_uint> data(1000, 7);
  const cl_ulong both[] = {4, 1234};
  auto* allocation = static_cast<cl_ulong*>(clSVMAlloc(context, CL_MEM_READ_WRITE, sizeof both, 0));
  ASSERT_NE(nullptr, allocation);
  for (cl_device_id first : devices()) {
    const Mem mem = buffer<cl_uint>(data.size());
    cl_int err = CL_SUCCESS;
    const Mem sizes(clCreateBuffer(context, CL_MEM_USE_HOST_PTR, sizeof(cl_ulong), allocation + 1, &err));
    ASSERT_EQ(CL_SUCCESS, err);
    ASSERT_CL(set_content_size(mem, sizes));
    const Queue writer = make_queue(0, first);
    ASSERT_CL(clEnqueueSVMMemcpy(writer, CL_TRUE, allocation, both, sizeof both, 0, nullptr, nullptr));
    ASSERT_CL(clEnqueueWriteBuffer(writer, mem, CL_TRUE, 0, data.size() * sizeof(cl_uint), data.data(), 0,
                                   nullptr, nullptr));
    for (cl_device_id other : devices()) {
      const Queue reader = make_queue(0, other);
      std::vector<cl_uint> result(data.size());
      ASSERT_CL(clEnqueueReadBuffer(reader, mem, CL_TRUE, 0, result.size() * sizeof(cl_uint), result.data(),
                                    0, nullptr, nullptr));
      EXPECT_EQ(0, std::memcmp(data.data(), result.data(), both[1]));
    }
  }
  clSVMFree(context, allocation);
}

TEST_F(clSetContentSizeBufferPoCL, GivenSizeThatWasReleasedThenItIsStillMeant) {
  std::vector<cl_uint> data(1000, 7);
  const cl_ulong size = 1234;
  const Mem mem = buffer<cl_uint>(data.size(), data.data());
  Mem sizes = buffer<cl_ulong>(1, &size);
  ASSERT_CL(set_content_size(mem, sizes));
  sizes.reset();
  std::vector<cl_uint> result(data.size());
  ASSERT_CL(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, result.size() * sizeof(cl_uint), result.data(), 0,
                                nullptr, nullptr));
  EXPECT_EQ(0, std::memcmp(data.data(), result.data(), size));
}

TEST_F(clSetContentSizeBufferPoCL, GivenNoLiveObjectThenInvalidMemObject) {
  const Mem mem = buffer<cl_ulong>(4);
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, set_content_size(nullptr, mem));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, set_content_size(mem, nullptr));
}

TEST_F(clSetContentSizeBufferPoCL, GivenSubBufferAsSizeThenInvalidMemObject) {
  const Mem mem = buffer<cl_ulong>(4);
  const Mem whole = buffer<cl_ulong>(4);
  const cl_buffer_region region = {0, sizeof(cl_ulong)};
  cl_int err = CL_SUCCESS;
  const Mem part(clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, set_content_size(mem, part));
}

TEST_F(clSetContentSizeBufferPoCL, GivenSizeThatIsTooSmallThenInvalidBufferSize) {
  const Mem mem = buffer<cl_ulong>(4);
  const Mem sizes = buffer<cl_uint>(1);
  EXPECT_EQ(CL_INVALID_BUFFER_SIZE, set_content_size(mem, sizes));
}

TEST_F(clSetContentSizeBufferPoCL, GivenAnotherContextsBufferThenInvalidContext) {
  const OtherContext other;
  const Mem mem = buffer<cl_ulong>(4);
  EXPECT_EQ(CL_INVALID_CONTEXT, set_content_size(mem, other.buffer));
}

TEST_F(clSetContentSizeBufferPoCL, GivenBuffersThatWouldBeEachOthersSizeThenInvalidMemObject) {
  const Mem mem = buffer<cl_ulong>(4);
  const Mem sizes = buffer<cl_ulong>(4);
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, set_content_size(mem, mem));
  ASSERT_CL(set_content_size(mem, sizes));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, set_content_size(sizes, mem));
}

}  // namespace clique::test::suite_clSetContentSizeBufferPoCL
