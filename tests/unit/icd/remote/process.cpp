#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "icd/remote/nodes/detached_process.hpp"
#include "icd/remote/nodes/embedded.hpp"
#include "icd/remote/process.hpp"
#include "unit/icd/remote/fakes.hpp"

namespace clique::icd::test {
namespace {

using namespace std::chrono_literals;

// Sanitizers do not support forked children of processes with threads: their own locks may stay locked there.
#if !defined(CLIQUE_SANITIZE_ADDRESS) && !defined(CLIQUE_SANITIZE_THREAD)
/// Runs check() in a forked child. @returns its exit status, or -1 if it did not exit in time.
int in_child(const std::function<int()>& check) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);
    ::_exit(check());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Fork, MakesTheParentsLinksForeign) {
  Connection c;
  c.open();
  std::atomic<bool> stop{false};
  // Other threads hold locks while the process forks.
  std::thread busy([&] {
    while (!stop.load()) c.link->post(protocol::Marker{{1, 1, 0, {}}});
  });
  std::thread waiting([&] { c.link->wait([&] { return stop.load(); }); });
  const auto generation = process_generation();
  for (int i = 0; i < 20; ++i) {
    const int status = in_child([&] {
      if (process_generation() == generation) return 1;
      if (!c.link->lost()) return 2;
      c.link->post(protocol::Marker{{1, 1, 0, {}}});
      c.link->flush();
      if (c.link->wait([] { return false; })) return 3;
      try {
        c.link->request<protocol::Finished>(protocol::Finish{0, 1});
        return 4;
      } catch (const Error&) {
      }
      c.link->close();
      c.link.reset();
      return 0;
    });
    ASSERT_EQ(status, 0);
  }
  stop = true;
  busy.join();
  waiting.join();
  EXPECT_FALSE(c.link->lost());
  EXPECT_EQ(c.link->request<protocol::Finished>(protocol::Finish{0, 1}).status, 0);
}

TEST(Fork, LetsTheChildOpenItsOwn) {
  Connection c;
  c.open();
  FakeWorker another;
  const auto endpoint = another.endpoint();
  EXPECT_EQ(in_child([&] {
              auto* zmq = new protocol::ZmqContext(1);
              auto* recorder = new Recorder;
              auto* link = new Link(*zmq, endpoint, kPatience);
              link->start(*recorder);
              return link->request<protocol::Finished>(protocol::Finish{0, 1}).status == 0 ? 0 : 1;
            }),
            0);
  EXPECT_EQ(c.link->request<protocol::Finished>(protocol::Finish{0, 1}).status, 0);
}

TEST(Exit, NeedsNoRelease) {
  FakeWorker worker;
  const auto endpoint = worker.endpoint();
  EXPECT_EQ(in_child([&] {
              static auto* const zmq = new protocol::ZmqContext(1);
              static auto* const recorder = new Recorder;
              static auto* const link = new Link(*zmq, endpoint, kPatience);
              link->start(*recorder);
              for (int i = 0; i < 100; ++i) link->post(protocol::Marker{{1, 1, 0, {}}});
              std::exit(7);
              return 0;
            }),
            7);
}
#endif

std::atomic<int> child_signals{0};

TEST(DetachedProcess, IsNobodysChild) {
  struct sigaction action{};
  struct sigaction before{};
  action.sa_handler = [](int) { ++child_signals; };
  ::sigaction(SIGCHLD, &action, &before);
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  // The program prints its descriptors, its parent, its group and its signals.
  start_detached("/bin/sh",
                 {"sh", "-c",
                  "echo $(ls /proc/self/fd | wc -l) $PPID $(cut -d' ' -f5 /proc/$$/stat) $$ "
                  "$(grep SigBlk /proc/$$/status | cut -f2) >&3"},
                 ends[1]);
  ::close(ends[1]);
  char text[256] = {};
  std::string said;
  for (ssize_t n = 0; (n = ::read(ends[0], text, sizeof text)) != 0;)
    if (n > 0) said.append(text, static_cast<std::size_t>(n));
  ::close(ends[0]);
  std::istringstream words(said);
  int descriptors = 0;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t self = 0;
  std::string blocked;
  words >> descriptors >> parent >> group >> self >> blocked;
  // 0, 1 (the pipe to wc), 2, 3, and ls's own.
  EXPECT_EQ(descriptors, 5) << said;
  EXPECT_NE(parent, ::getpid());
  EXPECT_EQ(group, self);
  EXPECT_EQ(blocked.find_first_not_of('0'), std::string::npos) << said;
  int status = 0;
  EXPECT_EQ(::waitpid(self, &status, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  // Nor has another process that ended become a zombie. A sanitizer's symbolizer may be a child that runs.
  EXPECT_LE(::waitpid(-1, &status, WNOHANG), 0);
  EXPECT_EQ(child_signals.load(), 0);
  ::sigaction(SIGCHLD, &before, nullptr);
}

TEST(DetachedProcess, ThatDoesNotExistIsAnError) {
  EXPECT_THROW(start_detached("/nonexistent/cliqued", {"cliqued"}, 2), std::system_error);
}

}  // namespace
}  // namespace clique::icd::test
