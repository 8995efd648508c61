// clSetContextDestructorCallback: OpenCL 3.0, section 4.4.
#include "helpers.hpp"

namespace clique::test::suite_clSetContextDestructorCallback {

class clSetContextDestructorCallback : public ApiTest {
 protected:
  using Calls = DestructorCalls<cl_context>;
  using Callback = Calls::Callback;
  Calls calls;
};

TEST_F(clSetContextDestructorCallback, GivenSeveralThenCalledOnceEachInReverseOrder) {
  Context other = another_context();
  const cl_context handle = other;
  Callback callbacks[] = {{&calls, 0}, {&calls, 1}, {&calls, 2}};
  for (Callback& callback : callbacks)
    ASSERT_CL(::clSetContextDestructorCallback(other, Calls::note, &callback));
  EXPECT_EQ(0U, calls.count());
  other.reset();
  EXPECT_EQ((std::vector<Calls::Call>{{handle, 2}, {handle, 1}, {handle, 0}}), calls.wait_for(3));
}

TEST_F(clSetContextDestructorCallback, GivenSameCallbackTwiceThenCalledTwice) {
  Context other = another_context();
  Callback callback{&calls, 7};
  ASSERT_CL(::clSetContextDestructorCallback(other, Calls::note, &callback));
  ASSERT_CL(::clSetContextDestructorCallback(other, Calls::note, &callback));
  other.reset();
  EXPECT_EQ(2U, calls.wait_for(2).size());
}

TEST_F(clSetContextDestructorCallback, GivenReferencesLeftThenNotCalled) {
  Context other = another_context();
  Callback callback{&calls, 0};
  ASSERT_CL(::clSetContextDestructorCallback(other, Calls::note, &callback));
  ASSERT_CL(clRetainContext(other));
  ASSERT_CL(clReleaseContext(other));
  EXPECT_EQ(0U, calls.count());
  other.reset();
  EXPECT_EQ(1U, calls.wait_for(1).size());
}

TEST_F(clSetContextDestructorCallback, GivenObjectsOfTheContextThenCalledAfterTheLastIsGone) {
  Context other = another_context();
  cl_int err = CL_SUCCESS;
  Mem mem(clCreateBuffer(other, CL_MEM_READ_WRITE, 64, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  Callback callback{&calls, 0};
  ASSERT_CL(::clSetContextDestructorCallback(other, Calls::note, &callback));
  other.reset();
  EXPECT_EQ(0U, calls.count());
  mem.reset();
  EXPECT_EQ(1U, calls.wait_for(1).size());
}

TEST_F(clSetContextDestructorCallback, GivenNoCallbackThenInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE, ::clSetContextDestructorCallback(context, nullptr, nullptr));
}

TEST_F(clSetContextDestructorCallback, GivenNullThenInvalidContext) {
  EXPECT_EQ(CL_INVALID_CONTEXT, ::clSetContextDestructorCallback(nullptr, Calls::note, nullptr));
}

}  // namespace clique::test::suite_clSetContextDestructorCallback
