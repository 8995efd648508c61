// clSetContextDestructorCallback: OpenCL 3.0, section 4.4.
#include <mutex>

#include "checks.hpp"

namespace clique::test {

class clSetContextDestructorCallback : public ApiTest {
 protected:
  struct Calls {
    std::mutex mutex;
    std::vector<std::pair<cl_context, int>> seen;
    size_t count() {
      const std::lock_guard lock(mutex);
      return seen.size();
    }
  };
  struct Entry {
    Calls* calls;
    int number;
  };
  static void CL_CALLBACK note(cl_context context, void* user_data) {
    auto* entry = static_cast<Entry*>(user_data);
    const std::lock_guard lock(entry->calls->mutex);
    entry->calls->seen.emplace_back(context, entry->number);
  }
  Calls calls;
};

TEST_F(clSetContextDestructorCallback, GivenSeveralThenCalledOnceEachInReverseOrder) {
  Context other = another_context();
  const cl_context handle = other;
  Entry entries[] = {{&calls, 0}, {&calls, 1}, {&calls, 2}};
  for (Entry& entry : entries) ASSERT_CL(::clSetContextDestructorCallback(other, note, &entry));
  EXPECT_EQ(0U, calls.count());
  other.reset();
  ASSERT_TRUE(eventually([&] { return calls.count() >= 3; }));
  EXPECT_EQ((std::vector<std::pair<cl_context, int>>{{handle, 2}, {handle, 1}, {handle, 0}}), calls.seen);
}

TEST_F(clSetContextDestructorCallback, GivenSameCallbackTwiceThenCalledTwice) {
  Context other = another_context();
  Entry entry{&calls, 7};
  ASSERT_CL(::clSetContextDestructorCallback(other, note, &entry));
  ASSERT_CL(::clSetContextDestructorCallback(other, note, &entry));
  other.reset();
  EXPECT_TRUE(eventually([&] { return calls.count() >= 2; }));
}

TEST_F(clSetContextDestructorCallback, GivenReferencesLeftThenNotCalled) {
  Context other = another_context();
  Entry entry{&calls, 0};
  ASSERT_CL(::clSetContextDestructorCallback(other, note, &entry));
  ASSERT_CL(clRetainContext(other));
  ASSERT_CL(clReleaseContext(other));
  EXPECT_EQ(0U, calls.count());
  other.reset();
  EXPECT_TRUE(eventually([&] { return calls.count() == 1; }));
}

TEST_F(clSetContextDestructorCallback, GivenObjectsOfTheContextThenCalledAfterTheLastIsGone) {
  Context other = another_context();
  cl_int err = CL_SUCCESS;
  Mem mem(clCreateBuffer(other, CL_MEM_READ_WRITE, 64, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  Entry entry{&calls, 0};
  ASSERT_CL(::clSetContextDestructorCallback(other, note, &entry));
  other.reset();
  EXPECT_EQ(0U, calls.count());
  mem.reset();
  EXPECT_TRUE(eventually([&] { return calls.count() == 1; }));
}

TEST_F(clSetContextDestructorCallback, GivenNoCallbackThenInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE, ::clSetContextDestructorCallback(context, nullptr, nullptr));
}

TEST_F(clSetContextDestructorCallback, GivenNullThenInvalidContext) {
  EXPECT_EQ(CL_INVALID_CONTEXT, ::clSetContextDestructorCallback(nullptr, note, nullptr));
}

}  // namespace clique::test
