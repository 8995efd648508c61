// clCommandSVMMemcpyKHR: cl_khr_command_buffer 0.9.8.
#include "command_buffers.hpp"
#include "svm.hpp"

namespace clique::test::suite_clCommandSVMMemcpyKHR {

class clCommandSVMMemcpyKHR : public CommandBufferTest {
 protected:
  void SetUp() override {
    CommandBufferTest::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    if (!has_svm(device)) GTEST_SKIP() << "the device has no shared virtual memory";
    memory = static_cast<unsigned char*>(::clSVMAlloc(context, CL_MEM_READ_WRITE, 128, 0));
    ASSERT_NE(nullptr, memory);
    ASSERT_CL(::clEnqueueSVMMemcpy(queue, CL_TRUE, memory, content.data(), 64, 0, nullptr, nullptr));
  }
  void TearDown() override {
    if (memory != nullptr) ::clSVMFree(context, memory);
    CommandBufferTest::TearDown();
  }
  const Bytes content = numbered_bytes(64);
  unsigned char* memory = nullptr;
};

TEST_F(clCommandSVMMemcpyKHR, GivenPointersThenTheBytesAreCopied) {
  in_both_forms([&] {
    const Bytes zeros(64, 0);
    ASSERT_CL(::clEnqueueSVMMemcpy(queue, CL_TRUE, memory + 64, zeros.data(), 64, 0, nullptr, nullptr));
    const CommandBuffer made = record_on(queue);
    ASSERT_CL(call.svm_memcpy(made, nullptr, memory + 64, memory, 64, 0, nullptr, nullptr, nullptr));
    run(made);
    Bytes result(64);
    ASSERT_CL(::clEnqueueSVMMemcpy(queue, CL_TRUE, result.data(), memory + 64, 64, 0, nullptr, nullptr));
    EXPECT_EQ(content, result);
  });
}

TEST_F(clCommandSVMMemcpyKHR, GivenWrongArgumentsThenErrorsOfTheEnqueue) {
  in_both_forms([&] {
    const CommandBuffer made = record_on(queue);
    Bytes outside(64);
    const auto copy = [&](void* to, const void* from, size_t size) {
      return call.svm_memcpy(made, nullptr, to, from, size, 0, nullptr, nullptr, nullptr);
    };
    EXPECT_EQ(CL_INVALID_VALUE, copy(nullptr, memory, 1));
    EXPECT_EQ(CL_INVALID_VALUE, copy(memory, nullptr, 1));
    EXPECT_EQ(CL_INVALID_VALUE, copy(outside.data(), memory, 1));
    EXPECT_EQ(CL_INVALID_VALUE, copy(memory, outside.data(), 1));
    EXPECT_EQ(CL_INVALID_VALUE, copy(memory + 100, memory, 29));
    EXPECT_EQ(CL_MEM_COPY_OVERLAP, copy(memory + 1, memory, 2));
  });
}

TEST_F(clCommandSVMMemcpyKHR, GivenCallThenRulesOfEveryRecordingHold) {
  in_both_forms([&] {
    expect_recording_rules([&](auto recording, auto on, auto... rest) {
      return call.svm_memcpy(recording, on, memory + 64, memory, 64, rest...);
    });
  });
}

TEST_F(clCommandSVMMemcpyKHR, GivenPropertiesOrHandleThenInvalidValue) {
  expect_no_properties([&](auto recording, auto on, auto properties, auto... rest) {
    return call.svm_memcpy.newer(recording, on, properties, memory + 64, memory, 64, rest...);
  });
}

}  // namespace clique::test::suite_clCommandSVMMemcpyKHR
