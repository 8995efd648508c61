// A node whose disk is full: sessions go on, and programs are built.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "harness.hpp"
#include "ids.hpp"

namespace clique::test {
namespace {

namespace fs = std::filesystem;

/// A disk of 1 MiB, for this process and its children alone, with the node's log and its driver's cache on
/// it.
class FullDisk : public testing::Test {
 protected:
  void SetUp() override {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", disk_.c_str(), "tmpfs", 0, "size=1m") != 0)
      GTEST_SKIP() << "only root may mount a disk";
    ::setenv("TMPDIR", disk_.c_str(), 1);
    ::setenv("XDG_CACHE_HOME", disk_.c_str(), 1);
    ::setenv("XDG_RUNTIME_DIR", memory_.c_str(), 1);
    ::unsetenv("POCL_CACHE_DIR");
  }
  void TearDown() override {
    for (const char* name : {"TMPDIR", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"}) ::unsetenv(name);
    ::umount2(disk_.c_str(), MNT_DETACH);
    fs::remove_all(disk_);
    fs::remove_all(memory_);
  }

  /// Until not a byte fits.
  void fill() const {
    const int fd = ::open((disk_ / "fill").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const std::vector<char> zeros(4096);
    while (::write(fd, zeros.data(), zeros.size()) > 0) {
    }
    ::close(fd);
    ASSERT_EQ(fs::space(disk_).available, 0U);
  }

  static void expect_works(Client& client, int factor) {
    constexpr CommandId kLaunch = 101, kRead = 102;
    const ProgramBuilt built =
        client.set_up("kernel void scale(global int* to) { to[get_global_id(0)] = " + std::to_string(factor) +
                      " * get_global_id(0); }");
    ASSERT_EQ(built.status, 0) << built.devices.at(0).log;
    client.send(CreateBuffer{kBuffer, kContext, kReadWrite, 4096}, CreateKernel{kKernel, kProgram, "scale"},
                RunKernel{command(kLaunch), kKernel, {object_arg(0, kBuffer)}, {}, {1024}, {}},
                ReadBuffer{command(kRead), 0, kBuffer, 0, 4096});
    EXPECT_EQ(client.ended(kLaunch).status, 0);
    const auto data = client.data(kRead);
    ASSERT_EQ(data.size(), 4096U);
    EXPECT_EQ(reinterpret_cast<const int*>(data.data())[1000], factor * 1000);
  }

  static fs::path folder() {
    std::string name = fs::temp_directory_path() / "clique-test-XXXXXX";
    return ::mkdtemp(name.data());
  }
  const fs::path disk_ = folder();
  const fs::path memory_ = folder();
};

TEST_F(FullDisk, GivenNoRoomThenProgramsAreBuiltElsewhere) {
  const Node node({"--devices", "0"});
  fill();
  // The second one's worker starts, and all that it has to say is, after there is no room for it.
  for (int i = 0; i < 3; ++i) {
    Client client(node);
    expect_works(client, 3 + i);
    client.send(Goodbye{});
  }
  EXPECT_TRUE(eventually([&] {
    return node.logged("has less than 32 MiB of free space for compiled programs; using " + memory_.string());
  })) << node.log();
  EXPECT_FALSE(fs::is_empty(memory_));
}

}  // namespace
}  // namespace clique::test
