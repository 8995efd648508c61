// What opening UCX does to the process.
#include <gtest/gtest.h>

#include <csignal>

#include "protocol/streams/ucx_channel.hpp"

namespace clique::protocol {
namespace {

TEST(UcxLibrary, LeavesTheProcessItsSignalHandlers) {
  if (!ucx_missing().empty()) GTEST_SKIP() << ucx_missing();
  // By itself, UCX has handlers for this and for faults, which sanitizers handle, too.
  struct sigaction handler{};
  ASSERT_EQ(::sigaction(SIGHUP, nullptr, &handler), 0);
  EXPECT_TRUE(handler.sa_handler == SIG_DFL || handler.sa_handler == SIG_IGN);
}

}  // namespace
}  // namespace clique::protocol
