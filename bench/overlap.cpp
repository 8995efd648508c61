// How much of the time for transfers can be hidden behind kernels and other transfers. Matrix multiplication
// and FFT run in parts: step by step, where each command waits for the one before, and pipelined, where only
// events order three queues.
#include "workloads.hpp"

namespace {

using namespace bench;

struct OverlapOptions : OpenCLOptions {
  size_t size = 1024;
  size_t length = 8192;
  size_t points = 1U << 21U;
  size_t parts = 8;
};

/// An in-order queue for each kind of work.
struct Queues {
  Queues(const cl::Context& context, const cl::Device& device)
      : in(context, device), kernels(context, device), out(context, device) {}
  cl::CommandQueue in;
  cl::CommandQueue kernels;
  cl::CommandQueue out;
};

/// Store and forward: each step begins when the one before has completed.
void step_by_step(const Queues& queues, const Workload& work) {
  write_common(queues.in, work);
  queues.in.finish();
  for (const Part& part : work.parts) {
    write_input(queues.in, part);
    queues.in.finish();
    compute(queues.kernels, part);
    queues.kernels.finish();
    read_output(queues.out, part);
    queues.out.finish();
  }
}

/// The kernels of one part run while the input of the next is written and the output of the previous is read.
void pipelined(const Queues& queues, const Workload& work) {
  write_common(queues.in, work);
  for (const Part& part : work.parts) {
    std::vector<cl::Event> written(1);
    std::vector<cl::Event> computed(1);
    write_input(queues.in, part, &written[0]);
    queues.in.flush();
    compute(queues.kernels, part, &written, &computed[0]);
    queues.kernels.flush();
    read_output(queues.out, part, &computed);
    queues.out.flush();
  }
  queues.out.finish();
}

void measure_workload(const std::string& name, const Queues& queues, Workload work, int repeats) {
  const auto time = [&](auto&& run) {
    return median(repeats, [&] { return seconds([&] { run(queues, work); }); });
  };
  const auto checked_time = [&](auto&& run) {
    std::fill(work.output.begin(), work.output.end(), NAN);
    const double result = time(run);
    work.check(work);
    return result;
  };
  const double steps = checked_time(step_by_step);
  const double pipeline = checked_time(pipelined);
  const double writes = time([](const Queues& on, const Workload& all) {
    write_common(on.in, all);
    for (const Part& part : all.parts) write_input(on.in, part);
    on.in.finish();
  });
  const double kernels = time([](const Queues& on, const Workload& all) {
    for (const Part& part : all.parts) compute(on.kernels, part);
    on.kernels.finish();
  });
  const double reads = time([](const Queues& on, const Workload& all) {
    for (const Part& part : all.parts) read_output(on.out, part);
    on.out.finish();
  });
  report(name + ", step by step", 1e3 * steps, "ms");
  report(name + ", pipelined", 1e3 * pipeline, "ms");
  report(name + ", writes alone", 1e3 * writes, "ms");
  report(name + ", kernels alone", 1e3 * kernels, "ms");
  report(name + ", reads alone", 1e3 * reads, "ms");
  // Shares of the time step by step beyond that of the kernels, if that is a significant part. A pipeline
  // takes at least as long as its longest stage.
  const double rest = steps - kernels;
  if (rest < 0.05 * steps) return;
  report(name + ", hidden", 1e2 * (steps - pipeline) / rest, "%");
  report(name + ", can be hidden", 1e2 * (steps - std::max({writes, kernels, reads})) / rest, "%");
}

void measure(const OverlapOptions& options) {
  const cl::Device device = devices_of(options.platform).at(0);
  const cl::Context context(device);
  const Queues queues(context, device);
  measure_workload("matrix multiplication", queues, multiplication(context, options.size, options.parts),
                   options.repeats);
  measure_workload("FFT", queues, transforms(context, options.length, options.points, options.parts),
                   options.repeats);
}

}  // namespace

int main(int argc, char** argv) {
  OverlapOptions options;
  const auto add = [&](CommandLine& line) {
    line.option("--matrix", options.size, "rows of the matrices");
    line.option("--length", options.length, "points in one transform");
    line.option("--points", options.points, "points in all transforms together");
    line.option("--parts", options.parts, "number of parts of each workload");
  };
  return bench::run_opencl(argc, argv, "Transfers hidden behind kernels", options, add,
                           [&] { measure(options); });
}
