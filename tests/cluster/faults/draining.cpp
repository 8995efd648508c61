// Taking a node out of service while applications use it.
#include <csignal>

#include "nodes.hpp"

namespace clique::test {

class Draining : public TwoNodes {
 protected:
  Draining() { drain_timeout = 600; }
  bool available(size_t index) {
    return info<cl_bool>(clGetDeviceInfo, devices()[index], CL_DEVICE_AVAILABLE) == CL_TRUE;
  }
  void drain() {
    ASSERT_EQ(0, ::kill(nodes[0].daemon().pid(), SIGTERM));
    ASSERT_TRUE(eventually(kLossLimit, [&] { return nodes[0].log().find("draining") != std::string::npos; }))
        << nodes[0].log();
  }
};

/// A program that starts while a node drains.
class LateProgram : public ::testing::Test {};

TEST_F(LateProgram, DISABLED_SaysWhatDevicesThereAre) {
  ASSERT_NE(nullptr, platform());
  std::fprintf(stderr, "%zu devices\n", devices().size());
}

TEST_F(Draining, WhoIsThereFinishesAndWhoComesIsToldWhy) {
  for (const Queue& one : queues) expect_works(one, 2);
  drain();
  Child late = start_test("LateProgram.DISABLED_SaysWhatDevicesThereAre",
                          {{"CLIQUE_NODES", nodes[0].address() + "," + nodes[1].address()}});
  EXPECT_EQ(0, late.wait(std::chrono::seconds(20))) << late.output();
  EXPECT_NE(std::string::npos, late.output().find("1 devices")) << late.output();
  EXPECT_NE(std::string::npos,
            late.output().find("cannot be reached: cliqued refused: node alpha is draining"))
      << late.output();

  // The session works as before, also with objects that are created now.
  EXPECT_TRUE(available(0));
  const Context another(clCreateContext(nullptr, 1, devices().data(), nullptr, nullptr, nullptr));
  EXPECT_NE(nullptr, another.get());
  for (const Queue& one : queues) expect_works(one, 3);
}

TEST_F(Draining, DevicesAreNotAvailableOnceTheNodeHasStopped) {
  for (const Queue& one : queues) expect_works(one, 2);
  const Event running = start_endless(queues[0]);
  drain();
  EXPECT_TRUE(available(0));
  const std::string said = stderr_of([&] {
    ASSERT_EQ(0, ::kill(nodes[0].daemon().pid(), SIGTERM));
    EXPECT_NE(CL_SUCCESS, WITHIN(kLossLimit, clWaitForEvents(1, running.ptr())));
  });
  EXPECT_EQ(0U, said.find("clique: node alpha: the worker ended the session: ")) << said;
  EXPECT_LT(status_of(running), 0);
  EXPECT_EQ(0, nodes[0].daemon().wait(kLossLimit)) << nodes[0].log();
  EXPECT_FALSE(available(0));
  EXPECT_TRUE(available(1));
  cl_int err = CL_SUCCESS;
  const Context refused(clCreateContext(nullptr, 1, devices().data(), nullptr, nullptr, &err));
  EXPECT_EQ(CL_DEVICE_NOT_AVAILABLE, err);
  expect_works(queues[1], 3);
}

}  // namespace clique::test
