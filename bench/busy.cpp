// The latency of a small command while a large transfer is under way on another queue.
#include <atomic>
#include <thread>

#include "opencl.hpp"

namespace {

using namespace bench;

struct BusyOptions : OpenCLOptions {
  size_t bulk = 256 * mib;
};

/// Measures blocking reads of 4 bytes.
class SmallReads {
 public:
  SmallReads(const cl::Context& context, const cl::Device& device)
      : queue_(context, device), buffer_(context, CL_MEM_READ_WRITE, sizeof(cl_int)) {
    queue_.enqueueWriteBuffer(buffer_, CL_TRUE, 0, sizeof value_, &value_);
  }
  /// Does one read and returns its time in seconds.
  double time() {
    cl_int got = 0;
    const double time = seconds([&] {
      check(clEnqueueReadBuffer(queue_(), buffer_(), CL_TRUE, 0, sizeof got, &got, 0, nullptr, nullptr),
            "clEnqueueReadBuffer");
    });
    if (got != value_)
      throw std::runtime_error("a read of 4 bytes returned " + std::to_string(got) + " instead of " +
                               std::to_string(value_));
    return time;
  }

 private:
  cl::CommandQueue queue_;
  cl::Buffer buffer_;
  cl_int value_ = 7;
};

void report_times(const std::string& name, const std::vector<double>& times) {
  if (times.empty())
    throw std::runtime_error("no small read began during a transfer; choose a larger --bulk");
  report(name + ", median", 1e6 * median(times), "us");
  report(name + ", worst", 1e6 * *std::max_element(times.begin(), times.end()), "us");
}

/// Calls `transfer` `repeats` times. Returns the times of the small reads that begin while it runs.
template <typename Transfer>
std::vector<double> times_during(SmallReads& reads, int repeats, Transfer&& transfer) {
  std::atomic<bool> under_way = false;
  std::atomic<bool> ended = false;
  std::vector<double> times;
  std::exception_ptr error;
  std::thread reader([&] {
    try {
      while (!ended) {
        const bool counts = under_way;
        const double time = reads.time();
        if (counts) times.push_back(time);
      }
    } catch (...) {
      error = std::current_exception();
    }
  });
  try {
    for (int i = 0; i < repeats; ++i) {
      under_way = true;
      transfer();
      under_way = false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  } catch (...) {
    error = std::current_exception();
  }
  ended = true;
  reader.join();
  if (error) std::rethrow_exception(error);
  return times;
}

void measure(const BusyOptions& options) {
  const cl::Device device = devices_of(options.platform).at(0);
  const cl::Context context(device);
  const cl::CommandQueue queue(context, device);
  const cl::Buffer buffer(context, CL_MEM_READ_WRITE, options.bulk);
  std::vector<char> data(options.bulk, 'x');
  const auto write = [&] {
    queue.enqueueWriteBuffer(buffer, CL_FALSE, 0, options.bulk, data.data());
    queue.finish();
  };
  const auto read = [&] {
    queue.enqueueReadBuffer(buffer, CL_FALSE, 0, options.bulk, data.data());
    queue.finish();
  };
  SmallReads reads(context, device);
  write();

  std::vector<double> idle(1000);
  for (int warm_up = 0; warm_up < 100; ++warm_up) reads.time();
  for (double& time : idle) time = reads.time();
  const std::string bulk = size_name(options.bulk);
  report_times("read of 4 bytes", idle);
  report_times("read of 4 bytes during a write of " + bulk, times_during(reads, options.repeats, write));
  report_times("read of 4 bytes during a read of " + bulk, times_during(reads, options.repeats, read));
}

}  // namespace

int main(int argc, char** argv) {
  BusyOptions options;
  const auto add = [&](CommandLine& line) {
    line.bytes("--bulk", options.bulk, "size of the large transfers");
  };
  return bench::run_opencl(argc, argv, "Small commands beside large transfers", options, add,
                           [&] { measure(options); });
}
