// clFFT's transforms, with the kernels that it generates for each length.
#include <clFFT.h>

#include "bench.hpp"

namespace bench::kernels {

namespace {

void check_clfft(clfftStatus status, const char* call) {
  if (status != CLFFT_SUCCESS)
    throw std::runtime_error(std::string(call) + " failed with error " + std::to_string(status));
}

/// Owns a plan, and initialises clFFT while it exists.
class Plan {
 public:
  Plan(const Bench& bench, std::size_t length, std::size_t batch) {
    clfftSetupData setup;
    check_clfft(clfftInitSetupData(&setup), "clfftInitSetupData");
    check_clfft(clfftSetup(&setup), "clfftSetup");
    check_clfft(clfftCreateDefaultPlan(&handle_, bench.context()(), CLFFT_1D, &length),
                "clfftCreateDefaultPlan");
    check_clfft(clfftSetPlanBatchSize(handle_, batch), "clfftSetPlanBatchSize");
    check_clfft(clfftSetPlanPrecision(handle_, CLFFT_SINGLE), "clfftSetPlanPrecision");
    check_clfft(clfftSetResultLocation(handle_, CLFFT_OUTOFPLACE), "clfftSetResultLocation");
  }
  ~Plan() {
    clfftDestroyPlan(&handle_);
    clfftTeardown();
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  void build(cl_command_queue queue) const {
    check_clfft(clfftBakePlan(handle_, 1, &queue, nullptr, nullptr), "clfftBakePlan");
  }
  void run(cl_command_queue queue, cl_mem in, cl_mem out) const {
    check_clfft(
        clfftEnqueueTransform(handle_, CLFFT_FORWARD, 1, &queue, 0, nullptr, nullptr, &in, &out, nullptr),
        "clfftEnqueueTransform");
  }

 private:
  clfftPlanHandle handle_ = 0;
};

void transform(const Bench& bench, const std::string& figure, std::size_t length, std::size_t batch) {
  const std::size_t count = length * batch;
  const auto data = numbers<float>(2 * count, -1, 1);
  const cl::Buffer in = bench.upload(data), out = bench.upload(std::vector<float>(2 * count, NAN));
  const Plan plan(bench, length, batch);
  const auto work = [&] { plan.run(bench.queue()(), in(), out()); };
  bench.first(figure, [&] {
    plan.build(bench.queue()());
    work();
  });
  expect_spectrum(data, bench.download<float>(out, 2 * count), length);
  bench.time_enqueued(figure, work, 5.0 * std::log2(length) * static_cast<double>(count), "GFLOP/s");
}

}  // namespace

void clfft_short(const Bench& bench) {
  transform(bench, "clFFT 2^12", 1U << 12U, bench.scale.pick<std::size_t>(4096, 8));
}

void clfft_long(const Bench& bench) {
  transform(bench, "clFFT 2^20", 1U << 20U, bench.scale.pick<std::size_t>(16, 1));
}

}  // namespace bench::kernels
