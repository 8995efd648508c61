// Functions of numbers whose squares exceed the range of their format.
#include <cmath>
#include <limits>

#include "gpu.hpp"

namespace clique::test {

class Extremes : public GpuTest {};

TEST_F(Extremes, GivenGreatestNumberThenHypotIsFinite) {
  if (!has_extension("cl_khr_fp64")) GTEST_SKIP() << "no double";
  const Kernel k = kernel(build("kernel void k(global const double2* in, global double* out) {"
                                " const uint i = get_global_id(0); out[i] = hypot(in[i].x, in[i].y); }"),
                          "k");
  constexpr double most = std::numeric_limits<double>::max();
  constexpr double least = std::numeric_limits<double>::denorm_min();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> pairs = {0x1.0000000000001p+64,
                                     most,
                                     most,
                                     0,
                                     -most,
                                     least,
                                     least,
                                     0,
                                     -3 * least,
                                     4 * least,
                                     3,
                                     -4,
                                     most,
                                     -infinity,
                                     3,
                                     infinity,
                                     no_number,
                                     -infinity,
                                     0,
                                     0};
  const std::vector<double> expected = {most, most,     most,     least,    5 * least,
                                        5,    infinity, infinity, infinity, 0};
  const Mem in = buffer(pairs.size(), pairs.data());
  const Mem out = buffer<double>(expected.size());
  set_args(k, in, out);
  ASSERT_CL(launch(k, expected.size()));
  EXPECT_EQ(read<double>(out, expected.size()), expected);
  const double none[] = {no_number, 1, most, no_number};
  const Mem strange = buffer(4, none);
  set_args(k, strange, out);
  ASSERT_CL(launch(k, 2));
  for (const double result : read<double>(out, 2)) EXPECT_TRUE(std::isnan(result));
}

TEST_F(Extremes, GivenGreatElementsThenNormalizeKeepsTheSmall) {
  const Kernel k = kernel(build("kernel void k(global const float2* in, global float2* out) {"
                                " const uint i = get_global_id(0); out[i] = normalize(in[i]); }"),
                          "k");
  const std::vector<float> pairs = {0x1p+100F, 0x1.8p-20F, 0x1p+127F, -0x1p+20F, 0x1p-100F,
                                    0x1p-120F, 0,          0,         3e30F,     -4e30F};
  const Mem in = buffer(pairs.size(), pairs.data());
  const Mem out = buffer<float>(pairs.size());
  set_args(k, in, out);
  ASSERT_CL(launch(k, pairs.size() / 2));
  const auto got = read<float>(out, pairs.size());
  const float expected[] = {1, 0x1.8p-120F, 1, -0x1p-107F, 1, 0x1p-20F, 0, 0, 0.6F, -0.8F};
  // Two units in the last place, and one for each product (§7.4).
  constexpr float unit = std::numeric_limits<float>::epsilon();
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], expected[i], 4 * unit * std::abs(expected[i])) << i;
}

}  // namespace clique::test
