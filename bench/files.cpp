// The rate at which a file's content gets into a buffer and back: through cl_clique_file; as the application
// would do it itself, with pread() or pwrite() and a transfer of OpenCL; and, as limits, pread() and pwrite()
// alone, with memory as large as the file, and with the same 1 MiB again and again, as dd does. Each round
// does all of them, in turn. The page cache is warm, or, with --cold, has nothing of the file.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>

#include "opencl.hpp"

#include "../icd/include/CL/cl_ext_clique.h"

namespace {

using namespace bench;

struct FileOptions : OpenCLOptions {
  std::vector<size_t> sizes{16 * mib, 256 * mib};
  std::string folder = std::filesystem::temp_directory_path();
  bool cold = false;
  bool sync = false;
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

/// Memory that begins with a page, as that of dd does. The kernel copies several times as slowly on some
/// processors where it begins 16 bytes later, as large blocks of malloc() do.
class Pages {
 public:
  explicit Pages(size_t size) : bytes_(std::max(size, size_t{1})) {
    void* memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      throw std::runtime_error("no memory for " + size_name(bytes_) + ": " + std::strerror(errno));
    data_ = static_cast<unsigned char*>(memory);
    std::fill(begin(), end(), static_cast<unsigned char>(1));  // so that all of it is there
  }
  ~Pages() { ::munmap(data_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  unsigned char* data() const { return data_; }
  size_t size() const { return bytes_; }
  unsigned char* begin() const { return data_; }
  unsigned char* end() const { return data_ + bytes_; }
  bool operator==(const Pages& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

 private:
  const size_t bytes_;
  unsigned char* data_ = nullptr;
};

/// A file that is removed at the end.
struct Scratch {
  Scratch(const std::string& folder, size_t size)
      : path(folder + "/clique-bench-files-" + std::to_string(::getpid())) {
    fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
      throw std::runtime_error(path + ": " + std::strerror(errno) + "; name a folder with --folder");
    const Pages data(size);
    for (size_t i = 0; i < size; ++i) data.data()[i] = static_cast<unsigned char>(i * 2654435761U >> 24U);
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

  /// Waits until the disk has the content.
  void sync() const {
    if (::fdatasync(fd) != 0) throw std::runtime_error(path + ": fdatasync: " + std::strerror(errno));
  }
  /// Takes the file out of the page cache.
  void forget() const {
    // Pages that are not on the disk yet would stay.
    sync();
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

/// One way to move all of the file, and how long it took in each round.
struct Way {
  std::string name;
  std::function<void()> work;
  std::vector<double> times = {};

  double rate(size_t size) const { return 1e-9 * static_cast<double>(size) / median(times); }
};

/// The ways from the file, or to it. The first one is compared with the others.
struct Direction {
  std::string verb;
  bool sync = false;  ///< whether the disk has to have the content, too
  std::vector<Way> ways;
};

/// The median of the rounds' ratios: machines differ more between rounds than within one.
double times_as_fast(const Way& one, const Way& other) {
  std::vector<double> ratios;
  for (size_t i = 0; i < one.times.size(); ++i) ratios.push_back(other.times[i] / one.times[i]);
  return median(std::move(ratios));
}

/// The functions of the extension with one file and one buffer.
class Transfers {
 public:
  Transfers(const cl::Context& context, const cl::CommandQueue& queue, const Functions& call,
            const std::string& path, size_t size)
      : queue_(queue),
        call_(call),
        size_(size),
        buffer_(context, CL_MEM_READ_WRITE, size),
        file_(create(context, call, path), call.release) {}

  void read_file() const {
    check(call_.read(queue_(), file_.get(), CL_TRUE, 0, buffer_(), 0, size_, 0, nullptr, nullptr),
          "clEnqueueReadFileCLIQUE");
  }
  void write_file() const {
    check(call_.write(queue_(), file_.get(), CL_TRUE, 0, buffer_(), 0, size_, 0, nullptr, nullptr),
          "clEnqueueWriteFileCLIQUE");
  }
  void read_buffer(void* to) const {
    check(clEnqueueReadBuffer(queue_(), buffer_(), CL_TRUE, 0, size_, to, 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  }
  void write_buffer(const void* from) const {
    check(clEnqueueWriteBuffer(queue_(), buffer_(), CL_TRUE, 0, size_, from, 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
    check(clFinish(queue_()), "clFinish");
  }

 private:
  static cl_file_clique create(const cl::Context& context, const Functions& call, const std::string& path) {
    cl_int status = CL_SUCCESS;
    const cl_file_clique file =
        call.create(context(), CL_FILE_READ_CLIQUE | CL_FILE_WRITE_CLIQUE, path.c_str(), &status);
    check(status, "clCreateFileCLIQUE");
    return file;
  }

  const cl::CommandQueue& queue_;
  const Functions& call_;
  const size_t size_;
  const cl::Buffer buffer_;
  const std::unique_ptr<_cl_file_clique, clReleaseFileCLIQUE_fn> file_;
};

/// Throws unless the functions move all bytes to their places. Leaves the same content in file and buffer.
void check_content(const Transfers& transfers, const Scratch& scratch, const Pages& memory) {
  const Pages expected(memory.size());
  scratch.transfer(::pread, expected.data(), expected.size());
  transfers.read_file();
  transfers.read_buffer(memory.data());
  if (!(memory == expected)) throw std::runtime_error("the buffer has other content than the file");
  for (unsigned char& byte : expected) byte ^= 0xffU;
  transfers.write_buffer(expected.data());
  transfers.write_file();
  scratch.transfer(::pread, memory.data(), memory.size());
  if (!(memory == expected)) throw std::runtime_error("the file has other content than the buffer");
}

void measure(const FileOptions& options) {
  const cl::Device device = devices_of(options.platform).at(0);
  const Functions call(device);
  const cl::Context context(device);
  const cl::CommandQueue queue(context, device);
  for (const size_t size : options.sizes) {
    const Scratch scratch(options.folder, size);
    const Transfers transfers(context, queue, call, scratch.path, size);
    const Pages memory(size);
    check_content(transfers, scratch, memory);
    if (options.cold) {
      scratch.forget();
      // Those of tmpfs have no disk, and some file systems keep their own cache.
      if (const double kept = scratch.cached(size); kept > 0.01)
        throw std::runtime_error(options.folder + " is on a file system that keeps " +
                                 std::to_string(static_cast<int>(100 * kept)) +
                                 " percent of a file in memory; name a folder on a disk with --folder");
    }

    std::vector<Direction> directions{
        {"read",
         false,
         {{"clEnqueueReadFileCLIQUE", [&] { transfers.read_file(); }},
          {"pread alone", [&] { scratch.transfer(::pread, memory.data(), size); }},
          {"pread to the same 1 MiB", [&] { scratch.transfer(::pread, memory.data(), size, true); }},
          {"pread and clEnqueueWriteBuffer",
           [&] {
             scratch.transfer(::pread, memory.data(), size);
             transfers.write_buffer(memory.data());
           }}}},
        {"write",
         options.sync,
         {{"clEnqueueWriteFileCLIQUE", [&] { transfers.write_file(); }},
          {"pwrite alone", [&] { scratch.transfer(::pwrite, memory.data(), size); }},
          {"pwrite of the same 1 MiB", [&] { scratch.transfer(::pwrite, memory.data(), size, true); }},
          {"clEnqueueReadBuffer and pwrite", [&] {
             transfers.read_buffer(memory.data());
             scratch.transfer(::pwrite, memory.data(), size);
           }}}}};
    // The first round warms up. Each begins with another way, since what comes first after writes may be
    // slower.
    for (int round = 0; round <= std::max(options.repeats, 1); ++round)
      for (Direction& direction : directions)
        for (size_t i = 0; i < direction.ways.size(); ++i) {
          Way& way = direction.ways[(i + static_cast<size_t>(round)) % direction.ways.size()];
          if (options.cold) scratch.forget();
          const double time = seconds([&] {
            way.work();
            if (direction.sync) scratch.sync();
          });
          if (round > 0) way.times.push_back(time);
        }
    const std::string of_size = " " + size_name(size);
    for (const Direction& direction : directions) {
      const Way& own = direction.ways.front();
      for (const Way& way : direction.ways) report(way.name + of_size, way.rate(size), "GB/s");
      for (size_t i = 1; i < direction.ways.size(); ++i)
        report(direction.verb + (", times " + direction.ways[i].name) + of_size,
               times_as_fast(own, direction.ways[i]), "");
    }
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
        line.flag("--sync", options.sync,
                  "writes also wait until the disk has the content, with fdatasync()");
        line.flag("--cold", options.cold, "take the file out of the page cache before each measurement");
      },
      [&] { measure(options); });
}
