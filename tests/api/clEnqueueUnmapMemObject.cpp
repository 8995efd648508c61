// clEnqueueUnmapMemObject: OpenCL 3.0, section 5.5.4.
#include <algorithm>

#include "checks.hpp"

namespace clique::test::suite_clEnqueueUnmapMemObject {

class clEnqueueUnmapMemObject : public ApiTest {
 protected:
  static constexpr size_t kBytes = 256;

  void SetUp() override {
    ApiTest::SetUp();
    const std::vector<unsigned char> zeros(kBytes, 0);
    mem = buffer(kBytes, zeros.data());
  }
  unsigned char* map(cl_map_flags flags = CL_MAP_READ) {
    cl_int err = CL_SUCCESS;
    void* pointer = clEnqueueMapBuffer(queue, mem, CL_TRUE, flags, 0, kBytes, 0, nullptr, nullptr, &err);
    EXPECT_EQ(CL_SUCCESS, err);
    return static_cast<unsigned char*>(pointer);
  }
  cl_int unmap(cl_mem of, void* pointer) {
    return ::clEnqueueUnmapMemObject(queue, of, pointer, 0, nullptr, nullptr);
  }
  cl_uint map_count() { return info<cl_uint>(clGetMemObjectInfo, mem.get(), CL_MEM_MAP_COUNT); }
  Mem mem;
};

TEST_F(clEnqueueUnmapMemObject, GivenMappedRegionThenMapCountFalls) {
  void* first = map();
  void* second = map();
  EXPECT_EQ(2U, map_count());
  EXPECT_CL(unmap(mem, first));
  EXPECT_CL(clFinish(queue));
  EXPECT_EQ(1U, map_count());
  EXPECT_CL(unmap(mem, second));
  EXPECT_CL(clFinish(queue));
  EXPECT_EQ(0U, map_count());
}

TEST_F(clEnqueueUnmapMemObject, GivenUnmapOnEachDeviceThenItSeesTheData) {
  unsigned char value = 0;
  for (const cl_device_id each : devices()) {
    ++value;
    unsigned char* pointer = map(CL_MAP_WRITE);
    std::fill_n(pointer, kBytes, value);
    queue = make_queue(0, each);
    EXPECT_CL(unmap(mem, pointer));
    EXPECT_EQ(std::vector<unsigned char>(kBytes, value), read<unsigned char>(mem, kBytes));
  }
}

TEST_F(clEnqueueUnmapMemObject, GivenUnmapThatWaitsThenCommandsBehindItSeeTheData) {
  unsigned char* pointer = map(CL_MAP_WRITE);
  std::fill_n(pointer, kBytes, static_cast<unsigned char>(9));
  const Event gate = user_event();
  EXPECT_CL(::clEnqueueUnmapMemObject(queue, mem, pointer, 1, gate.ptr(), nullptr));
  std::vector<unsigned char> out(kBytes);
  EXPECT_CL(clEnqueueReadBuffer(queue, mem, CL_FALSE, 0, kBytes, out.data(), 0, nullptr, nullptr));
  EXPECT_CL(clSetUserEventStatus(gate, CL_COMPLETE));
  EXPECT_CL(clFinish(queue));
  EXPECT_EQ(std::vector<unsigned char>(kBytes, 9), out);
}

TEST_F(clEnqueueUnmapMemObject, GivenPointerThatIsNotMappedThenInvalidValue) {
  unsigned char elsewhere = 0;
  EXPECT_EQ(CL_INVALID_VALUE, unmap(mem, &elsewhere));
  EXPECT_EQ(CL_INVALID_VALUE, unmap(mem, nullptr));
  unsigned char* pointer = map();
  EXPECT_EQ(CL_INVALID_VALUE, unmap(mem, pointer + kBytes + 1024));
  const Mem other = buffer<unsigned char>(kBytes);
  EXPECT_EQ(CL_INVALID_VALUE, unmap(other, pointer)) << "mapped, but from another buffer";
  EXPECT_CL(unmap(mem, pointer));
  EXPECT_CL(clFinish(queue));
  EXPECT_EQ(CL_INVALID_VALUE, unmap(mem, pointer)) << "already unmapped";
}

TEST_F(clEnqueueUnmapMemObject, GivenObjectThatIsNoMemObjectThenInvalidMemObject) {
  unsigned char* pointer = map();
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, unmap(nullptr, pointer));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, unmap(foreign_handle<cl_mem>(), pointer));
  EXPECT_CL(unmap(mem, pointer));
}

TEST_F(clEnqueueUnmapMemObject, GivenCallThenRulesOfEveryEnqueueHold) {
  void* mapped = nullptr;
  expect_enqueue_rules(context, device, CL_COMMAND_UNMAP_MEM_OBJECT,
                       [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
                         if (mapped == nullptr) mapped = map();
                         const cl_int err = ::clEnqueueUnmapMemObject(on, mem, mapped, count, list, event);
                         if (err == CL_SUCCESS) mapped = nullptr;
                         return err;
                       });
  EXPECT_EQ(nullptr, mapped);
}

}  // namespace clique::test::suite_clEnqueueUnmapMemObject
