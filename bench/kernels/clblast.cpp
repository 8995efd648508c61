// CLBlast's matrix multiplication, with the kernels and parameters that CLBlast chooses for the device.
#include <clblast_c.h>

#include "bench.hpp"

namespace bench::kernels {

namespace {

CLBlastStatusCode multiply(std::size_t size, const cl::Buffer& a, const cl::Buffer& b, const cl::Buffer& c,
                           float /*element*/, cl_command_queue queue) {
  return CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, size, size, size, 1, a(),
                      0, size, b(), 0, size, 0, c(), 0, size, &queue, nullptr);
}
CLBlastStatusCode multiply(std::size_t size, const cl::Buffer& a, const cl::Buffer& b, const cl::Buffer& c,
                           double /*element*/, cl_command_queue queue) {
  return CLBlastDgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, size, size, size, 1, a(),
                      0, size, b(), 0, size, 0, c(), 0, size, &queue, nullptr);
}

template <typename Real>
void gemm(const Bench& bench, const std::string& figure, double tolerance) {
  const std::size_t size = bench.scale.pick<std::size_t>(2048, 128), count = size * size;
  const auto a = numbers<Real>(count, -1, 1), b = numbers<Real>(count, 0, 2);
  const cl::Buffer in_a = bench.upload(a), in_b = bench.upload(b),
                   out = bench.upload(std::vector<Real>(count, static_cast<Real>(NAN)));
  const auto work = [&] {
    const CLBlastStatusCode status = multiply(size, in_a, in_b, out, Real{}, bench.queue()());
    if (status != CLBlastSuccess)
      throw std::runtime_error("CLBlast failed with error " + std::to_string(status));
  };
  bench.first(figure, work);
  const auto got = bench.download<Real>(out, count);
  for (std::size_t i = 0; i < count; i += count / 509) {
    double expected = 0;
    for (std::size_t k = 0; k < size; ++k)
      expected += double{a[i / size * size + k]} * b[k * size + i % size];
    expect_near(expected, got[i], tolerance, i);
  }
  bench.time_enqueued(figure, work, 2.0 * static_cast<double>(count * size), "GFLOP/s");
}

}  // namespace

void clblast_sgemm(const Bench& bench) {
  gemm<float>(bench, "CLBlast sgemm", 1e-3);
}

void clblast_dgemm(const Bench& bench) {
  bench.need_double();
  gemm<double>(bench, "CLBlast dgemm", 1e-10);
}

}  // namespace bench::kernels
