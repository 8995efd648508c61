// Data structures with pointers that the host and kernels on several devices share: OpenCL 3.0, section 5.6.
#include "svm.hpp"

namespace clique::test::suite_shared_virtual_memory {

class SharedVirtualMemory : public SvmTest {
 protected:
  struct Node {
    Node* next;
    cl_int value;
  };
  static constexpr char source[] = R"(
    struct Node { global struct Node* next; int value; };
    // Every other node is in another allocation.
    kernel void make(global struct Node* even, global struct Node* odd, int count) {
      for (int i = 0; i < count; ++i) {
        global struct Node* node = (i % 2 ? odd : even) + i / 2;
        node->value = i + 1;
        node->next = i + 1 == count ? 0 : (i % 2 ? even + i / 2 + 1 : odd + i / 2);
      }
    }
    kernel void walk(global struct Node* node, global int* sum, int step) {
      *sum = 0;
      for (; node; node = node->next) *sum += node->value += step;
    })";
  static constexpr cl_int kCount = 1000;

  void SetUp() override {
    SvmTest::SetUp();
    if (IsSkipped()) return;
    program = build(source);
    make = kernel(program, "make");
    walk = kernel(program, "walk");
  }
  void set_pointer(cl_kernel k, cl_uint index, const void* pointer) {
    EXPECT_CL(clSetKernelArgSVMPointer(k, index, pointer));
  }
  /// Walks the list on the host and returns the sum of its values.
  cl_int walk_on_host(cl_command_queue on, Node* even, Node* odd) {
    constexpr size_t size = kCount / 2 * sizeof(Node);
    EXPECT_CL(clEnqueueSVMMap(on, CL_TRUE, CL_MAP_READ, even, size, 0, nullptr, nullptr));
    EXPECT_CL(clEnqueueSVMMap(on, CL_TRUE, CL_MAP_READ, odd, size, 0, nullptr, nullptr));
    cl_int sum = 0;
    for (const Node* node = even; node != nullptr; node = node->next) sum += node->value;
    EXPECT_CL(clEnqueueSVMUnmap(on, even, 0, nullptr, nullptr));
    EXPECT_CL(clEnqueueSVMUnmap(on, odd, 0, nullptr, nullptr));
    return sum;
  }

  Program program;
  Kernel make;
  Kernel walk;
};

TEST_F(SharedVirtualMemory, GivenListThatOneDeviceMakesThenAllAndTheHostWalkIt) {
  const auto even = allocate<Node>(kCount / 2);
  const auto odd = allocate<Node>(kCount / 2);
  const auto sum = allocate<cl_int>(1);
  set_pointer(make, 0, even.get());
  set_pointer(make, 1, odd.get());
  EXPECT_CL(clSetKernelArg(make, 2, sizeof kCount, &kCount));
  const cl_int step = 1;
  set_pointer(walk, 0, even.get());
  set_pointer(walk, 1, sum.get());
  EXPECT_CL(clSetKernelArg(walk, 2, sizeof step, &step));
  const void* reached[] = {odd.get()};
  EXPECT_CL(clSetKernelExecInfo(walk, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof reached, reached));

  // Each walk changes the nodes on the device where it runs.
  cl_int expected = kCount * (kCount + 1) / 2;
  EXPECT_CL(launch(queue, make, 1));
  EXPECT_CL(clFinish(queue));
  EXPECT_EQ(expected, walk_on_host(queue, even.get(), odd.get()));
  for (int round = 0; round < 3; ++round)
    for (auto each = with_svm.rbegin(); each != with_svm.rend(); ++each) {
      const Queue on = make_queue(0, *each);
      EXPECT_CL(launch(on, walk, 1));
      expected += kCount;
      EXPECT_EQ(std::vector<cl_int>{expected}, read_svm(sum.get(), 1, on));
      EXPECT_EQ(expected, walk_on_host(on, even.get(), odd.get()));
    }
}

TEST_F(SharedVirtualMemory, GivenListThatTheHostMakesThenDevicesWalkItOneAfterTheOther) {
  const auto nodes = allocate<Node>(kCount);
  const auto sum = allocate<cl_int>(1);
  constexpr size_t size = kCount * sizeof(Node);
  ASSERT_CL(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, nodes.get(), size, 0, nullptr,
                            nullptr));
  for (cl_int i = 0; i < kCount; ++i) nodes[i] = {i + 1 == kCount ? nullptr : nodes.get() + i + 1, i};
  Event last;
  EXPECT_CL(clEnqueueSVMUnmap(queue, nodes.get(), 0, nullptr, last.out()));
  const cl_int step = 2;
  set_pointer(walk, 0, nodes.get());
  set_pointer(walk, 1, sum.get());
  EXPECT_CL(clSetKernelArg(walk, 2, sizeof step, &step));
  constexpr int kWalks = 6;
  std::vector<Queue> queues;
  for (int i = 0; i < kWalks; ++i) {
    queues.push_back(make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, with_svm[i % with_svm.size()]));
    Event walked;
    EXPECT_CL(launch(queues.back(), walk, 1, {last}, walked.out()));
    last = std::move(walked);
  }
  ASSERT_CL(clWaitForEvents(1, last.ptr()));
  EXPECT_EQ(std::vector<cl_int>{kCount * (kCount - 1) / 2 + kWalks * step * kCount}, read_svm(sum.get(), 1));
}

TEST_F(SharedVirtualMemory, GivenBufferOverAllocationThenKernelsSeeWhatPointersWrite) {
  const auto data = allocate<cl_int>(2);
  cl_int err = CL_SUCCESS;
  const Mem mem(clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 4, data.get() + 1, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  const Program two = build("kernel void k(global int* a, global int* b) { *a += 1; *b = 2 * *a; }");
  const Kernel k = kernel(two, "k");
  write(data.get(), {1, 0});
  for (const cl_device_id each : with_svm) {
    const Queue on = make_queue(0, each);
    set_pointer(k, 0, data.get());
    EXPECT_CL(clSetKernelArg(k, 1, sizeof(cl_mem), mem.ptr()));
    EXPECT_CL(launch(on, k, 1));
    EXPECT_CL(clFinish(on));
    const auto content = read_svm(data.get(), 2);
    EXPECT_EQ(2 * content[0], content[1]);
    EXPECT_EQ(std::vector<cl_int>{content[1]}, read<cl_int>(mem, 1));
  }
}

TEST_F(SharedVirtualMemory, GivenProfilingThenCommandsHaveTimes) {
  const Queue on = make_queue(CL_QUEUE_PROFILING_ENABLE, device);
  const auto data = allocate<cl_int>(100);
  const cl_int one = 1;
  Event events[2];
  EXPECT_CL(clEnqueueSVMMemFill(on, data.get(), &one, 4, 400, 0, nullptr, events[0].out()));
  EXPECT_CL(clEnqueueSVMMap(on, CL_TRUE, CL_MAP_READ, data.get(), 400, 0, nullptr, events[1].out()));
  for (const Event& event : events) {
    const auto start = info<cl_ulong>(clGetEventProfilingInfo, event.get(), CL_PROFILING_COMMAND_START);
    EXPECT_LE(start, info<cl_ulong>(clGetEventProfilingInfo, event.get(), CL_PROFILING_COMMAND_END));
    EXPECT_NE(0U, start);
  }
  EXPECT_CL(clEnqueueSVMUnmap(on, data.get(), 0, nullptr, nullptr));
}

}  // namespace clique::test::suite_shared_virtual_memory
