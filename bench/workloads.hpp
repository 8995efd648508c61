// Computations in parts, for measuring transfers together with kernels: each part has input for the device,
// kernels to run there, and output to read.
#pragma once

#include <functional>
#include <span>

#include "kernels/bench.hpp"

namespace bench {

/// A kernel with its arguments and sizes.
struct Launch {
  cl::Kernel kernel;
  cl::NDRange global;
  cl::NDRange local;
};

/// One part: `from` is written to `in`, the launches run one after the other, and `out` is read to `to`. The
/// workload owns the host memory.
struct Part {
  cl::Buffer in;
  std::span<const float> from;
  std::vector<Launch> launches;
  cl::Buffer out;
  std::span<float> to;
  /// Another buffer that the launches use. A kernel does not retain its arguments.
  cl::Buffer scratch;
};

/// A computation in independent parts. Moving it does not move its host memory.
struct Workload {
  std::vector<float> common;
  /// `common` on the device, which all parts need; no buffer if `common` is empty.
  cl::Buffer common_buffer;
  std::vector<float> input;
  std::vector<float> output;
  std::vector<Part> parts;
  /// Throws kernels::Wrong if samples of the output are wrong.
  std::function<void(const Workload&)> check;

  Workload() = default;
  Workload(Workload&&) = default;
  Workload& operator=(Workload&&) = default;
};

/// Builds a file of bench/kernels for the context.
inline cl::Program build_file(const cl::Context& context, const char* name) {
  cl::Program program(context, kernels::source(name));
  program.build();
  return program;
}

/// Divides a product of matrices into new parts, with buffers in `context`.
/// @param size rows of the matrices: a multiple of 64 * `parts`
inline void divide_multiplication(Workload& work, const cl::Context& context, size_t size, size_t parts) {
  const size_t rows = size / parts;
  if (rows == 0 || rows % 64 != 0 || rows * parts != size)
    throw std::runtime_error("cannot divide " + std::to_string(size) + " rows into " + std::to_string(parts) +
                             " parts: each part needs the same multiple of 64 rows");
  const cl::Program program = build_file(context, "sgemm");
  work.parts.clear();
  work.common_buffer = cl::Buffer(context, CL_MEM_READ_ONLY, size * size * sizeof(float));
  for (size_t i = 0; i < parts; ++i) {
    const size_t count = rows * size;
    Part part{.in = {context, CL_MEM_READ_ONLY, count * sizeof(float)},
              .from = std::span(work.input).subspan(i * count, count),
              .launches = {},
              .out = {context, CL_MEM_WRITE_ONLY, count * sizeof(float)},
              .to = std::span(work.output).subspan(i * count, count),
              .scratch = {}};
    cl::Kernel kernel(program, "sgemm");
    kernel.setArg(0, part.in);
    kernel.setArg(1, work.common_buffer);
    kernel.setArg(2, part.out);
    kernel.setArg(3, static_cast<cl_int>(size));
    part.launches.push_back({kernel, {size / 4, rows / 4}, {16, 16}});
    work.parts.push_back(std::move(part));
  }
}

/// The product of square matrices. A part is some rows of the result.
/// @param size rows of the matrices: a multiple of 64 * `parts`
inline Workload multiplication(const cl::Context& context, size_t size, size_t parts) {
  Workload work;
  work.input = kernels::numbers<float>(size * size, -1, 1);
  work.common = kernels::numbers<float>(size * size, 0, 2);
  work.output.assign(size * size, NAN);
  divide_multiplication(work, context, size, parts);
  work.check = [size](const Workload& done) {
    for (size_t i = 0; i < done.output.size(); i += done.output.size() / 509) {
      double expected = 0;
      for (size_t k = 0; k < size; ++k)
        expected += double{done.input[i / size * size + k]} * done.common[k * size + i % size];
      kernels::expect_near(expected, done.output[i], 1e-3, i);
    }
  };
  return work;
}

/// Fourier transforms of `length` complex numbers each, a power of two, with `points` numbers in total. A
/// part is some of the transforms; a launch is one pass over them.
inline Workload transforms(const cl::Context& context, size_t length, size_t points, size_t parts) {
  const size_t count = points / parts;
  if (length < 2 || (length & (length - 1)) != 0 || count == 0 || count % length != 0 ||
      count * parts != points)
    throw std::runtime_error("cannot divide " + std::to_string(points) + " points into " +
                             std::to_string(parts) + " parts of transforms of " + std::to_string(length) +
                             " points: the length must be a power of two that divides each part");
  const cl::Program program = build_file(context, "fft_pass");
  Workload work;
  work.input = kernels::numbers<float>(2 * points, -1, 1);
  work.output.assign(2 * points, NAN);
  for (size_t i = 0; i < parts; ++i) {
    Part part{.in = {context, CL_MEM_READ_WRITE, count * sizeof(cl_float2)},
              .from = std::span(work.input).subspan(2 * i * count, 2 * count),
              .launches = {},
              .out = {context, CL_MEM_READ_WRITE, count * sizeof(cl_float2)},
              .to = std::span(work.output).subspan(2 * i * count, 2 * count),
              .scratch = {}};
    cl::Buffer from = part.in;
    cl::Buffer to = part.out;
    for (size_t done = 1; done < length; done *= 2) {
      cl::Kernel kernel(program, "fft_pass");
      kernel.setArg(0, from);
      kernel.setArg(1, to);
      kernel.setArg(2, static_cast<cl_int>(length));
      kernel.setArg(3, static_cast<cl_int>(done));
      part.launches.push_back({kernel, {count / 2}, cl::NullRange});
      std::swap(from, to);
    }
    part.out = from;
    part.scratch = to;
    work.parts.push_back(std::move(part));
  }
  work.check = [length](const Workload& done) { kernels::expect_spectrum(done.input, done.output, length); };
  return work;
}

/// Enqueues the write of the data that all parts need.
inline void write_common(const cl::CommandQueue& queue, const Workload& work, cl::Event* event = nullptr) {
  if (!work.common.empty())
    queue.enqueueWriteBuffer(work.common_buffer, CL_FALSE, 0, work.common.size() * sizeof(float),
                             work.common.data(), nullptr, event);
}

/// Enqueues the write of a part's input.
inline void write_input(const cl::CommandQueue& queue, const Part& part, cl::Event* event = nullptr) {
  queue.enqueueWriteBuffer(part.in, CL_FALSE, 0, part.from.size_bytes(), part.from.data(), nullptr, event);
}

/// Enqueues a part's launches. The first one waits for `after`; `event` receives the event of the last.
inline void compute(const cl::CommandQueue& queue, const Part& part,
                    const std::vector<cl::Event>* after = nullptr, cl::Event* event = nullptr) {
  for (const Launch& launch : part.launches)
    queue.enqueueNDRangeKernel(launch.kernel, cl::NullRange, launch.global, launch.local,
                               &launch == &part.launches.front() ? after : nullptr,
                               &launch == &part.launches.back() ? event : nullptr);
}

/// Enqueues the read of a part's output.
inline void read_output(const cl::CommandQueue& queue, const Part& part,
                        const std::vector<cl::Event>* after = nullptr) {
  queue.enqueueReadBuffer(part.out, CL_FALSE, 0, part.to.size_bytes(), part.to.data(), after);
}

}  // namespace bench
