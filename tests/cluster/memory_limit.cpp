// Commands that fail at the node because a session has no memory left, and which have no event. Wants nodes
// whose sessions have room for one of two buffers.
#include "../api/helpers.hpp"

namespace clique::test {

/// In a context of one device, or of all nodes'.
class MemoryLimit : public ApiTest, public ::testing::WithParamInterface<bool> {
 protected:
  static constexpr std::size_t kSize = std::size_t{40} << 20U;

  void SetUp() override {
    ApiTest::SetUp();
    if (HasFatalFailure() || !GetParam()) return;
    cl_int status = CL_SUCCESS;
    context = Context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status));
    ASSERT_CL(status);
    queue = make_queue(0, device);
  }
  void fill(cl_mem mem, char value) {
    ASSERT_CL(clEnqueueFillBuffer(queue, mem, &value, 1, 0, kSize, 0, nullptr, nullptr));
  }
  /// The second one of these commands fails.
  void fill_both() {
    first_ = buffer<char>(kSize);
    second_ = buffer<char>(kSize);
    fill(first_, 1);
    fill(second_, 2);
  }
  cl_int read(std::size_t size, cl_bool blocking, cl_event* event = nullptr) {
    data_.assign(size, 0);
    return clEnqueueReadBuffer(queue, first_, blocking, 0, size, data_.data(), 0, nullptr, event);
  }

  Mem first_;
  Mem second_;
  std::vector<char> data_;
};

TEST_P(MemoryLimit, GivenCommandWithoutEventThatFailsThenSoDoesTheNextBlockingRead) {
  for (const std::size_t size : {std::size_t{64}, std::size_t{256} << 10U, std::size_t{16} << 20U}) {
    fill_both();
    EXPECT_EQ(CL_MEM_OBJECT_ALLOCATION_FAILURE, read(size, CL_TRUE)) << size;
    EXPECT_CL(read(size, CL_TRUE));
    EXPECT_EQ(std::vector<char>(size, 1), data_);
    EXPECT_CL(clFinish(queue));
  }
}

TEST_P(MemoryLimit, GivenCommandWithoutEventThatFailsThenSoDoesTheEventOfTheNextRead) {
  fill_both();
  Event event;
  ASSERT_CL(read(64, CL_FALSE, event.out()));
  EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, event.ptr()));
  EXPECT_EQ(CL_MEM_OBJECT_ALLOCATION_FAILURE, status_of(event));
  EXPECT_CL(clFinish(queue));
}

TEST_P(MemoryLimit, GivenReadBeforeTheCommandThatFailsThenItDoesNot) {
  first_ = buffer<char>(kSize);
  second_ = buffer<char>(kSize);
  fill(first_, 1);
  std::vector<char> earlier(std::size_t{16} << 20U);
  Event event;
  ASSERT_CL(clEnqueueReadBuffer(queue, first_, CL_FALSE, 0, earlier.size(), earlier.data(), 0, nullptr,
                                event.out()));
  fill(second_, 2);
  EXPECT_EQ(CL_MEM_OBJECT_ALLOCATION_FAILURE, read(64, CL_TRUE));
  EXPECT_EQ(CL_COMPLETE, status_of(event));
  EXPECT_EQ(std::vector<char>(earlier.size(), 1), earlier);
}

TEST_P(MemoryLimit, GivenReadWithoutEventThenTheNextFinishFails) {
  fill_both();
  ASSERT_CL(read(64, CL_FALSE));
  EXPECT_EQ(CL_MEM_OBJECT_ALLOCATION_FAILURE, clFinish(queue));
  EXPECT_CL(clFinish(queue));
}

TEST_P(MemoryLimit, GivenCommandWithoutEventThatFailsThenSoDoesTheNextBlockingMap) {
  fill_both();
  cl_int status = CL_SUCCESS;
  EXPECT_EQ(nullptr,
            clEnqueueMapBuffer(queue, first_, CL_TRUE, CL_MAP_READ, 0, 64, 0, nullptr, nullptr, &status));
  EXPECT_EQ(CL_MEM_OBJECT_ALLOCATION_FAILURE, status);
  EXPECT_CL(clFinish(queue));
}

INSTANTIATE_TEST_SUITE_P(Contexts, MemoryLimit, ::testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "OfOneDevice" : "OfAllNodes");
});

}  // namespace clique::test
