// Times of kernels on one device. Their results are compared with the host's first. If a kernel fails or is
// wrong, the others are still measured.
#include <fnmatch.h>

#include "bench.hpp"

namespace {

using namespace bench;

struct Named {
  const char* name;
  void (*run)(const kernels::Bench&);
};
constexpr Named all[] = {
    {"saxpy", kernels::saxpy},
    {"fill_short", kernels::fill_short},
    {"fill_long", kernels::fill_long},
    {"reduction", kernels::reduction},
    {"stencil", kernels::stencil},
    {"transpose", kernels::transpose},
    {"sgemm", kernels::sgemm},
    {"hgemm", kernels::hgemm},
    {"hgemm_tensor", kernels::hgemm_tensor},
    {"nbody", kernels::nbody},
    {"fft", kernels::fft},
    {"sha256", kernels::sha256},
    {"md5_search", kernels::md5_search},
    {"short_pairs", kernels::short_pairs},
    {"half_pairs", kernels::half_pairs},
    {"options_float", kernels::options_float},
    {"options_double", kernels::options_double},
#ifdef BENCH_CLBLAST
    {"clblast_sgemm", kernels::clblast_sgemm},
    {"clblast_dgemm", kernels::clblast_dgemm},
#endif
#ifdef BENCH_CLFFT
    {"clfft_short", kernels::clfft_short},
    {"clfft_long", kernels::clfft_long},
#endif
};

}  // namespace

int main(int argc, char** argv) {
  OpenCLOptions options;
  options.repeats = 20;
  std::string only = "*";
  bool small = false;
  unsigned device = 0;
  const auto add = [&](CommandLine& line) {
    line.option("--platform", options.platform, "part of the platform's name; default: the first platform");
    line.option("--device", device, "index of the platform's device; default: 0");
    line.option("--only", only, "names of the kernels to run, with * and ?");
    line.flag("--small", small, "small problems, for trying it on a CPU");
  };
  return bench::run(argc, argv, "Kernel times of one device", options, add, [&] {
    const kernels::Bench measured(devices_of(options.platform).at(device), options.repeats, {small});
    int failed = 0;
    for (const Named& each : all) {
      if (fnmatch(only.c_str(), each.name, 0) != 0) continue;
      std::string reason;
      try {
        each.run(measured);
        continue;
      } catch (const kernels::Inapplicable& why) {
        std::fprintf(stderr, "%s: left out: %s: %s\n", argv[0], each.name, why.what());
        continue;
      } catch (const cl::Error& error) {
        reason = std::string(error.what()) + " failed with error " + std::to_string(error.err());
      } catch (const std::exception& error) {
        reason = error.what();
      }
      std::fprintf(stderr, "%s: %s: %s\n", argv[0], each.name, reason.c_str());
      ++failed;
    }
    if (failed != 0)
      throw std::runtime_error(std::to_string(failed) + " kernels failed; the messages above say why");
  });
}
