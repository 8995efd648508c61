// Programs that pass invalid pointers. As with native drivers, the call that received the pointer raises
// SIGSEGV. That ends the program and nothing else.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "nodes.hpp"

namespace clique::test {

namespace {

constexpr size_t kSmall = 4096;
constexpr size_t kLarge = size_t{16} << 20U;

/// The exit status of a process that faults in the call.
constexpr int kInTheCall = 41;
constexpr int kElsewhere = 42;

pid_t calling_thread = 0;

void tell_who_faulted(int /*signal*/) {
  ::_exit(::gettid() == calling_thread ? kInTheCall : kElsewhere);
}

/// Memory that may not be accessed, or not be written, depending on `protection`.
std::byte* memory(size_t size, int protection) {
  void* const mapped = ::mmap(nullptr, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mapped != MAP_FAILED ? static_cast<std::byte*>(mapped) : nullptr;
}

/// Mapped content of a file, which may not be written.
void* file(size_t size) {
  const int fd = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  ::close(fd);
  return mapped;
}

}  // namespace

/// The processes that pass invalid pointers. CLIQUE_TEST_CALL says which call each of them makes.
class WrongPointer : public ApiTest {
 protected:
  void call(const std::string& name, cl_bool blocking, size_t size) {
    const Mem mem = buffer<char>(size);
    const auto write = [&](const void* from) {
      return clEnqueueWriteBuffer(queue, mem, blocking, 0, size, from, 0, nullptr, nullptr);
    };
    const auto read = [&](void* to) {
      return clEnqueueReadBuffer(queue, mem, blocking, 0, size, to, 0, nullptr, nullptr);
    };
    const auto create = [&](cl_mem_flags flags, void* from) {
      cl_int err = CL_SUCCESS;
      const Mem created(clCreateBuffer(context, flags, size, from, &err));
      return err;
    };
    // The test does not examine what the device has done.
    ASSERT_CL(clFinish(queue));
    calling_thread = ::gettid();
    for (const int number : {SIGSEGV, SIGBUS, SIGABRT}) ::signal(number, tell_who_faulted);
    cl_int status = CL_SUCCESS;
    if (name == "write") status = write(memory(size, PROT_NONE));
    if (name == "write, half") {
      std::byte* const both = memory(2 * size, PROT_READ | PROT_WRITE);
      ASSERT_EQ(0, ::mprotect(both + size, size, PROT_NONE));
      status = write(both + size / 2);
    }
    if (name == "read") status = read(memory(size, PROT_NONE));
    if (name == "read, constant") status = read(memory(size, PROT_READ));
    if (name == "read, file") status = read(file(size));
    if (name == "copy") status = create(CL_MEM_COPY_HOST_PTR, memory(size, PROT_NONE));
    if (name == "use") status = create(CL_MEM_USE_HOST_PTR, memory(size, PROT_NONE));
    if (name == "write, gone") {
      std::byte* const from = memory(size, PROT_READ);
      const Event gate = user_event();
      ASSERT_CL(clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, size, from, 1, gate.ptr(), nullptr));
      ::munmap(from, size);
      ASSERT_CL(clSetUserEventStatus(gate, CL_COMPLETE));
    }
    if (name == "read, gone") {
      std::byte* const to = memory(size, PROT_READ | PROT_WRITE);
      const Event gate = user_event();
      ASSERT_CL(clEnqueueReadBuffer(queue, mem, CL_FALSE, 0, size, to, 1, gate.ptr(), nullptr));
      ::munmap(to, size);
      ASSERT_CL(clSetUserEventStatus(gate, CL_COMPLETE));
    }
    ASSERT_CL(status);
    ASSERT_CL(clFinish(queue));
  }
};

TEST_F(WrongPointer, DISABLED_IsGiven) {
  const char* const name = std::getenv("CLIQUE_TEST_CALL");
  ASSERT_NE(nullptr, name);
  call(name, std::getenv("CLIQUE_TEST_BLOCKING") != nullptr ? CL_TRUE : CL_FALSE,
       std::getenv("CLIQUE_TEST_LARGE") != nullptr ? kLarge : kSmall);
}

/// Another session, which must continue meanwhile.
class Memory : public TwoNodes {
 protected:
  /// Runs a process that passes an invalid pointer.
  /// @returns its exit status
  int end_of(const std::string& call, bool blocking, bool large, bool shared) {
    std::map<std::string, std::string> environment{{"CLIQUE_NODES", nodes[0].address()},
                                                   {"CLIQUE_SHARED_MEMORY", shared ? "1" : "0"},
                                                   {"CLIQUE_TEST_CALL", call}};
    if (blocking) environment["CLIQUE_TEST_BLOCKING"] = "1";
    if (large) environment["CLIQUE_TEST_LARGE"] = "1";
    Child client = start_test("WrongPointer.DISABLED_IsGiven", environment);
    const pid_t pid = client.pid();
    const int status = client.wait(std::chrono::seconds(60));
    EXPECT_NE(status, -1) << "it hangs\n" << client.output();
    // The worker ended normally, and neither the daemon nor other sessions are affected.
    EXPECT_TRUE(eventually(kLossLimit, [&] { return !alive(nodes[0].worker(pid)); }));
    EXPECT_EQ(nodes[0].log().find("a worker of"), std::string::npos) << nodes[0].log();
    expect_works(queues[0], 3);
    return status;
  }
};

TEST_F(Memory, ThatIsNotThereIsAFaultOfTheCall) {
  for (const char* call : {"write", "write, half", "read", "read, constant", "read, file", "copy", "use"})
    for (const bool shared : {false, true})
      for (const bool large : {false, true})
        EXPECT_EQ(kInTheCall, end_of(call, false, large, shared))
            << call << (shared ? ", shared memory" : "") << (large ? ", large" : "");
  for (const char* call : {"write", "read"}) EXPECT_EQ(kInTheCall, end_of(call, true, true, false)) << call;
}

TEST_F(Memory, ThatGoesDuringACommandIsTheEndOfItsProcessAlone) {
  for (const char* call : {"write, gone", "read, gone"})
    for (const bool shared : {false, true})
      for (const bool large : {false, true}) end_of(call, false, large, shared);
}

}  // namespace clique::test
