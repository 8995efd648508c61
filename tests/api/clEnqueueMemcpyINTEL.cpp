// clEnqueueMemcpyINTEL: cl_intel_unified_shared_memory.
#include <algorithm>

#include "usm.hpp"

namespace clique::test::suite_clEnqueueMemcpyINTEL {

class clEnqueueMemcpyINTEL : public UsmTest {};

TEST_F(clEnqueueMemcpyINTEL, GivenAnyMemoryThenCopied) {
  const auto a = on_device<cl_int>(100);
  const auto b = on_device<cl_int>(100);
  std::vector<cl_int> host = numbers(100);
  std::vector<cl_int> back(100);
  for (const cl_bool blocking : {CL_TRUE, CL_FALSE}) {
    std::fill(back.begin(), back.end(), 0);
    EXPECT_CL(copy(queue, blocking, a.get(), host.data(), 400, 0, nullptr, nullptr));
    EXPECT_CL(copy(queue, blocking, b.get() + 1, a.get(), 396, 0, nullptr, nullptr));
    EXPECT_CL(copy(queue, blocking, back.data(), b.get() + 1, 396, 0, nullptr, nullptr));
    EXPECT_CL(copy(queue, blocking, back.data() + 99, host.data() + 99, 4, 0, nullptr, nullptr));
    EXPECT_CL(::clFinish(queue));
    EXPECT_EQ(host, back);
  }
}

TEST_F(clEnqueueMemcpyINTEL, GivenHostAllocationsThenCopiedOfAnySizeFromAnywhere) {
  use_mapping_device();
  if (IsSkipped()) return;
  constexpr size_t kMost = 5'000'000;  // more than travels with a command
  const auto a = on_host<unsigned char>(kMost + 64);
  const auto b = on_host<unsigned char>(kMost + 64);
  const auto c = on_device<unsigned char>(kMost + 64);
  std::vector<unsigned char> host(kMost);
  std::iota(host.begin(), host.end(), static_cast<unsigned char>(7));
  for (const size_t size : {size_t{1}, size_t{16}, size_t{100}, size_t{4'096}, size_t{100'003}, kMost}) {
    for (const auto& [from, to] : {std::pair{0, 0}, {16, 32}, {3, 4}, {8, 3}}) {
      std::fill_n(a.get(), size + 64, static_cast<unsigned char>(0));
      std::fill_n(b.get(), size + 64, static_cast<unsigned char>(1));
      std::vector<unsigned char> back(size);
      EXPECT_CL(copy(queue, CL_FALSE, a.get() + from, host.data(), size, 0, nullptr, nullptr));
      EXPECT_CL(copy(queue, CL_FALSE, c.get() + to, a.get() + from, size, 0, nullptr, nullptr));
      EXPECT_CL(copy(queue, CL_FALSE, a.get() + from, c.get() + to, size, 0, nullptr, nullptr));
      EXPECT_CL(copy(queue, CL_FALSE, b.get() + to, a.get() + from, size, 0, nullptr, nullptr));
      EXPECT_CL(copy(queue, CL_TRUE, back.data(), b.get() + to, size, 0, nullptr, nullptr));
      EXPECT_TRUE(std::equal(back.begin(), back.end(), host.begin()))
          << size << " from " << from << " to " << to;
      EXPECT_TRUE(std::equal(back.begin(), back.end(), b.get() + to))
          << size << " from " << from << " to " << to;
      EXPECT_EQ(1, b[static_cast<size_t>(to) + size]) << "behind it";
      EXPECT_EQ(1, to > 0 ? b[static_cast<size_t>(to) - 1] : 1) << "before it";
    }
  }
}

TEST_F(clEnqueueMemcpyINTEL, GivenSeveralDevicesThenTheContentFollows) {
  const auto data = on_device<cl_int>(1000);
  write_usm(data.get(), numbers(1000));
  for (cl_device_id each : devices()) {
    const Queue on = make_queue(0, each);
    std::vector<cl_int> back(1000);
    EXPECT_CL(copy(on, CL_TRUE, back.data(), data.get(), 4000, 0, nullptr, nullptr));
    EXPECT_EQ(numbers(1000), back);
  }
}

TEST_F(clEnqueueMemcpyINTEL, GivenWrongArgumentsThenErrors) {
  const auto data = on_device<char>(64);
  char host[64] = {};
  const auto copied = [&](void* to, const void* from, size_t size) {
    return copy(queue, CL_TRUE, to, from, size, 0, nullptr, nullptr);
  };
  EXPECT_EQ(CL_INVALID_VALUE, copied(nullptr, host, 64));
  EXPECT_EQ(CL_INVALID_VALUE, copied(data.get(), nullptr, 64));
  EXPECT_EQ(CL_INVALID_VALUE, copied(data.get() + 1, host, 64)) << "leaves the allocation";
  EXPECT_EQ(CL_MEM_COPY_OVERLAP, copied(data.get() + 1, data.get(), 32));
  EXPECT_CL(copied(data.get(), host, 0));
}

TEST_F(clEnqueueMemcpyINTEL, GivenAnyEnqueueThenCommonRulesHold) {
  std::vector<char> to(64);
  const std::vector<char> from(64);
  const auto enqueue = [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
    return copy(on, CL_FALSE, to.data(), from.data(), 64, count, list, event);
  };
  // Host memory belongs to no context.
  expect_enqueue_rules(context, device, CL_COMMAND_MEMCPY_INTEL, enqueue, CL_SUCCESS);
  expect_failed_event_ends_command(context, device, enqueue);
}

}  // namespace clique::test::suite_clEnqueueMemcpyINTEL
