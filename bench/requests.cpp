// Small requests, as a server has them: copy in, kernel, copy out. A number of them is always outstanding:
// each has a thread, a queue and buffers of its own, and follows the one before it at once.
#include <barrier>
#include <exception>
#include <optional>
#include <thread>

#include "opencl.hpp"

namespace {

using namespace bench;

struct RequestOptions : OpenCLOptions {
  std::vector<size_t> sizes{4 * kib, 16 * kib, 64 * kib, 256 * kib};
  std::vector<size_t> outstanding{1, 4, 16, 64};
  double seconds = 1;
};

/// The answer depends on all of the request, and takes the device hardly any time.
constexpr const char* kMask =
    "kernel void mask(global const uint* from, global uint* to, uint mask) {\n"
    "  to[get_global_id(0)] = from[get_global_id(0)] ^ mask;\n}\n";

/// One client of the server.
class Requester {
 public:
  Requester(const cl::Context& context, const cl::Device& device, const cl::Program& program, size_t bytes)
      : queue_(context, device),
        kernel_(program, "mask"),
        from_(context, CL_MEM_READ_ONLY, bytes),
        to_(context, CL_MEM_WRITE_ONLY, bytes),
        request_(bytes / sizeof(cl_uint)),
        answer_(request_.size()) {
    for (size_t i = 0; i < request_.size(); ++i) request_[i] = static_cast<cl_uint>(i * 2654435761U);
    kernel_.setArg(0, from_);
    kernel_.setArg(1, to_);
  }

  /// Does one request. @returns its time in seconds
  double ask() {
    const cl_uint mask = ++requests_ * 40503U;
    const size_t bytes = request_.size() * sizeof(cl_uint), items = request_.size();
    request_[requests_ % items] = requests_;
    const double time = seconds([&] {
      check(clEnqueueWriteBuffer(queue_(), from_(), CL_FALSE, 0, bytes, request_.data(), 0, nullptr, nullptr),
            "clEnqueueWriteBuffer");
      check(clSetKernelArg(kernel_(), 2, sizeof mask, &mask), "clSetKernelArg");
      check(clEnqueueNDRangeKernel(queue_(), kernel_(), 1, nullptr, &items, nullptr, 0, nullptr, nullptr),
            "clEnqueueNDRangeKernel");
      check(clEnqueueReadBuffer(queue_(), to_(), CL_TRUE, 0, bytes, answer_.data(), 0, nullptr, nullptr),
            "clEnqueueReadBuffer");
    });
    // All of an answer would take longer to check than to get.
    for (const size_t i : {size_t{0}, requests_ % items, items - 1})
      if (answer_[i] != (request_[i] ^ mask))
        throw std::runtime_error("word " + std::to_string(i) + " of the answer to a request of " +
                                 size_name(bytes) + " is " + std::to_string(answer_[i]) + " instead of " +
                                 std::to_string(request_[i] ^ mask));
    return time;
  }

 private:
  cl::CommandQueue queue_;
  cl::Kernel kernel_;
  cl::Buffer from_;
  cl::Buffer to_;
  std::vector<cl_uint> request_;
  std::vector<cl_uint> answer_;
  cl_uint requests_ = 0;
};

void measure(const RequestOptions& options, const cl::Context& context, const cl::Device& device,
             const cl::Program& program, size_t bytes, size_t outstanding) {
  using Clock = std::chrono::steady_clock;
  constexpr int kWarmUp = 20;
  std::vector<std::vector<double>> times(outstanding);
  std::vector<std::exception_ptr> errors(times.size());
  std::vector<std::thread> threads;
  std::barrier ready(static_cast<std::ptrdiff_t>(outstanding) + 1);
  Clock::time_point end;
  for (size_t place = 0; place < times.size(); ++place)
    threads.emplace_back([&, place] {
      std::optional<Requester> requester;
      try {
        requester.emplace(context, device, program, bytes);
        for (int i = 0; i < kWarmUp; ++i) requester->ask();
      } catch (...) {
        errors[place] = std::current_exception();
      }
      ready.arrive_and_wait();
      ready.arrive_and_wait();
      try {
        while (!errors[place] && Clock::now() < end) times[place].push_back(requester->ask());
      } catch (...) {
        errors[place] = std::current_exception();
      }
    });
  ready.arrive_and_wait();
  const auto start = Clock::now();
  end = start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds));
  ready.arrive_and_wait();
  for (std::thread& thread : threads) thread.join();
  const double passed = std::chrono::duration<double>(Clock::now() - start).count();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);

  std::vector<double> all;
  for (const auto& some : times) all.insert(all.end(), some.begin(), some.end());
  const std::string name = size_name(bytes) + ", " + std::to_string(outstanding) + " outstanding: ";
  report(name + "p50", 1e6 * quantile(all, 0.5), "us");
  report(name + "p99", 1e6 * quantile(all, 0.99), "us");
  report(name + "p99.9", 1e6 * quantile(all, 0.999), "us");
  report(name + "rate", static_cast<double>(all.size()) / passed, "/s");
}

}  // namespace

int main(int argc, char** argv) {
  RequestOptions options;
  const auto add = [&](CommandLine& line) {
    add_sizes(line, options.sizes);
    line.option("--outstanding", options.outstanding, "requests at a time, several numbers", 1.0);
    line.option("--seconds", options.seconds, "length of one measurement", 0.01);
  };
  return bench::run_opencl(argc, argv, "Small requests: copy in, kernel, copy out", options, add, [&] {
    const cl::Device device = devices_of(options.platform).at(0);
    const cl::Context context(device);
    cl::Program program(context, kMask);
    program.build();
    for (const size_t bytes : options.sizes)
      if (bytes < sizeof(cl_uint) || bytes % sizeof(cl_uint) != 0)
        throw std::runtime_error("a request of " + size_name(bytes) +
                                 " does not consist of words of 4 bytes");
    for (const size_t bytes : options.sizes)
      for (const size_t outstanding : options.outstanding)
        measure(options, context, device, program, bytes, outstanding);
  });
}
