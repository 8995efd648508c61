// The rate at which a file's content gets into a buffer and back: through cl_clique_file; as the application
// would do it itself, with pread() or pwrite() and a transfer of OpenCL; and, as a limit, pread() and
// pwrite() alone, as dd does. The page cache is warm, or, with --cold, has nothing of the file.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "opencl.hpp"

#include "../icd/include/CL/cl_ext_clique.h"

namespace {

using namespace bench;

struct FileOptions : OpenCLOptions {
  std::vector<size_t> sizes{16 * mib, 256 * mib};
  std::string folder = std::filesystem::temp_directory_path();
  bool cold = false;
};

/// The functions of the extension. Throws if the platform lacks it.
struct Functions {
  explicit Functions(const cl::Device& device) {
    // Releases of the C++ bindings differ in the type that getInfo<CL_DEVICE_PLATFORM>() returns.
    cl_platform_id platform = nullptr;
    device.getInfo(CL_DEVICE_PLATFORM, &platform);
    load(platform, "clCreateFileCLIQUE", create);
    load(platform, "clReleaseFileCLIQUE", release);
    load(platform, "clEnqueueReadFileCLIQUE", read);
    load(platform, "clEnqueueWriteFileCLIQUE", write);
  }
  clCreateFileCLIQUE_fn create = nullptr;
  clReleaseFileCLIQUE_fn release = nullptr;
  clEnqueueReadFileCLIQUE_fn read = nullptr;
  clEnqueueWriteFileCLIQUE_fn write = nullptr;

 private:
  template <typename F>
  static void load(cl_platform_id platform, const char* name, F& function) {
    function = reinterpret_cast<F>(clGetExtensionFunctionAddressForPlatform(platform, name));
    if (function == nullptr)
      throw std::runtime_error(std::string("the platform has no function ") + name +
                               "; name another one with " + "--platform");
  }
};

/// A file that is removed at the end.
struct Scratch {
  Scratch(const std::string& folder, size_t size)
      : path(folder + "/clique-bench-files-" + std::to_string(::getpid())) {
    fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
      throw std::runtime_error(path + ": " + std::strerror(errno) + "; name a folder with --folder");
    std::vector<unsigned char> data(size);
    for (size_t i = 0; i < size; ++i) data[i] = static_cast<unsigned char>(i * 2654435761U >> 24U);
    transfer(::pwrite, data.data(), size);
  }
  ~Scratch() {
    ::close(fd);
    ::unlink(path.c_str());
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// pread() or pwrite() of the first `size` bytes, 1 MiB at a time.
  /// @param repeat whether each piece goes to the same memory, as with dd
  template <typename Call, typename Data>
  void transfer(Call call, Data* data, size_t size, bool repeat = false) const {
    for (size_t at = 0; at < size;) {
      const ssize_t done =
          call(fd, repeat ? data : data + at, std::min(mib, size - at), static_cast<off_t>(at));
      if (done <= 0) throw std::runtime_error(path + ": " + std::strerror(errno));
      at += static_cast<size_t>(done);
    }
  }

  /// Takes the file out of the page cache.
  void forget() const {
    // Pages that are not on the disk yet would stay.
    if (::fdatasync(fd) != 0) throw std::runtime_error(path + ": fdatasync: " + std::strerror(errno));
    if (const int error = ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); error != 0)
      throw std::runtime_error(path + ": posix_fadvise: " + std::strerror(error));
  }
  /// How much of the file is in the page cache, from 0 to 1.
  double cached(size_t size) const {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) throw std::runtime_error(path + ": mmap: " + std::strerror(errno));
    std::vector<unsigned char> pages((size + page - 1) / page);
    const int result = ::mincore(mapped, size, pages.data());
    ::munmap(mapped, size);
    if (result != 0) throw std::runtime_error(path + ": mincore: " + std::strerror(errno));
    const auto there = std::count_if(pages.begin(), pages.end(), [](unsigned char one) { return one & 1U; });
    return static_cast<double>(there) / static_cast<double>(pages.size());
  }

  const std::string path;
  int fd = -1;
};

void measure(const FileOptions& options) {
  const cl::Device device = devices_of(options.platform).at(0);
  const Functions call(device);
  const cl::Context context(device);
  const cl::CommandQueue queue(context, device);
  for (const size_t size : options.sizes) {
    const Scratch scratch(options.folder, size);
    const cl::Buffer buffer(context, CL_MEM_READ_WRITE, size);
    cl_int status = CL_SUCCESS;
    const cl_file_clique file =
        call.create(context(), CL_FILE_READ_CLIQUE | CL_FILE_WRITE_CLIQUE, scratch.path.c_str(), &status);
    check(status, "clCreateFileCLIQUE");
    const std::unique_ptr<_cl_file_clique, clReleaseFileCLIQUE_fn> owner(file, call.release);
    std::vector<unsigned char> memory(size);
    if (options.cold) {
      scratch.forget();
      // Those of tmpfs have no disk, and some file systems keep their own cache.
      if (const double kept = scratch.cached(size); kept > 0.01)
        throw std::runtime_error(options.folder + " is on a file system that keeps " +
                                 std::to_string(static_cast<int>(100 * kept)) +
                                 " percent of a file in memory; name a folder on a disk with --folder");
    }
    const auto rate = [&](const char* name, auto&& work) {
      const double time = median(options.repeats, [&] {
        if (options.cold) scratch.forget();
        return seconds(work);
      });
      const double result = 1e-9 * static_cast<double>(size) / time;
      report(std::string(name) + " " + size_name(size), result, "GB/s");
      return result;
    };

    const double limit = rate("pread alone", [&] { scratch.transfer(::pread, memory.data(), size, true); });
    rate("pread and clEnqueueWriteBuffer", [&] {
      scratch.transfer(::pread, memory.data(), size);
      check(clEnqueueWriteBuffer(queue(), buffer(), CL_TRUE, 0, size, memory.data(), 0, nullptr, nullptr),
            "clEnqueueWriteBuffer");
      check(clFinish(queue()), "clFinish");
    });
    std::vector<unsigned char> expected = memory;
    scratch.transfer(::pread, expected.data(), size);
    const double read = rate("clEnqueueReadFileCLIQUE", [&] {
      check(call.read(queue(), file, CL_TRUE, 0, buffer(), 0, size, 0, nullptr, nullptr),
            "clEnqueueReadFileCLIQUE");
    });
    report("read, share of pread alone " + size_name(size), read / limit, "");
    check(clEnqueueReadBuffer(queue(), buffer(), CL_TRUE, 0, size, memory.data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    if (memory != expected) throw std::runtime_error("the buffer has other content than the file");

    const double write_limit = rate("pwrite alone", [&] { scratch.transfer(::pwrite, memory.data(), size); });
    rate("clEnqueueReadBuffer and pwrite", [&] {
      check(clEnqueueReadBuffer(queue(), buffer(), CL_TRUE, 0, size, memory.data(), 0, nullptr, nullptr),
            "clEnqueueReadBuffer");
      scratch.transfer(::pwrite, memory.data(), size);
    });
    const double write = rate("clEnqueueWriteFileCLIQUE", [&] {
      check(call.write(queue(), file, CL_TRUE, 0, buffer(), 0, size, 0, nullptr, nullptr),
            "clEnqueueWriteFileCLIQUE");
    });
    report("write, share of pwrite alone " + size_name(size), write / write_limit, "");
    scratch.transfer(::pread, memory.data(), size);
    if (memory != expected) throw std::runtime_error("the file has other content than the buffer");
  }
}

}  // namespace

int main(int argc, char** argv) {
  FileOptions options;
  return bench::run_opencl(
      argc, argv, "Transfers between a file and a device", options,
      [&](CommandLine& line) {
        bench::add_sizes(line, options.sizes);
        line.option("--folder", options.folder,
                    "where the file is; every node has to see it under this path");
        line.flag("--cold", options.cold, "take the file out of the page cache before each measurement");
      },
      [&] { measure(options); });
}
