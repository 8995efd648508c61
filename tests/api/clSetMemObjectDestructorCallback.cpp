// clSetMemObjectDestructorCallback: OpenCL 3.0, section 5.5.2.
#include <atomic>

#include "helpers.hpp"

namespace clique::test::suite_clSetMemObjectDestructorCallback {

class clSetMemObjectDestructorCallback : public ApiTest {
 protected:
  using Calls = DestructorCalls<cl_mem>;
  using Callback = Calls::Callback;
  Calls calls;
};

TEST_F(clSetMemObjectDestructorCallback, GivenSeveralThenCalledOnceEachInReverseOrder) {
  Mem mem = buffer<cl_int>(4);
  const cl_mem handle = mem;
  Callback callbacks[] = {{&calls, 0}, {&calls, 1}, {&calls, 2}};
  for (Callback& callback : callbacks)
    ASSERT_CL(::clSetMemObjectDestructorCallback(mem, Calls::note, &callback));
  EXPECT_EQ(0U, calls.count());
  mem.reset();
  EXPECT_EQ((std::vector<Calls::Call>{{handle, 2}, {handle, 1}, {handle, 0}}), calls.wait_for(3));
}

TEST_F(clSetMemObjectDestructorCallback, GivenReferencesLeftThenNotCalled) {
  Mem mem = buffer<cl_int>(4);
  Callback callback{&calls, 0};
  ASSERT_CL(::clSetMemObjectDestructorCallback(mem, Calls::note, &callback));
  ASSERT_CL(clRetainMemObject(mem));
  ASSERT_CL(clReleaseMemObject(mem));
  EXPECT_EQ(0U, calls.count());
  mem.reset();
  EXPECT_EQ(1U, calls.wait_for(1).size());
}

TEST_F(clSetMemObjectDestructorCallback, GivenSubBufferThenParentsCallbackComesAfterItsRelease) {
  Mem mem = buffer<cl_int>(64);
  const cl_buffer_region region = {0, 16};
  cl_int err = CL_SUCCESS;
  Mem sub(clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  Callback of_parent{&calls, 0};
  Callback of_sub{&calls, 1};
  ASSERT_CL(::clSetMemObjectDestructorCallback(mem, Calls::note, &of_parent));
  ASSERT_CL(::clSetMemObjectDestructorCallback(sub, Calls::note, &of_sub));
  mem.reset();
  EXPECT_EQ(0U, calls.count());
  sub.reset();
  const std::vector<Calls::Call> seen = calls.wait_for(2);
  ASSERT_EQ(2U, seen.size());
  EXPECT_EQ(1, seen[0].second);
  EXPECT_EQ(0, seen[1].second);
}

TEST_F(clSetMemObjectDestructorCallback, GivenCommandThatUsesTheBufferThenCalledAfterIt) {
  Mem mem = buffer<cl_int>(4);
  const Mem target = buffer<cl_int>(4);
  Callback callback{&calls, 0};
  ASSERT_CL(::clSetMemObjectDestructorCallback(mem, Calls::note, &callback));
  const Event gate = user_event();
  Event copied;
  ASSERT_CL(clEnqueueCopyBuffer(queue, mem, target, 0, 0, 16, 1, gate.ptr(), copied.out()));
  ASSERT_CL(clFlush(queue));
  mem.reset();
  EXPECT_EQ(0U, calls.count()) << "the host memory would be freed under a command that still runs";
  ASSERT_CL(clSetUserEventStatus(gate, CL_COMPLETE));
  ASSERT_CL(clWaitForEvents(1, copied.ptr()));
  copied.reset();
  EXPECT_EQ(1U, calls.wait_for(1).size());
}

TEST_F(clSetMemObjectDestructorCallback, GivenUsedHostMemoryThenItCanBeFreedInTheCallback) {
  struct Host {
    std::vector<cl_int> memory = std::vector<cl_int>(1024, 1);
    std::atomic<bool> freed = false;
  } host;
  cl_int err = CL_SUCCESS;
  Mem mem(clCreateBuffer(context, CL_MEM_USE_HOST_PTR, host.memory.size() * sizeof(cl_int),
                         host.memory.data(), &err));
  ASSERT_EQ(CL_SUCCESS, err);
  const auto free_it = [](cl_mem, void* user_data) {
    auto* it = static_cast<Host*>(user_data);
    it->memory = {};
    it->freed = true;
  };
  ASSERT_CL(::clSetMemObjectDestructorCallback(mem, free_it, &host));
  const cl_int pattern = 9;
  ASSERT_CL(clEnqueueFillBuffer(queue, mem, &pattern, sizeof pattern, 0, 4096, 0, nullptr, nullptr));
  ASSERT_CL(clFinish(queue));
  mem.reset();
  EXPECT_TRUE(eventually([&] { return host.freed.load(); }));
}

TEST_F(clSetMemObjectDestructorCallback, GivenNoCallbackThenInvalidValue) {
  const Mem mem = buffer<cl_int>(4);
  EXPECT_EQ(CL_INVALID_VALUE, ::clSetMemObjectDestructorCallback(mem, nullptr, nullptr));
}

TEST_F(clSetMemObjectDestructorCallback, GivenNullThenInvalidMemObject) {
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, ::clSetMemObjectDestructorCallback(nullptr, Calls::note, nullptr));
}

}  // namespace clique::test::suite_clSetMemObjectDestructorCallback
