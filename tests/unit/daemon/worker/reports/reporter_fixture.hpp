// A reporter without a client, for the tests of what adds reports.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include "daemon/worker/reports/reporter.hpp"

namespace clique::daemon {

class WithReporter : public testing::Test {
 protected:
  WithReporter() {
    // What a worker's kernels print is not looked at here, but what the tests say is.
    ::dup2(stdout_, STDOUT_FILENO);
    ::close(stdout_);
  }

  const int stdout_ = ::dup(STDOUT_FILENO);
  zmq::context_t context_;
  PrintCapture prints_;
  Tasks tasks_;
  WaitingData waiting_{0};
  Reporter reporter_{zmq::socket_t(context_, zmq::socket_type::router), prints_, tasks_, waiting_};
};

}  // namespace clique::daemon
