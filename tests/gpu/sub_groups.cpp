// Sub-groups: OpenCL 3.0 C, section 6.15.19, and cl_khr_subgroup_*.
#include <algorithm>
#include <numeric>

#include "gpu.hpp"

namespace clique::test {

class SubGroups : public GpuTest {
 protected:
  static constexpr size_t kGlobal = 1024;
  static constexpr size_t kLocal = 256;

  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (info<cl_uint>(clGetDeviceInfo, device, CL_DEVICE_MAX_NUM_SUB_GROUPS) == 0 || !has_opencl_c_3())
      GTEST_SKIP() << "no sub-groups";
  }

  /// Runs `kernel void k(global uint* out, global const uint* in)` with `body`; in[i] = numbers()[i].
  std::vector<cl_uint> run(const std::string& body, size_t local = kLocal) {
    const std::string source =
        "#pragma OPENCL EXTENSION cl_khr_subgroups : enable\n"
        "kernel void k(global uint* out, global const uint* in) { const uint i = get_global_id(0); " +
        body + " }";
    const Program program = build(source.c_str(), "-cl-std=CL3.0");
    const Kernel made = kernel(program, "k");
    const std::vector<cl_uint> data = numbers();
    const Mem in = buffer(kGlobal, data.data());
    const Mem out = buffer<cl_uint>(kGlobal);
    set_args(made, out, in);
    EXPECT_CL(launch(made, kGlobal, local));
    return read<cl_uint>(out, kGlobal);
  }
  static std::vector<cl_uint> numbers() {
    std::vector<cl_uint> data(kGlobal);
    for (size_t i = 0; i < kGlobal; ++i) data[i] = static_cast<cl_uint>((i * 2654435761U) >> 16U) % 1000;
    return data;
  }
  /// The size of a full sub-group in a work-group of kLocal items.
  size_t width() {
    if (width_ == 0) width_ = run("out[i] = get_max_sub_group_size();").front();
    return width_;
  }
  /// The expected result of each work-item where a sub-group is `width()` consecutive work-items: f(begin,
  /// end, i).
  template <typename F>
  std::vector<cl_uint> each(F&& f) {
    std::vector<cl_uint> result;
    for (size_t i = 0; i < kGlobal; ++i)
      result.push_back(f(i / width() * width(), i / width() * width() + width(), i));
    return result;
  }

 private:
  size_t width_ = 0;
};

TEST_F(SubGroups, GivenWorkGroupThenIdsCountItsItems) {
  const auto ids = run("out[i] = get_sub_group_id() * get_max_sub_group_size() + get_sub_group_local_id();");
  const auto counts = run("out[i] = get_num_sub_groups() * 1000 + get_sub_group_size();");
  std::vector<cl_uint> expected;
  for (size_t i = 0; i < kGlobal; ++i) expected.push_back(static_cast<cl_uint>(i % kLocal));
  EXPECT_EQ(expected, ids);
  EXPECT_EQ(std::vector<cl_uint>(kGlobal, static_cast<cl_uint>(kLocal / width() * 1000 + width())), counts);
}

TEST_F(SubGroups, GivenReductionsThenEveryItemHasTheResult) {
  const auto in = numbers();
  EXPECT_EQ(each([&](size_t begin, size_t end, size_t) {
              return std::accumulate(in.begin() + static_cast<long>(begin),
                                     in.begin() + static_cast<long>(end), cl_uint{0});
            }),
            run("out[i] = sub_group_reduce_add(in[i]);"));
  EXPECT_EQ(each([&](size_t begin, size_t end, size_t) {
              return *std::max_element(in.begin() + static_cast<long>(begin),
                                       in.begin() + static_cast<long>(end));
            }),
            run("out[i] = sub_group_reduce_max(in[i]);"));
  EXPECT_EQ(each([&](size_t begin, size_t end, size_t) {
              return *std::min_element(in.begin() + static_cast<long>(begin),
                                       in.begin() + static_cast<long>(end));
            }),
            run("out[i] = (uint)sub_group_reduce_min((float)in[i]);"));
}

TEST_F(SubGroups, GivenScansThenSumsOfTheItemsBefore) {
  const auto in = numbers();
  const auto sum = [&](size_t begin, size_t end) {
    return std::accumulate(in.begin() + static_cast<long>(begin), in.begin() + static_cast<long>(end),
                           cl_uint{0});
  };
  EXPECT_EQ(each([&](size_t begin, size_t, size_t i) { return sum(begin, i); }),
            run("out[i] = sub_group_scan_exclusive_add(in[i]);"));
  EXPECT_EQ(each([&](size_t begin, size_t, size_t i) { return sum(begin, i + 1); }),
            run("out[i] = (uint)sub_group_scan_inclusive_add((long)in[i]);"));
}

TEST_F(SubGroups, GivenBroadcastAndVotesThenAllItemsAgree) {
  const auto in = numbers();
  EXPECT_EQ(each([&](size_t begin, size_t, size_t) { return in[begin + 3]; }),
            run("out[i] = sub_group_broadcast(in[i], 3);"));
  EXPECT_EQ(each([&](size_t begin, size_t end, size_t) -> cl_uint {
              const auto first = in.begin() + static_cast<long>(begin),
                         last = in.begin() + static_cast<long>(end);
              return (std::any_of(first, last, [](cl_uint x) { return x > 950; }) ? 1U : 0U) +
                     (std::all_of(first, last, [](cl_uint x) { return x > 20; }) ? 2U : 0U);
            }),
            run("out[i] = (sub_group_any(in[i] > 950) ? 1 : 0) + (sub_group_all(in[i] > 20) ? 2 : 0);"));
}

TEST_F(SubGroups, GivenPartialWorkGroupThenTheLastSubGroupIsSmaller) {
  const auto got = run("out[i] = sub_group_reduce_add(1u) * 1000 + get_sub_group_size();", kGlobal / 128 + 8);
  for (const cl_uint each : got) EXPECT_EQ(each / 1000, each % 1000);
}

TEST_F(SubGroups, GivenShuffleThenValuesOfOtherItems) {
  if (!has_extension("cl_khr_subgroup_shuffle")) GTEST_SKIP() << "no cl_khr_subgroup_shuffle";
  const auto in = numbers();
  EXPECT_EQ(each([&](size_t begin, size_t, size_t i) { return in[begin + ((i - begin) ^ 5U)]; }),
            run("out[i] = sub_group_shuffle_xor(in[i], 5);"));
  EXPECT_EQ(each([&](size_t begin, size_t end, size_t i) { return in[end - 1 - (i - begin)]; }),
            run("out[i] = (uint)sub_group_shuffle((ulong)in[i], get_sub_group_size() - 1 - "
                "get_sub_group_local_id());"));
}

TEST_F(SubGroups, GivenRelativeShuffleThenValuesOfItemsBesides) {
  if (!has_extension("cl_khr_subgroup_shuffle_relative"))
    GTEST_SKIP() << "no cl_khr_subgroup_shuffle_relative";
  const auto in = numbers();
  EXPECT_EQ(
      each([&](size_t begin, size_t, size_t i) { return i - begin >= 2 ? in[i - 2] : 7777; }),
      run("uint v = sub_group_shuffle_up(in[i], 2); out[i] = get_sub_group_local_id() >= 2 ? v : 7777;"));
}

TEST_F(SubGroups, GivenBallotThenBitsOfTheItemsThatAgree) {
  if (!has_extension("cl_khr_subgroup_ballot")) GTEST_SKIP() << "no cl_khr_subgroup_ballot";
  const auto in = numbers();
  EXPECT_EQ(each([&](size_t begin, size_t end, size_t) {
              return static_cast<cl_uint>(std::count_if(in.begin() + static_cast<long>(begin),
                                                        in.begin() + static_cast<long>(end),
                                                        [](cl_uint x) { return x % 3 == 0; }));
            }),
            run("out[i] = sub_group_ballot_bit_count(sub_group_ballot(in[i] % 3 == 0));"));
}

TEST_F(SubGroups, GivenBitsThenThoseOfFullSubGroupsCountEverywhere) {
  if (!has_extension("cl_khr_subgroup_ballot")) GTEST_SKIP() << "no cl_khr_subgroup_ballot";
  const auto highest = static_cast<cl_uint>(width() - 1);
  const std::string bits =
      "const uint4 bits = (uint4)(1u | 1u << " + std::to_string(highest) + ", 0, 0, 0); ";
  // The last sub-group of each work-group has 8 work-items.
  const size_t local = kGlobal / 128 + width();
  const size_t groups = (kGlobal + local - 1) / local;
  ASSERT_GT(groups, 1U);
  for (const cl_uint got : run(bits + "out[i] = sub_group_ballot_find_msb(bits);", local))
    EXPECT_EQ(highest, got);
  for (const cl_uint got : run(bits + "out[i] = sub_group_ballot_bit_count(bits);", local))
    EXPECT_EQ(2U, got);
  const std::string above = "popcount(get_sub_group_gt_mask().x) + get_sub_group_local_id()";
  for (const cl_uint got : run("out[i] = " + above + ";", local)) EXPECT_EQ(highest, got);
}

TEST_F(SubGroups, GivenDivergentItemsThenNonUniformFunctionsCountOnlyThose) {
  if (!has_extension("cl_khr_subgroup_non_uniform_arithmetic"))
    GTEST_SKIP() << "no cl_khr_subgroup_non_uniform_arithmetic";
  const auto in = numbers();
  EXPECT_EQ(each([&](size_t begin, size_t end, size_t i) {
              cl_uint sum = 0;
              for (size_t k = begin; k < end; ++k) sum += (k - begin) % 2 == (i - begin) % 2 ? in[k] : 0;
              return sum;
            }),
            run("if (get_sub_group_local_id() % 2) out[i] = sub_group_non_uniform_reduce_add(in[i]); "
                "else out[i] = sub_group_non_uniform_reduce_add(in[i]);"));
}

TEST_F(SubGroups, GivenQueryThenItAgreesWithTheKernel) {
  const Program program =
      build("kernel void k(global uint* out) { out[get_global_id(0)] = get_max_sub_group_size(); }",
            "-cl-std=CL3.0");
  const Kernel made = kernel(program, "k");
  size_t size = 0;
  size_t count = 0;
  ASSERT_CL(clGetKernelSubGroupInfo(made, device, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, sizeof kLocal,
                                    &kLocal, sizeof size, &size, nullptr));
  ASSERT_CL(clGetKernelSubGroupInfo(made, device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, sizeof kLocal,
                                    &kLocal, sizeof count, &count, nullptr));
  EXPECT_EQ(width(), size);
  EXPECT_EQ(kLocal / width(), count);
}

}  // namespace clique::test
