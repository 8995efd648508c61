// A libcufile.so.0 that reads files into the memory of fake_driver. It says on standard error what it
// reads. FAKE_CUFILE names what the host is like:
//   (not set)  without GPUDirect Storage: all goes through compatibility mode, if that is allowed
//   gds        with GPUDirect Storage
//   old        as if not set, but it does not know the variable that forbids compatibility mode
//   refuse     no file can be registered
//   short      reads stop half-way
//   fail       reads fail
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr std::size_t kPage = 4096;

struct Result {
  int error, cuda;
};
struct Descriptor {
  int type;
  union {
    int fd;
    void* other;
  };
  void* operations;
};
struct Properties {
  unsigned major, minor;
  std::size_t poll_threshold, most_direct;
  unsigned file_systems, control;
};
struct File {
  int fd;
};

bool host_is(const std::string& kind) {
  const char* const text = std::getenv("FAKE_CUFILE");
  return text != nullptr && text == kind;
}

bool may_copy() {
  const char* const text = std::getenv("CUFILE_ALLOW_COMPAT_MODE");
  return host_is("old") || text == nullptr || std::strcmp(text, "true") == 0;
}

}  // namespace

EXPORT Result cuFileDriverOpen() {
  std::fputs("fake cuFile is opened\n", stderr);
  return {may_copy() || host_is("gds") ? 0 : 5001, 0};
}

EXPORT Result cuFileDriverGetProperties(Properties* properties) {
  properties->control = may_copy() ? 2 : 0;
  return {0, 0};
}

EXPORT Result cuFileHandleRegister(void** handle, Descriptor* descriptor) {
  if (host_is("refuse")) return {5008, 0};
  if ((::fcntl(descriptor->fd, F_GETFL) & O_NONBLOCK) != 0) return {5019, 0};
  *handle = new File{descriptor->fd};
  return {0, 0};
}

EXPORT void cuFileHandleDeregister(void* handle) {
  delete static_cast<File*>(handle);
}

EXPORT ssize_t cuFileRead(void* handle, void* base, std::size_t size, off_t offset, off_t at) {
  std::fprintf(stderr, "fake cuFile reads %zu bytes at %lld\n", size, static_cast<long long>(offset));
  if (host_is("fail")) return -5010;
  if (host_is("short")) size = size / 2 / kPage * kPage;
  // The file may have been opened with O_DIRECT, which needs aligned memory.
  void* const block = std::aligned_alloc(kPage, (size + kPage) / kPage * kPage);
  const ssize_t done = ::pread(static_cast<File*>(handle)->fd, block, size, offset);
  if (done > 0) std::memcpy(static_cast<char*>(base) + at, block, static_cast<std::size_t>(done));
  std::free(block);
  return done;
}
