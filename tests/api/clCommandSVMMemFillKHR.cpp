// clCommandSVMMemFillKHR: cl_khr_command_buffer 0.9.8.
#include "command_buffers.hpp"
#include "svm.hpp"

namespace clique::test::suite_clCommandSVMMemFillKHR {

class clCommandSVMMemFillKHR : public CommandBufferTest {
 protected:
  void SetUp() override {
    CommandBufferTest::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    if (!has_svm(device)) GTEST_SKIP() << "the device has no shared virtual memory";
    memory = static_cast<cl_uint*>(::clSVMAlloc(context, CL_MEM_READ_WRITE, 16 * sizeof(cl_uint), 0));
    ASSERT_NE(nullptr, memory);
  }
  void TearDown() override {
    if (memory != nullptr) ::clSVMFree(context, memory);
    CommandBufferTest::TearDown();
  }
  cl_uint* memory = nullptr;
};

TEST_F(clCommandSVMMemFillKHR, GivenPatternThenItIsThatOfTheCall) {
  in_both_forms([&] {
    const std::vector<cl_uint> zeros(16, 0);
    ASSERT_CL(::clEnqueueSVMMemcpy(queue, CL_TRUE, memory, zeros.data(), 64, 0, nullptr, nullptr));
    cl_uint pattern = 3;
    const CommandBuffer made = record_on(queue);
    ASSERT_CL(call.svm_mem_fill(made, nullptr, memory + 1, &pattern, sizeof pattern, 8, 0, nullptr, nullptr,
                                nullptr));
    pattern = 4;
    run(made);
    std::vector<cl_uint> result(16);
    ASSERT_CL(::clEnqueueSVMMemcpy(queue, CL_TRUE, result.data(), memory, 64, 0, nullptr, nullptr));
    std::vector<cl_uint> expected = zeros;
    expected[1] = expected[2] = 3;
    EXPECT_EQ(expected, result);
  });
}

TEST_F(clCommandSVMMemFillKHR, GivenWrongArgumentsThenErrorsOfTheEnqueue) {
  in_both_forms([&] {
    const CommandBuffer made = record_on(queue);
    const cl_uint pattern = 3;
    std::vector<cl_uint> outside(16);
    const auto fill = [&](void* to, const void* with, size_t with_size, size_t size) {
      return call.svm_mem_fill(made, nullptr, to, with, with_size, size, 0, nullptr, nullptr, nullptr);
    };
    EXPECT_EQ(CL_INVALID_VALUE, fill(nullptr, &pattern, 4, 4));
    EXPECT_EQ(CL_INVALID_VALUE, fill(outside.data(), &pattern, 4, 4));
    EXPECT_EQ(CL_INVALID_VALUE, fill(memory, nullptr, 4, 4));
    EXPECT_EQ(CL_INVALID_VALUE, fill(memory, &pattern, 3, 3));
    EXPECT_EQ(CL_INVALID_VALUE, fill(memory, &pattern, 4, 68));
  });
}

TEST_F(clCommandSVMMemFillKHR, GivenCallThenRulesOfEveryRecordingHold) {
  const cl_uint pattern = 3;
  in_both_forms([&] {
    expect_recording_rules([&](auto recording, auto on, auto... rest) {
      return call.svm_mem_fill(recording, on, memory, &pattern, sizeof pattern, 64, rest...);
    });
  });
}

TEST_F(clCommandSVMMemFillKHR, GivenPropertiesOrHandleThenInvalidValue) {
  const cl_uint pattern = 3;
  expect_no_properties([&](auto recording, auto on, auto properties, auto... rest) {
    return call.svm_mem_fill.newer(recording, on, properties, memory, &pattern, sizeof pattern, 64, rest...);
  });
}

}  // namespace clique::test::suite_clCommandSVMMemFillKHR
