// clReleaseMemObject: OpenCL 3.0, section 5.5.1.
#include "checks.hpp"

namespace clique::test::suite_clReleaseMemObject {

class clReleaseMemObject : public ApiTest {};

TEST_F(clReleaseMemObject, GivenRetainedBufferThenItStaysUsable) {
  const std::vector<cl_int> data = {1, 2, 3};
  const Mem mem = buffer(data.size(), data.data());
  ASSERT_CL(clRetainMemObject(mem));
  ASSERT_CL(::clReleaseMemObject(mem));
  EXPECT_EQ(1U, info<cl_uint>(clGetMemObjectInfo, mem.get(), CL_MEM_REFERENCE_COUNT));
  EXPECT_EQ(data, read<cl_int>(mem, data.size()));
}

TEST_F(clReleaseMemObject, GivenCommandsThatStillUseItThenTheyFinishProperly) {
  const std::vector<cl_int> data = {1, 2, 3, 4};
  const size_t bytes = data.size() * sizeof(cl_int);
  Mem source = buffer(data.size(), data.data());
  const Mem target = buffer<cl_int>(data.size());
  const Event gate = user_event();
  Event copied;
  ASSERT_CL(clEnqueueCopyBuffer(queue, source, target, 0, 0, bytes, 1, gate.ptr(), copied.out()));
  ASSERT_CL(::clReleaseMemObject(source.release_ownership()));
  ASSERT_CL(clSetUserEventStatus(gate, CL_COMPLETE));
  ASSERT_CL(clWaitForEvents(1, copied.ptr()));
  EXPECT_EQ(data, read<cl_int>(target, data.size()));
}

TEST_F(clReleaseMemObject, GivenManyBuffersThenAllCanBeMadeAndReleased) {
  for (int round = 0; round < 200; ++round) {
    Mem mem = buffer<cl_int>(1024);
    EXPECT_CL(::clReleaseMemObject(mem.release_ownership()));
  }
}

TEST_F(clReleaseMemObject, GivenNullThenInvalidMemObject) {
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, ::clReleaseMemObject(nullptr));
}

}  // namespace clique::test::suite_clReleaseMemObject
