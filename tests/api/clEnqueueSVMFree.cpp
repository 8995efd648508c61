// clEnqueueSVMFree: OpenCL 3.0, section 5.6.2.
#include "svm.hpp"

namespace clique::test::suite_clEnqueueSVMFree {

class clEnqueueSVMFree : public SvmTest {
 protected:
  struct Call {
    cl_command_queue queue;
    std::vector<void*> pointers;
  };
  struct Seen {
    Calls<Call> calls;
    cl_context context = nullptr;
  };
  static void CL_CALLBACK called(cl_command_queue queue, cl_uint count, void* pointers[], void* data) {
    auto* seen = static_cast<Seen*>(data);
    for (cl_uint i = 0; i < count; ++i) clSVMFree(seen->context, pointers[i]);
    seen->calls.add({queue, std::vector<void*>(pointers, pointers + count)});
  }
  bool is_allocated(void* pointer) {
    const char zero = 0;
    return clEnqueueSVMMemFill(queue, pointer, &zero, 1, 1, 0, nullptr, nullptr) == CL_SUCCESS;
  }
};

TEST_F(clEnqueueSVMFree, GivenPointersThenFreedAtItsTurn) {
  void* pointers[] = {clSVMAlloc(context, 0, 64, 0), clSVMAlloc(context, 0, 64, 0)};
  const std::vector<void*> kept(pointers, pointers + 2);
  const Queue other = make_queue(0, device);
  {
    Gate gate(context);
    Event event;
    ASSERT_CL(::clEnqueueSVMFree(other, 2, pointers, nullptr, nullptr, 1, gate.ptr(), event.out()));
    pointers[0] = pointers[1] = nullptr;  // the call must have copied the list
    EXPECT_CL(clFlush(other));
    EXPECT_GT(status_of(event), CL_COMPLETE);
    for (void* pointer : kept) EXPECT_TRUE(is_allocated(pointer));
    EXPECT_CL(clFinish(queue));
    gate.open();
    EXPECT_CL(clWaitForEvents(1, event.ptr()));
  }
  for (void* pointer : kept) EXPECT_FALSE(is_allocated(pointer));
}

TEST_F(clEnqueueSVMFree, GivenCallbackThenItFreesBeforeTheCommandEnds) {
  Seen seen;
  seen.context = context;
  void* pointers[] = {clSVMAlloc(context, 0, 64, 0), clSVMAlloc(context, 0, 64, 0)};
  const std::vector<void*> kept(pointers, pointers + 2);
  ASSERT_CL(::clEnqueueSVMFree(queue, 2, pointers, called, &seen, 0, nullptr, nullptr));
  EXPECT_CL(clFinish(queue));
  const auto calls = seen.calls.wait_for(1);
  ASSERT_EQ(1U, calls.size());
  EXPECT_EQ(queue.get(), calls[0].queue);
  EXPECT_EQ(kept, calls[0].pointers);
  for (void* pointer : kept) EXPECT_FALSE(is_allocated(pointer));
}

TEST_F(clEnqueueSVMFree, GivenOtherPointersThenTheirOwnersKeepThem) {
  std::vector<unsigned char> memory(64, 0xA5);
  void* pointers[] = {memory.data(), nullptr};
  EXPECT_CL(::clEnqueueSVMFree(queue, 2, pointers, nullptr, nullptr, 0, nullptr, nullptr));
  EXPECT_CL(clFinish(queue));
  EXPECT_EQ(std::vector<unsigned char>(64, 0xA5), memory);
}

TEST_F(clEnqueueSVMFree, GivenListAndCountThatDisagreeThenInvalidValue) {
  void* pointers[] = {nullptr};
  EXPECT_EQ(CL_INVALID_VALUE, ::clEnqueueSVMFree(queue, 0, pointers, nullptr, nullptr, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, ::clEnqueueSVMFree(queue, 1, nullptr, nullptr, nullptr, 0, nullptr, nullptr));
}

TEST_F(clEnqueueSVMFree, GivenAnyEnqueueThenCommonRulesHold) {
  const auto free = [](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
    void* pointers[] = {nullptr};
    return ::clEnqueueSVMFree(on, 1, pointers, nullptr, nullptr, count, list, event);
  };
  expect_enqueue_rules(context, device, CL_COMMAND_SVM_FREE, free, CL_SUCCESS);
  expect_failed_event_ends_command(context, device, free);
}

}  // namespace clique::test::suite_clEnqueueSVMFree
