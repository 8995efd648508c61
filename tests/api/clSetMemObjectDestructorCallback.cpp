// clSetMemObjectDestructorCallback: OpenCL 3.0, section 5.5.2.
#include <atomic>
#include <mutex>

#include "checks.hpp"

namespace clique::test {

class clSetMemObjectDestructorCallback : public ApiTest {
 protected:
  struct Calls {
    std::mutex mutex;
    std::vector<std::pair<cl_mem, int>> seen;
    size_t count() {
      const std::lock_guard lock(mutex);
      return seen.size();
    }
  };
  struct Entry {
    Calls* calls;
    int number;
  };
  static void CL_CALLBACK note(cl_mem mem, void* user_data) {
    auto* entry = static_cast<Entry*>(user_data);
    const std::lock_guard lock(entry->calls->mutex);
    entry->calls->seen.emplace_back(mem, entry->number);
  }
  Calls calls;
};

TEST_F(clSetMemObjectDestructorCallback, GivenSeveralThenCalledOnceEachInReverseOrder) {
  Mem mem = buffer<cl_int>(4);
  const cl_mem handle = mem;
  Entry entries[] = {{&calls, 0}, {&calls, 1}, {&calls, 2}};
  for (Entry& entry : entries) ASSERT_CL(::clSetMemObjectDestructorCallback(mem, note, &entry));
  EXPECT_EQ(0U, calls.count());
  mem.reset();
  ASSERT_TRUE(eventually([&] { return calls.count() >= 3; }));
  EXPECT_EQ((std::vector<std::pair<cl_mem, int>>{{handle, 2}, {handle, 1}, {handle, 0}}), calls.seen);
}

TEST_F(clSetMemObjectDestructorCallback, GivenReferencesLeftThenNotCalled) {
  Mem mem = buffer<cl_int>(4);
  Entry entry{&calls, 0};
  ASSERT_CL(::clSetMemObjectDestructorCallback(mem, note, &entry));
  ASSERT_CL(clRetainMemObject(mem));
  ASSERT_CL(clReleaseMemObject(mem));
  EXPECT_EQ(0U, calls.count());
  mem.reset();
  EXPECT_TRUE(eventually([&] { return calls.count() == 1; }));
}

TEST_F(clSetMemObjectDestructorCallback, GivenSubBufferThenParentsCallbackComesAfterItsRelease) {
  Mem mem = buffer<cl_int>(64);
  const cl_buffer_region region = {0, 16};
  cl_int err = CL_SUCCESS;
  Mem sub(clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  Entry of_parent{&calls, 0};
  Entry of_sub{&calls, 1};
  ASSERT_CL(::clSetMemObjectDestructorCallback(mem, note, &of_parent));
  ASSERT_CL(::clSetMemObjectDestructorCallback(sub, note, &of_sub));
  mem.reset();
  EXPECT_EQ(0U, calls.count());
  sub.reset();
  ASSERT_TRUE(eventually([&] { return calls.count() == 2; }));
  EXPECT_EQ(1, calls.seen[0].second);
  EXPECT_EQ(0, calls.seen[1].second);
}

TEST_F(clSetMemObjectDestructorCallback, GivenCommandThatUsesTheBufferThenCalledAfterIt) {
  Mem mem = buffer<cl_int>(4);
  const Mem target = buffer<cl_int>(4);
  Entry entry{&calls, 0};
  ASSERT_CL(::clSetMemObjectDestructorCallback(mem, note, &entry));
  const Event gate = user_event();
  Event copied;
  ASSERT_CL(clEnqueueCopyBuffer(queue, mem, target, 0, 0, 16, 1, gate.ptr(), copied.out()));
  ASSERT_CL(clFlush(queue));
  mem.reset();
  EXPECT_EQ(0U, calls.count()) << "the host memory would be freed under a command that still runs";
  ASSERT_CL(clSetUserEventStatus(gate, CL_COMPLETE));
  ASSERT_CL(clWaitForEvents(1, copied.ptr()));
  copied.reset();
  EXPECT_TRUE(eventually([&] { return calls.count() == 1; }));
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
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, ::clSetMemObjectDestructorCallback(nullptr, note, nullptr));
}

}  // namespace clique::test
