// Checking results.
#include "bench.hpp"

namespace bench::kernels {

void expect_spectrum(const std::vector<float>& data, const std::vector<float>& got, std::size_t length) {
  const std::size_t batch = data.size() / 2 / length;
  // About the same number of terms for each length.
  const std::size_t samples = std::max<std::size_t>((1U << 18U) / length, 4);
  for (std::size_t sample = 0; sample < samples; ++sample) {
    const std::size_t k = (61 * sample + 1) % length;
    const std::size_t begin = sample % batch * length;
    double real = 0, imaginary = 0;
    for (std::size_t n = 0; n < length; ++n) {
      const double angle = -2 * M_PI * static_cast<double>(n * k % length) / static_cast<double>(length);
      const double x = data[2 * (begin + n)], y = data[2 * (begin + n) + 1];
      real += x * std::cos(angle) - y * std::sin(angle);
      imaginary += x * std::sin(angle) + y * std::cos(angle);
    }
    // The magnitude of the numbers is about the square root of the length.
    const double size = std::sqrt(static_cast<double>(length));
    expect_near(real / size, got[2 * (begin + k)] / size, 1e-5, 2 * (begin + k));
    expect_near(imaginary / size, got[2 * (begin + k) + 1] / size, 1e-5, 2 * (begin + k) + 1);
  }
}

}  // namespace bench::kernels
