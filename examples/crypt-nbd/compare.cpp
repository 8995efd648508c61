// From which size of a request on is the device faster than the processor's own instructions for AES? Each
// figure is the median of several requests, one after the other, from the data in memory to the result there.
// Use: crypt-compare [PLATFORM]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#include "cipher.hpp"

namespace {

using namespace crypt_nbd;

constexpr std::size_t kSmallest = 4U << 10U;
constexpr std::size_t kLargest = 64U << 20U;

/// The median time of a call, in seconds.
double median_time(const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  constexpr int kFewest = 5, kMost = 101;
  constexpr double kEnough = 0.5;
  std::vector<double> times;
  double all = 0;
  call();
  while (times.size() < kFewest || (times.size() < kMost && all < kEnough)) {
    const auto start = Clock::now();
    call();
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    all += times.back();
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

/// Divides a request among as many threads as the host has processors.
void encrypt_in_threads(Cipher& cipher, std::span<std::byte> data, std::size_t threads) {
  std::vector<std::thread> others;
  const std::size_t sectors = data.size() / kSector;
  const auto begin = [&](std::size_t thread) { return sectors * thread / threads; };
  for (std::size_t thread = 0; thread < threads; ++thread)
    others.emplace_back([&, thread] {
      cipher.encrypt(begin(thread),
                     data.subspan(begin(thread) * kSector, (begin(thread + 1) - begin(thread)) * kSector));
    });
  for (std::thread& other : others) other.join();
}

void compare(const char* platform) {
  Key key{};
  std::iota(key.begin(), key.end(), std::uint8_t{1});
  const auto device = make_device_cipher(platform, key, 1);
  const auto processor = make_processor_cipher(key);
  const std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::byte> data(kLargest);
  std::size_t faster = 0;
  std::printf("size\tdevice\tone processor\t%zu processors\tunit\n", threads);
  for (std::size_t size = kSmallest; size <= kLargest; size *= 2) {
    const std::span part = std::span(data).first(size);
    const auto rate = [size](double time) { return static_cast<double>(size) / time / 1e9; };
    const double on_device = rate(median_time([&] { device->encrypt(0, part); }));
    const double on_one = rate(median_time([&] { processor->encrypt(0, part); }));
    const double on_all = rate(median_time([&] { encrypt_in_threads(*processor, part, threads); }));
    if (on_device > std::max(on_one, on_all)) {
      if (faster == 0) faster = size;
    } else {
      faster = 0;
    }
    std::printf("%zu KiB\t%.3f\t%.3f\t%.3f\tGB/s\n", size / 1024, on_device, on_one, on_all);
    std::fflush(stdout);
  }
  if (faster != 0)
    std::printf("The device is faster than all processors for requests of %zu KiB or more.\n", faster / 1024);
  else
    std::printf("The device is never faster than all processors.\n");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    compare(argc > 1 ? argv[1] : "");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "crypt-compare: %s\n", error.what());
    return 1;
  }
}
