// Functions that a whole work-group or sub-group calls: every type and operation, also in groups that are not
// a multiple of the sub-group size, and in divergent code.
#include <functional>

#include "gpu.hpp"

namespace clique::test {

namespace {

struct Operation {
  const char* name;
  std::function<double(double, double)> combine;
  std::function<double(double least, double greatest)> neutral;
};

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all = {
      {"add", [](double a, double b) { return a + b; }, [](double, double) { return 0; }},
      {"min", [](double a, double b) { return std::min(a, b); }, [](double, double most) { return most; }},
      {"max", [](double a, double b) { return std::max(a, b); }, [](double least, double) { return least; }},
  };
  return all;
}

/// Small enough for sums to be exact in every 16-bit type.
double input(size_t i) {
  return static_cast<double>(1 + (i * 37) % 19);
}

}  // namespace

class Collectives : public GpuTest {
 protected:
  /// Runs `statement` for each item of `groups` groups of `local` items, and returns `result`, a double, of
  /// each. `value` is the item's input.
  std::vector<double> run(const std::string& type, const std::string& statement, size_t local,
                          size_t groups = 3) {
    const std::string source =
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
        "kernel void k(global const float* in, global float* out) {\n"
        "  const size_t i = get_global_id(0);\n  const " +
        type + " value = (" + type + ")in[i];\n  " + type + " result = 0;\n  " + statement +
        "\n  out[i] = (float)result; }";
    const Program program = build(source.c_str(), "-cl-std=CL3.0");
    const Kernel k = kernel(program, "k");
    std::vector<float> data(local * groups);
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(input(i));
    const Mem in = buffer(data.size(), data.data());
    const Mem out = buffer<float>(data.size());
    set_args(k, in, out);
    EXPECT_CL(launch(k, data.size(), local));
    const auto got = read<float>(out, data.size());
    return {got.begin(), got.end()};
  }

  /// Checks a reduction and both scans over parts of `part` items of each group. The names of the functions
  /// begin with `prefix`.
  void check(const std::string& type, const std::string& prefix, size_t local, size_t part) {
    for (const Operation& operation : operations()) {
      const std::string name = operation.name;
      const auto reduced = run(type, "result = " + prefix + "reduce_" + name + "(value);", local);
      const auto inclusive = run(type, "result = " + prefix + "scan_inclusive_" + name + "(value);", local);
      // The result of an exclusive scan for the first item depends on the type and is not checked.
      const auto exclusive = run(type, "result = " + prefix + "scan_exclusive_" + name + "(value);", local);
      for (size_t begin = 0; begin < reduced.size();) {
        const size_t in_group = begin % local;
        const size_t end = begin + std::min(part, local - in_group);
        double sum = input(begin);
        for (size_t i = begin; i < end; ++i) {
          if (i != begin) {
            EXPECT_EQ(sum, exclusive[i])
                << prefix << "scan_exclusive_" << name << " of " << type << ", " << local << ", " << i;
            sum = operation.combine(sum, input(i));
          } else if (name == "add") {
            EXPECT_EQ(0, exclusive[i]) << prefix << type << ", " << local << ", " << i;
          }
          EXPECT_EQ(sum, inclusive[i])
              << prefix << "scan_inclusive_" << name << " of " << type << ", " << local << ", " << i;
        }
        for (size_t i = begin; i < end; ++i)
          EXPECT_EQ(sum, reduced[i]) << prefix << "reduce_" << name << " of " << type << ", " << local << ", "
                                     << i;
        begin = end;
      }
    }
  }

  bool has_work_group_functions() {
    return has_opencl_c_3() && info<cl_bool>(clGetDeviceInfo, device,
                                             CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT) != CL_FALSE;
  }
  std::vector<std::string> wide_types() {
    std::vector<std::string> types = {"int", "uint", "long", "ulong", "float"};
    if (has_extension("cl_khr_fp64")) types.emplace_back("double");
    return types;
  }
  size_t width() { return static_cast<size_t>(run("uint", "result = get_max_sub_group_size();", 64)[0]); }
};

TEST_F(Collectives, GivenWorkGroupsThenReductionsAndScansAreOverAllItems) {
  if (!has_work_group_functions()) GTEST_SKIP() << "no work-group collective functions";
  for (const std::string& type : wide_types())
    for (const size_t local : {size_t{1}, size_t{24}, size_t{64}, size_t{200}})
      check(type, "work_group_", local, local);
}

TEST_F(Collectives, GivenWorkGroupsThenVotesAndBroadcasts) {
  if (!has_work_group_functions()) GTEST_SKIP() << "no work-group collective functions";
  for (const size_t local : {size_t{24}, size_t{200}}) {
    const auto votes =
        run("int",
            "result = (work_group_all(value > 0) ? 1 : 0) + (work_group_all(value > 1) ? 2 : 0) + "
            "(work_group_any(value == 5) ? 4 : 0) + (work_group_any(value > 19) ? 8 : 0);",
            local);
    for (const double vote : votes) EXPECT_EQ(5, vote);
    for (const std::string& type : wide_types()) {
      // Two broadcasts, so that the second must not overtake the first.
      const auto got = run(type,
                           "result = work_group_broadcast(value, 7) * 100;"
                           " result += work_group_broadcast(value, get_local_size(0) - 1);",
                           local);
      for (size_t i = 0; i < got.size(); ++i) {
        const size_t begin = i - i % local;
        EXPECT_EQ(input(begin + 7) * 100 + input(begin + local - 1), got[i])
            << type << ", " << local << ", " << i;
      }
    }
  }
}

TEST_F(Collectives, GivenSubGroupsThenReductionsAndScansOfEveryType) {
  if (!has_extension("cl_khr_subgroups")) GTEST_SKIP() << "no sub-groups";
  std::vector<std::string> types = wide_types();
  if (has_extension("cl_khr_subgroup_extended_types"))
    types.insert(types.end(), {"char", "uchar", "short", "ushort"});
  if (has_extension("cl_khr_fp16")) types.emplace_back("half");
  const size_t part = width();
  for (const std::string& type : types) {
    // The sum of 32 numbers of up to 19 does not fit into a char.
    if (type == "char" || type == "uchar") continue;
    for (const size_t local : {size_t{64}, size_t{200}}) check(type, "sub_group_", local, part);
  }
}

TEST_F(Collectives, GivenDivergentItemsThenFunctionsOfTheActiveOnes) {
  if (!has_extension("cl_khr_subgroup_non_uniform_arithmetic")) GTEST_SKIP() << "no non-uniform arithmetic";
  const size_t part = width();
  constexpr size_t kLocal = 200;
  const auto same = [](size_t a, size_t b) { return (a % 3 == 0) == (b % 3 == 0); };
  for (const char* type : {"char", "ushort", "int", "ulong", "float", "double"}) {
    // Both sides of a branch call the function. The bits of small numbers fit into a char.
    const auto both = [&](const std::string& call) {
      return run(type, "if (i % 200 % 3 == 0) result = " + call + "; else result = " + call + ";", kLocal);
    };
    const auto reduced = both("sub_group_non_uniform_reduce_max(value)");
    const auto inclusive = both("sub_group_non_uniform_scan_inclusive_max(value)");
    const auto exclusive = both("sub_group_non_uniform_scan_exclusive_add((value > 9 ? 1 : 0))");
    for (size_t i = 0; i < reduced.size(); ++i) {
      const size_t group = i - i % kLocal, first = group + i % kLocal / part * part;
      double most = 0, most_before = 0, count = 0;
      for (size_t j = first; j < std::min(first + part, group + kLocal); ++j) {
        if (!same(j - group, i - group)) continue;
        most = std::max(most, input(j));
        if (j <= i) most_before = std::max(most_before, input(j));
        if (j < i && input(j) > 9) ++count;
      }
      EXPECT_EQ(most, reduced[i]) << type << ", " << i;
      EXPECT_EQ(most_before, inclusive[i]) << type << ", " << i;
      EXPECT_EQ(count, exclusive[i]) << type << ", " << i;
    }
  }
}

TEST_F(Collectives, GivenClustersThenReductionsAndRotationsStayInside) {
  if (!has_extension("cl_khr_subgroup_clustered_reduce") || !has_extension("cl_khr_subgroup_rotate"))
    GTEST_SKIP() << "no clustered reductions and rotations";
  constexpr size_t kLocal = 64;
  for (const char* type : {"int", "ulong", "float"}) {
    const auto sums = run(type, "result = sub_group_clustered_reduce_add(value, 8u);", kLocal);
    const auto rotated = run(type, "result = sub_group_clustered_rotate(value, 3, 8u);", kLocal);
    const auto all_rotated = run(type, "result = sub_group_rotate(value, -5);", kLocal);
    const size_t part = width();
    for (size_t i = 0; i < sums.size(); ++i) {
      const size_t cluster = i / 8 * 8;
      double sum = 0;
      for (size_t j = cluster; j < cluster + 8; ++j) sum += input(j);
      EXPECT_EQ(sum, sums[i]) << type << ", " << i;
      EXPECT_EQ(input(cluster + (i + 3) % 8), rotated[i]) << type << ", " << i;
      EXPECT_EQ(input(i / part * part + (i + part - 5) % part), all_rotated[i]) << type << ", " << i;
    }
  }
}

TEST_F(Collectives, GivenMasksThenBitsOfFullSubGroups) {
  if (!has_extension("cl_khr_subgroup_ballot")) GTEST_SKIP() << "no ballots";
  // Sub-groups of 32 items, the last one of 8.
  constexpr size_t kLocal = 200;
  constexpr size_t kSize = 32;
  if (width() != kSize) GTEST_SKIP() << "sub-groups are not of 32";
  const auto bits_of = [&](const std::string& mask) {
    return run("uint", "const uint4 m = " + mask + "; result = popcount(m.x) * 100 + (m.x ? ctz(m.x) : 99);",
               kLocal);
  };
  const auto equal = bits_of("get_sub_group_eq_mask()"), at_least = bits_of("get_sub_group_ge_mask()"),
             above = bits_of("get_sub_group_gt_mask()"), at_most = bits_of("get_sub_group_le_mask()"),
             below = bits_of("get_sub_group_lt_mask()");
  const auto encoded = [](size_t count, size_t lowest) {
    return static_cast<double>(count * 100 + (count != 0 ? lowest : 99));
  };
  for (size_t i = 0; i < equal.size(); ++i) {
    const size_t id = i % kLocal % kSize;
    EXPECT_EQ(encoded(1, id), equal[i]) << i;
    EXPECT_EQ(encoded(kSize - id, id), at_least[i]) << i;
    EXPECT_EQ(encoded(kSize - id - 1, id + 1), above[i]) << i;
    EXPECT_EQ(encoded(id + 1, 0), at_most[i]) << i;
    EXPECT_EQ(encoded(id, 0), below[i]) << i;
  }
}

}  // namespace clique::test
