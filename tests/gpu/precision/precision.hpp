// Runs functions on the device and compares the results with exact ones.
#pragma once

#include <functional>
#include <sstream>
#include <string>
#include <tuple>

#include "../gpu.hpp"
#include "format.hpp"
#include "functions.hpp"

namespace clique::test {

class PrecisionTest : public GpuTest {
 protected:
  template <typename T>
  bool has_format() {
    if constexpr (std::is_same_v<T, double>) return has_extension("cl_khr_fp64");
    if constexpr (std::is_same_v<T, Half16>) return has_extension("cl_khr_fp16");
    return true;
  }

  /// Whether the device supports denormal numbers of T.
  template <typename T>
  bool has_denormals() {
    if constexpr (std::is_same_v<T, float>)
      return (info<cl_device_fp_config>(clGetDeviceInfo, device, CL_DEVICE_SINGLE_FP_CONFIG) &
              CL_FP_DENORM) != 0;
    return true;
  }

  /// `T` in the source stands for the format's name.
  template <typename T>
  Program build_for(const std::string& source, const std::string& options = "") {
    const std::string enable =
        std::is_same_v<T, Half16> ? "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n" : "";
    return build((enable + source).c_str(), (options + " -DT=" + Format<T>::name).c_str());
  }

  /// Returns one result for each element of the inputs.
  template <typename R, typename... In>
  std::vector<R> run(cl_program program, const std::string& name, const std::vector<In>&... inputs) {
    const size_t count = std::min({inputs.size()...});
    const Kernel k = kernel(program, name.c_str());
    const Mem out = buffer<R>(count);
    const std::tuple memory{buffer(inputs.size(), inputs.data())...};
    std::apply([&](const auto&... in) { set_args(k, in..., out); }, memory);
    EXPECT_CL(launch(k, count));
    return read<R>(out, count);
  }
};

/// Where the error of a function was largest, and which results were wrong.
class Verdict {
 public:
  explicit Verdict(std::string name, long double limit) : name_(std::move(name)), limit_(limit) {}

  void add(long double error, const std::function<std::string()>& describe) {
    if (error > worst_) worst_ = error;
    if (error <= limit_) return;
    if (++wrong_ <= 5) examples_ += "  " + describe() + "\n";
  }

  /// Fails the test if the error exceeded a limit; otherwise records the largest error in the test's report.
  void report() const {
    ::testing::Test::RecordProperty(name_, std::to_string(worst_));
    if (wrong_ != 0) {
      ADD_FAILURE() << name_ << ": " << wrong_ << " results are further off than " << limit_
                    << " units in the last place, at most " << worst_ << "\n"
                    << examples_;
    }
  }

 private:
  std::string name_;
  long double limit_;
  long double worst_ = 0;
  int wrong_ = 0;
  std::string examples_;
};

inline std::string exactly(long double x) {
  char text[64];
  std::snprintf(text, sizeof text, "%.9Lg (%La)", x, x);
  return text;
}

/// Whether `x` is not 0 and smaller in size than the normal numbers of T.
template <typename T>
bool is_denormal(long double x) {
  return x != 0 && std::abs(x) < std::ldexp(1.0L, Format<T>::least);
}

}  // namespace clique::test
