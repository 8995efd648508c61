// Content that many nodes need at the same time. The counters of the nodes' network devices show which node
// sends it.
#include <chrono>
#include <fstream>

#include "links.hpp"

namespace clique::test {

class Spread : public LinkTest {
 protected:
  static constexpr size_t size = 16U << 20U;
  static constexpr size_t part = size / 4;

  /// Bytes that each node has sent so far.
  std::vector<size_t> sent() const {
    std::vector<size_t> result;
    for (const std::string& pid : namespaces) {
      std::ifstream devices("/proc/" + pid + "/net/dev");
      for (std::string line; std::getline(devices, line);) {
        const size_t colon = line.find("eth0:");
        if (colon == std::string::npos) continue;
        // The column of sent bytes follows eight columns about received data.
        std::istringstream columns(line.substr(colon + 5));
        size_t bytes = 0;
        for (int i = 0; i < 9; ++i) columns >> bytes;
        result.push_back(bytes);
      }
    }
    EXPECT_EQ(namespaces.size(), result.size());
    return result;
  }
  /// The bytes that each node sends during a call.
  template <typename Call>
  std::vector<size_t> sent_by(Call&& call) const {
    const std::vector<size_t> before = sent();
    call();
    std::vector<size_t> after = sent();
    for (size_t i = 0; i < after.size(); ++i) after[i] -= before[i];
    return after;
  }
  void fill(size_t node, cl_mem mem, cl_uint value, size_t begin = 0, size_t bytes = size) {
    ASSERT_CL(
        clEnqueueFillBuffer(queues[node], mem, &value, sizeof value, begin, bytes, 0, nullptr, nullptr));
    ASSERT_CL(clFinish(queues[node]));
  }
  void bring_to(size_t node, const Mem& mem) {
    ASSERT_CL(clEnqueueMigrateMemObjects(queues[node], 1, mem.ptr(), 0, 0, nullptr, nullptr));
    ASSERT_CL(clFlush(queues[node]));
  }
  /// Lets nodes 0, 1, 2 and 0 again write one part each. @returns the whole content.
  std::vector<cl_uint> fill_parts(cl_mem mem) {
    std::vector<cl_uint> whole;
    for (cl_uint i = 0; i < 4; ++i) {
      fill(i % 3, mem, i, i * part, part);
      whole.insert(whole.end(), part / sizeof(cl_uint), i);
    }
    return whole;
  }
  std::vector<cl_uint> content(size_t node, cl_mem mem) {
    std::vector<cl_uint> data(size / sizeof(cl_uint));
    EXPECT_CL(clEnqueueReadBuffer(queues[node], mem, CL_TRUE, 0, size, data.data(), 0, nullptr, nullptr));
    return data;
  }
};

TEST_F(Spread, GivenContentForAllThenItsWriterSendsItOnce) {
  const Mem mem = buffer<cl_uint>(size / sizeof(cl_uint));
  const cl_uint value = 0xABCD;
  Gate gate(context);
  ASSERT_CL(clEnqueueFillBuffer(queues[0], mem, &value, sizeof value, 0, size, 1, gate.ptr(), nullptr));
  for (size_t node = 1; node < queues.size(); ++node) bring_to(node, mem);
  const auto bytes = sent_by([&] {
    gate.open();
    for (const Queue& one : queues) ASSERT_CL(clFinish(one));
  });
  EXPECT_GE(bytes[0], size);
  EXPECT_LT(bytes[0], size + size / 4);
  EXPECT_GE(bytes[1], size) << "hands it on";
  EXPECT_LT(bytes[2], size / 4);
  for (size_t node = 0; node < queues.size(); ++node)
    EXPECT_EQ(std::vector<cl_uint>(size / sizeof(cl_uint), value), content(node, mem)) << node;
}

TEST_F(Spread, GivenNodeThatComputesThenItStillSends) {
  const Program program = build(
      "kernel void compute(global float* out) {\n"
      "  float x = get_global_id(0);\n"
      "  for (int i = 0; i < 50000000; ++i) x = x * 0.999f + 1.0f;\n"
      "  out[get_global_id(0)] = x;\n"
      "}\n");
  constexpr size_t groups = 32, one = 1;
  const Mem mem = buffer<cl_uint>(size / sizeof(cl_uint)), out = buffer<cl_float>(groups);
  const cl_uint value = 0xABCD;
  ASSERT_CL(clEnqueueFillBuffer(queues[0], mem, &value, sizeof value, 0, size, 0, nullptr, nullptr));
  ASSERT_CL(clFinish(queues[0]));
  const Kernel compute = kernel(program, "compute");
  ASSERT_CL(clSetKernelArg(compute, 0, sizeof(cl_mem), out.ptr()));
  const auto launch = [&] {
    ASSERT_CL(clEnqueueNDRangeKernel(queues[0], compute, 1, nullptr, &groups, &one, 0, nullptr, nullptr));
    ASSERT_CL(clFlush(queues[0]));
  };
  // The driver compiles it.
  launch();
  ASSERT_CL(clFinish(queues[0]));
  const auto begin = std::chrono::steady_clock::now();
  launch();
  EXPECT_EQ(std::vector<cl_uint>(size / sizeof(cl_uint), value), content(1, mem));
  const auto sent = std::chrono::steady_clock::now() - begin;
  ASSERT_CL(clFinish(queues[0]));
  const auto computed = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(2 * sent, computed) << "the content came only when the kernel was about to end";
}

TEST_F(Spread, GivenContentOfTheHostThenNodesHandItOn) {
  std::vector<cl_uint> data(size / sizeof(cl_uint));
  std::iota(data.begin(), data.end(), 0U);
  const Mem mem = buffer<cl_uint>(data.size(), data.data());
  const auto bytes = sent_by([&] {
    for (size_t node = 0; node < queues.size(); ++node) bring_to(node, mem);
    for (const Queue& one : queues) ASSERT_CL(clFinish(one));
  });
  EXPECT_GE(bytes[0], size);
  EXPECT_GE(bytes[0] + bytes[1], 2 * size);
  for (size_t node = 0; node < queues.size(); ++node) EXPECT_EQ(data, content(node, mem)) << node;
}

TEST_F(Spread, GivenPartsOnManyNodesThenEachSendsItsOwn) {
  const Mem mem = buffer<cl_uint>(size / sizeof(cl_uint));
  const std::vector<cl_uint> expected = fill_parts(mem);
  const auto bytes = sent_by([&] {
    bring_to(2, mem);
    ASSERT_CL(clFinish(queues[2]));
  });
  EXPECT_GE(bytes[0], 2 * part);
  EXPECT_LT(bytes[0], 3 * part);
  EXPECT_GE(bytes[1], part);
  EXPECT_LT(bytes[1], 2 * part);
  EXPECT_LT(bytes[2], part);
  EXPECT_EQ(expected, content(2, mem));
}

TEST_F(Spread, GivenPartsOnManyNodesWhenTheHostReadsThenEachSendsItsOwn) {
  const Mem mem = buffer<cl_uint>(size / sizeof(cl_uint));
  const std::vector<cl_uint> expected = fill_parts(mem);
  const auto bytes = sent_by([&] { EXPECT_EQ(expected, content(2, mem)); });
  EXPECT_LT(bytes[0], 3 * part);
  EXPECT_LT(bytes[1], 2 * part);
  EXPECT_LT(bytes[2], 2 * part);
  EXPECT_EQ(expected, content(1, mem));
}

TEST_F(Spread, GivenPartsThatAreYetToBeWrittenWhenTheHostReadsThenItWaits) {
  const size_t part = size / 2;
  const Mem mem = buffer<cl_uint>(size / sizeof(cl_uint));
  Gate gate(context);
  Gate turn(context);
  std::vector<cl_uint> expected;
  std::vector<Event> written(2);
  for (cl_uint i = 0; i < 2; ++i) {
    ASSERT_CL(
        clEnqueueFillBuffer(queues[i], mem, &i, sizeof i, i * part, part, 1, gate.ptr(), written[i].out()));
    expected.insert(expected.end(), part / sizeof(cl_uint), i);
  }
  const std::vector<cl_event> waits = {written[0], written[1], turn};
  std::vector<cl_uint> data(size / sizeof(cl_uint), 99);
  Event read;
  ASSERT_CL(clEnqueueReadBuffer(queues[2], mem, CL_FALSE, 0, size, data.data(), 3, waits.data(), read.out()));
  for (const Queue& one : queues) ASSERT_CL(clFlush(one));
  gate.open();
  ASSERT_CL(clWaitForEvents(2, waits.data()));
  EXPECT_EQ(std::vector<cl_uint>(data.size(), 99), data);
  EXPECT_GT(status_of(read), CL_COMPLETE);
  turn.open();
  ASSERT_CL(clWaitForEvents(1, read.ptr()));
  EXPECT_EQ(expected, data);
}

TEST_F(Spread, GivenWaitThatFailsWhenTheHostReadsPartsThenItFailsAndReadsNothing) {
  const size_t part = size / 2;
  const Mem mem = buffer<cl_uint>(size / sizeof(cl_uint));
  for (cl_uint i = 0; i < 2; ++i) fill(i, mem, i, i * part, part);
  for (const bool at_once : {false, true}) {
    Gate turn(context);
    if (at_once) turn.fail();
    std::vector<cl_uint> data(size / sizeof(cl_uint), 99);
    Event read;
    ASSERT_CL(clEnqueueReadBuffer(queues[2], mem, CL_FALSE, 0, size, data.data(), 1, turn.ptr(), read.out()));
    ASSERT_CL(clFlush(queues[2]));
    if (!at_once) turn.fail();
    EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, read.ptr()));
    EXPECT_EQ(std::vector<cl_uint>(data.size(), 99), data);
  }
  std::vector<cl_uint> expected(part / sizeof(cl_uint), 0);
  expected.resize(size / sizeof(cl_uint), 1);
  EXPECT_EQ(expected, content(2, mem));
}

TEST_F(Spread, GivenContentSizeThenNoMoreThanThatIsSent) {
  using Function = cl_int(CL_API_CALL*)(cl_mem, cl_mem);
  const auto set_content_size = reinterpret_cast<Function>(
      clGetExtensionFunctionAddressForPlatform(platform(), "clSetContentSizeBufferPoCL"));
  ASSERT_NE(nullptr, set_content_size);
  const Program program = build(R"(
kernel void produce(global uint* data, global ulong* size) {
  const size_t i = get_global_id(0);
  data[i] = 3 * i;
  if (i == 0) *size = 2 << 20;
})");
  const Kernel produce = kernel(program, "produce");
  const Mem mem = buffer<cl_uint>(size / sizeof(cl_uint));
  const Mem sizes = buffer<cl_ulong>(1);
  ASSERT_CL(set_content_size(mem, sizes));
  set_args(produce, mem, sizes);
  Gate gate(context);
  ASSERT_CL(launch(queues[0], produce, size / sizeof(cl_uint), {gate}, nullptr));
  for (size_t node = 1; node < queues.size(); ++node) bring_to(node, mem);
  const auto bytes = sent_by([&] {
    gate.open();
    for (const Queue& one : queues) ASSERT_CL(clFinish(one));
  });
  for (size_t node = 0; node < 2; ++node) {
    EXPECT_GE(bytes[node], 2U << 20U) << node;
    EXPECT_LT(bytes[node], 3U << 20U) << node;
  }
  for (size_t node = 0; node < queues.size(); ++node) {
    const std::vector<cl_uint> data = content(node, mem);
    for (cl_uint i = 0; i < (2U << 20U) / sizeof(cl_uint); ++i) ASSERT_EQ(3 * i, data[i]) << node;
  }
}

}  // namespace clique::test
