// Shared by the kernel benchmarks: the device, programs from the sources in this folder, buffers and times.
#pragma once

#include <cmath>
#include <functional>
#include <numeric>
#include <random>

#include "../opencl.hpp"
#include "enqueued.hpp"

namespace bench::kernels {

/// The text of a .cl file of this folder, by its name without the suffix. CMake generates this function.
const char* source(const std::string& name);

/// A result that differs from the host's.
class Wrong : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Chooses the sizes of problems: those that keep a large GPU busy for about a millisecond or, if `small`,
/// those for trying the programs on a CPU.
struct Scale {
  bool small = false;
  template <typename T>
  T pick(T full, T reduced) const {
    return small ? reduced : full;
  }
};

/// The device lacks an optional feature that the kernel needs.
class Inapplicable : public std::runtime_error {
  using runtime_error::runtime_error;
};

/// The device, and functions for measuring on it.
class Bench {
 public:
  Bench(const cl::Device& device, int repeats, Scale scale)
      : scale(scale),
        device_(device),
        context_(device),
        queue_(context_, device, CL_QUEUE_PROFILING_ENABLE),
        repeats_(repeats) {}

  const Scale scale;
  const cl::Device& device() const { return device_; }
  const cl::Context& context() const { return context_; }
  /// In order, with profiling.
  const cl::CommandQueue& queue() const { return queue_; }
  /// @throws Inapplicable if the device has no double precision
  void need_double() const {
    if (device_.getInfo<CL_DEVICE_DOUBLE_FP_CONFIG>() == 0)
      throw Inapplicable("the device has no double precision");
  }

  /// @throws Inapplicable if the device lacks the extension
  void need(const std::string& extension) const {
    if (device_.getInfo<CL_DEVICE_EXTENSIONS>().find(extension) == std::string::npos)
      throw Inapplicable("the device lacks the extension " + extension);
  }

  /// Builds the kernel `name` of the source `file` and reports the time of the build.
  cl::Kernel build(const std::string& name, const std::string& file, const std::string& figure,
                   const std::string& options = "") const {
    cl::Program program(context_, source(file));
    const double time = seconds([&] {
      try {
        program.build(options.c_str());
      } catch (const cl::Error&) {
        throw std::runtime_error("the build failed: " + program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device_));
      }
    });
    report(figure + " build", 1e3 * time, "ms");
    return {program, name.c_str()};
  }

  template <typename T>
  cl::Buffer upload(const std::vector<T>& data) const {
    cl::Buffer buffer(context_, CL_MEM_READ_WRITE, data.size() * sizeof(T));
    queue_.enqueueWriteBuffer(buffer, CL_TRUE, 0, data.size() * sizeof(T), data.data());
    return buffer;
  }
  template <typename T>
  std::vector<T> download(const cl::Buffer& buffer, std::size_t count) const {
    std::vector<T> data(count);
    queue_.enqueueReadBuffer(buffer, CL_TRUE, 0, count * sizeof(T), data.data());
    return data;
  }

  template <typename... Args>
  void set(cl::Kernel& kernel, const Args&... args) const {
    cl_uint index = 0;
    (kernel.setArg(index++, args), ...);
  }
  /// Runs the kernel once.
  void run(const cl::Kernel& kernel, const cl::NDRange& global, const cl::NDRange& local) const {
    queue_.enqueueNDRangeKernel(kernel, cl::NullRange, global, local);
    queue_.finish();
  }
  /// Reports the kernel's median time by the device's clock, and the rate: `work` per nanosecond in `unit`.
  void time(const std::string& figure, const cl::Kernel& kernel, const cl::NDRange& global,
            const cl::NDRange& local, double work, const char* unit) const {
    time_command(
        figure,
        [&](cl::Event& event) {
          queue_.enqueueNDRangeKernel(kernel, cl::NullRange, global, local, nullptr, &event);
        },
        work, unit);
  }
  /// Like time(), for the command that `enqueue` enqueues. `enqueue` sets the event.
  void time_command(const std::string& figure, const std::function<void(cl::Event&)>& enqueue, double work,
                    const char* unit) const {
    const double nanoseconds = median(repeats_, [&] {
      cl::Event event;
      enqueue(event);
      event.wait();
      return static_cast<double>(event.getProfilingInfo<CL_PROFILING_COMMAND_END>() -
                                 event.getProfilingInfo<CL_PROFILING_COMMAND_START>());
    });
    report_time(figure, nanoseconds, work, unit);
  }

  /// Calls a library for the first time and reports the time as that of the build.
  void first(const std::string& figure, const std::function<void()>& call) const {
    const double time = seconds([&] {
      call();
      queue_.finish();
    });
    report(figure + " build", 1e3 * time, "ms");
  }
  /// Like time(), for the sum of all kernels that `call` enqueues.
  void time_enqueued(const std::string& figure, const std::function<void()>& call, double work,
                     const char* unit) const {
    report_time(figure, median(repeats_, [&] { return kernel_nanoseconds(call); }), work, unit);
  }

 private:
  static void report_time(const std::string& figure, double nanoseconds, double work, const char* unit) {
    report(figure, 1e-6 * nanoseconds, "ms");
    report(figure + " rate", work / nanoseconds, unit);
  }

  cl::Device device_;
  cl::Context context_;
  cl::CommandQueue queue_;
  int repeats_;
};

/// Pseudo-random numbers between `low` and `high`, the same in every run.
template <typename T>
std::vector<T> numbers(std::size_t count, double low, double high) {
  std::minstd_rand engine(1);
  std::vector<T> result(count);
  const double step = (high - low) / static_cast<double>(std::minstd_rand::max());
  for (T& number : result) number = static_cast<T>(low + step * static_cast<double>(engine()));
  return result;
}

/// Throws Wrong if the relative error exceeds `tolerance`. For results below 1 the error is absolute. NaN is
/// always wrong.
inline void expect_near(double expected, double actual, double tolerance, std::size_t at) {
  const double error = std::abs(expected - actual) / std::max(1.0, std::abs(expected));
  if (!(error <= tolerance))
    throw Wrong("element " + std::to_string(at) + " is " + std::to_string(actual) + " instead of " +
                std::to_string(expected));
}

/// Throws Wrong if `got` is not the forward Fourier transform of `data`, complex numbers in batches of
/// `length`.
void expect_spectrum(const std::vector<float>& data, const std::vector<float>& got, std::size_t length);

// The benchmarks. Each runs its kernel once on new memory, compares the result with the host's, and then
// measures the time.
void saxpy(const Bench& bench);
void fill_short(const Bench& bench);
void fill_long(const Bench& bench);
void reduction(const Bench& bench);
void stencil(const Bench& bench);
void transpose(const Bench& bench);
void sgemm(const Bench& bench);
void hgemm(const Bench& bench);
void hgemm_tensor(const Bench& bench);
void nbody(const Bench& bench);
void fft(const Bench& bench);
void sha256(const Bench& bench);
void md5_search(const Bench& bench);
void short_pairs(const Bench& bench);
void half_pairs(const Bench& bench);
void options_float(const Bench& bench);
void options_double(const Bench& bench);
// Kernels of libraries, if these were found when Clique was configured.
void clblast_sgemm(const Bench& bench);
void clblast_dgemm(const Bench& bench);
void clfft_short(const Bench& bench);
void clfft_long(const Bench& bench);

}  // namespace bench::kernels
