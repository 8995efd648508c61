// CompilerProcess: what happens when clique-compiler crashes, hangs or answers nonsense; and the cache.
#include <CL/cl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "fixture.hpp"

namespace clique::daemon::compiler {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using std::chrono::steady_clock;

const char* const kGood = "__kernel void k(__global int* x) { *x = 1; }";

/// The running child processes.
std::vector<pid_t> children() {
  std::ifstream list("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  std::vector<pid_t> pids;
  for (pid_t pid = 0; list >> pid;) pids.push_back(pid);
  return pids;
}

TEST(Process, GivenItIsKilledWhenAskedAgainThenItIsStartedAgain) {
  const auto before = children();
  CompilerProcess compiler(find_compiler(), Cache(""));
  ASSERT_EQ(compiler.run(build_request(kGood), kLimit).status, CL_SUCCESS);
  for (const pid_t pid : children())
    if (std::find(before.begin(), before.end(), pid) == before.end()) ::kill(pid, SIGKILL);
  EXPECT_EQ(compiler.run(build_request(kGood), kLimit).status, CL_SUCCESS);
}

TEST(Process, GivenItIsGoneWhenDestroyedThenNoChildIsLeft) {
  const auto before = children();
  {
    CompilerProcess compiler(find_compiler(), Cache(""));
    compiler.warm();
    EXPECT_EQ(children().size(), before.size() + 1);
  }
  EXPECT_EQ(children(), before);
}

TEST(Process, GivenItTakesTooLongWhenTheTimeIsOverThenItIsStopped) {
  const Script slow("exec sleep 100\n");
  CompilerProcess compiler(slow.path(), Cache(""));
  const auto begin = steady_clock::now();
  const Result result = compiler.run(build_request(kGood), seconds(1));
  EXPECT_LT(steady_clock::now() - begin, seconds(10));
  EXPECT_EQ(result.status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_TRUE(contains(result.log, "more than 1 seconds"));
}

TEST(Process, GivenItReadsNothingWhenTheRequestIsLargeThenTheTimeCounts) {
  const Script slow("exec sleep 100\n");
  CompilerProcess compiler(slow.path(), Cache(""));
  std::string large;
  large.resize(10'000'000, ' ');
  EXPECT_TRUE(contains(compiler.run(build_request(large), seconds(1)).log, "more than 1 seconds"));
}

TEST(Process, GivenItCrashesWhenAskedThenTheLogSaysHow) {
  const Script crashing("head -c 100 <&3 >/dev/null; kill -SEGV $$\n");
  CompilerProcess compiler(crashing.path(), Cache(""));
  for (int i = 0; i < 2; ++i) {
    const Result result = compiler.run(build_request(kGood), kLimit);
    EXPECT_EQ(result.status, CL_BUILD_PROGRAM_FAILURE);
    EXPECT_TRUE(contains(result.log, "crashed"));
  }
}

TEST(Process, GivenItAnswersNonsenseWhenAskedThenThatIsAFailure) {
  const Script wrong("printf '\\003\\000\\000\\000abc' >&3; exec sleep 100\n");
  CompilerProcess compiler(wrong.path(), Cache(""));
  const Result result = compiler.run(build_request(kGood), kLimit);
  EXPECT_EQ(result.status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_TRUE(contains(result.log, "invalid"));
}

TEST(Process, GivenThereIsNoCompilerWhenAskedThenTheLogSaysSo) {
  CompilerProcess compiler("/no/such/program", Cache(""));
  compiler.warm();
  Request request = build_request(kGood);
  request.kind = Request::Kind::Compile;
  const Result result = compiler.run(request, kLimit);
  EXPECT_EQ(result.status, CL_COMPILE_PROGRAM_FAILURE);
  EXPECT_TRUE(contains(result.log, "cannot be started"));
}

TEST(Process, GivenNoPathWhenAskedThenTheLogSaysSo) {
  CompilerProcess compiler("", Cache(""));
  EXPECT_TRUE(contains(compiler.run(build_request(kGood), kLimit).log, "no clique-compiler"));
}

TEST(Process, GivenSourceOfTooManyBytesWhenAskedThenItIsRefused) {
  const Result result = shared_compiler().run(build_request(std::string((64U << 20U) + 1, ' ')), kLimit);
  EXPECT_EQ(result.status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_TRUE(contains(result.log, "too large"));
}

class CachedProcess : public testing::Test {
 protected:
  CachedProcess() {
    std::string name = fs::temp_directory_path() / "clique-cached-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~CachedProcess() override { fs::remove_all(folder_); }

  /// Whether the request was answered without starting a process.
  static bool is_cached(CompilerProcess& compiler, const Request& request) {
    const auto before = children();
    EXPECT_EQ(compiler.run(request, kLimit).status, CL_SUCCESS);
    return children() == before;
  }
  std::size_t entries() const {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      count += entry.is_regular_file() ? 1 : 0;
    return count;
  }

  std::string folder_;
};

TEST_F(CachedProcess, GivenResultWhenAskedAgainThenItComesFromDisk) {
  const Request request = build_request(kGood);
  CompilerProcess first(find_compiler(), Cache(folder_));
  EXPECT_FALSE(is_cached(first, request));
  CompilerProcess second(find_compiler(), Cache(folder_));
  EXPECT_TRUE(is_cached(second, request));
  Request other = request;
  other.options = "-DA";
  EXPECT_FALSE(is_cached(second, other));
  other = request;
  other.architecture = "sm_80";
  CompilerProcess third(find_compiler(), Cache(folder_));
  EXPECT_FALSE(is_cached(third, other));
}

TEST_F(CachedProcess, GivenFailureWhenAskedThenItIsNotKept) {
  CompilerProcess compiler(find_compiler(), Cache(folder_));
  EXPECT_EQ(compiler.run(build_request("syntax error"), kLimit).status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_EQ(entries(), 0U);
}

TEST_F(CachedProcess, GivenIncludedFileWhenItsTextChangesThenTheProgramIsCompiledAgain) {
  Request request = build_request("#include \"name.h\"\n__kernel void NAME() {}");
  request.folder = "/home/client";
  request.file_paths = {"/home/client/name.h"};
  CompilerProcess compiler(find_compiler(), Cache(folder_));
  const auto name = [&](const std::string& text) {
    request.files = {text};
    return parse_program_binary(compiler.run(request, kLimit).binary).kernels.at(0).name;
  };
  EXPECT_EQ(name("#define NAME first\n"), "first");
  EXPECT_EQ(name("#define NAME second\n"), "second");
  EXPECT_EQ(entries(), 2U);
  EXPECT_EQ(name("#define NAME first\n"), "first");
  EXPECT_EQ(entries(), 2U);
}

}  // namespace
}  // namespace clique::daemon::compiler
