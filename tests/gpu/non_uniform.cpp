// NDRanges that are not a multiple of the work-group size: OpenCL 2.0 and later, optional in 3.0.
#include <array>

#include "gpu.hpp"

namespace clique::test {

/// The values that one work-item sees in one dimension.
struct Seen {
  std::array<cl_uint, 3> local, local_size, enqueued_size, group, groups, global, global_size, offset;
  cl_uint linear_local, linear_global;
  bool operator==(const Seen&) const = default;
};

class NonUniform : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (info<cl_bool>(clGetDeviceInfo, device, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT) != CL_TRUE ||
        !has_opencl_c_3())
      GTEST_SKIP() << "only whole work-groups";
  }

  using Sizes = std::array<size_t, 3>;

  static constexpr char source[] = R"(
    void see(global uint* out) {
      global uint* mine = out + get_global_linear_id() * 26;
      for (uint d = 0; d < 3; ++d) {
        mine[d] = get_local_id(d);
        mine[3 + d] = get_local_size(d);
        mine[6 + d] = get_enqueued_local_size(d);
        mine[9 + d] = get_group_id(d);
        mine[12 + d] = get_num_groups(d);
        mine[15 + d] = get_global_id(d);
        mine[18 + d] = get_global_size(d);
        mine[21 + d] = get_global_offset(d);
      }
      mine[24] = get_local_linear_id();
      mine[25] = get_global_linear_id();
    })";

  /// @param attribute an attribute of the kernel
  void check(cl_uint dimensions, const Sizes& offset, const Sizes& global, const Sizes& local,
             const std::string& attribute = "") {
    const Program program = build(("kernel " + attribute + source).c_str(), "-cl-std=CL3.0");
    const Kernel see = kernel(program, "see");
    const size_t count = global[0] * global[1] * global[2];
    const std::vector<Seen> nothing(count);
    const Mem out = buffer(count, nothing.data());
    set_args(see, out);
    ASSERT_CL(clEnqueueNDRangeKernel(queue, see, dimensions, offset.data(), global.data(), local.data(), 0,
                                     nullptr, nullptr));
    const std::vector<Seen> all = read<Seen>(out, count);
    size_t wrong = 0;
    for (size_t i = 0; i < count && wrong < 3; ++i) {
      const Sizes at = {i % global[0], i / global[0] % global[1], i / global[0] / global[1]};
      Seen expected{};
      for (size_t d = 0; d < 3; ++d) {
        const size_t group = at[d] / local[d];
        expected.local[d] = static_cast<cl_uint>(at[d] % local[d]);
        expected.local_size[d] = static_cast<cl_uint>(std::min(local[d], global[d] - group * local[d]));
        expected.enqueued_size[d] = static_cast<cl_uint>(local[d]);
        expected.group[d] = static_cast<cl_uint>(group);
        expected.groups[d] = static_cast<cl_uint>((global[d] + local[d] - 1) / local[d]);
        expected.global[d] = static_cast<cl_uint>(offset[d] + at[d]);
        expected.global_size[d] = static_cast<cl_uint>(global[d]);
        expected.offset[d] = static_cast<cl_uint>(offset[d]);
      }
      const auto& size = expected.local_size;
      expected.linear_local = (expected.local[2] * size[1] + expected.local[1]) * size[0] + expected.local[0];
      expected.linear_global = static_cast<cl_uint>(i);
      if (all[i] == expected) continue;
      ++wrong;
      ADD_FAILURE() << "work-item " << at[0] << ", " << at[1] << ", " << at[2] << " sees local id "
                    << all[i].local[0] << " of " << all[i].local_size[0] << ", group " << all[i].group[0]
                    << " of " << all[i].groups[0] << ", global id " << all[i].global[0];
    }
  }
};

TEST_F(NonUniform, GivenRemainderInOneDimensionThenIdsAndSizesAreRight) {
  check(1, {0, 0, 0}, {1000, 1, 1}, {64, 1, 1});
}

TEST_F(NonUniform, GivenFewerThanOneGroupThenItIsASmallerOne) {
  check(1, {0, 0, 0}, {7, 1, 1}, {64, 1, 1});
}

TEST_F(NonUniform, GivenRemaindersInTwoDimensionsThenIdsAndSizesAreRight) {
  check(2, {0, 0, 0}, {37, 21, 1}, {8, 4, 1});
}

TEST_F(NonUniform, GivenRemaindersInThreeDimensionsAndOffsetThenIdsAndSizesAreRight) {
  check(3, {5, 100, 3}, {19, 10, 7}, {4, 3, 2});
}

TEST_F(NonUniform, GivenOneDimensionWithRemainderOfThreeThenIdsAndSizesAreRight) {
  check(3, {0, 0, 0}, {16, 8, 5}, {4, 4, 4});
}

TEST_F(NonUniform, GivenRequiredSizeThenTheLastGroupsAreSmallerAllTheSame) {
  check(3, {0, 0, 0}, {19, 10, 7}, {4, 3, 2}, "__attribute__((reqd_work_group_size(4, 3, 2)))");
}

TEST_F(NonUniform, GivenBarriersThenTheSmallerGroupMeetsToo) {
  const Program program = build(R"(
    kernel void turn(global uint* data) {
      local uint words[64];
      const uint me = get_local_id(0), last = get_local_size(0) - 1;
      words[me] = data[get_global_id(0)];
      barrier(CLK_LOCAL_MEM_FENCE);
      data[get_global_id(0)] = words[last - me];
    })",
                                "-cl-std=CL3.0");
  const Kernel turn = kernel(program, "turn");
  constexpr size_t kCount = 64 * 5 + 13;
  std::vector<cl_uint> data(kCount), expected(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    data[i] = static_cast<cl_uint>(i * 3);
    const size_t begin = i / 64 * 64;
    const size_t end = std::min(begin + 64, kCount);
    expected[i] = static_cast<cl_uint>((end - 1 - (i - begin)) * 3);
  }
  const Mem mem = buffer(kCount, data.data());
  set_args(turn, mem);
  ASSERT_CL(launch(turn, kCount, 64));
  EXPECT_EQ(expected, read<cl_uint>(mem, kCount));
}

TEST_F(NonUniform, GivenProgramForUniformGroupsThenInvalidWorkGroupSize) {
  const Program program = build("kernel void k(global uint* out) { out[get_global_id(0)] = 1; }",
                                "-cl-std=CL3.0 -cl-uniform-work-group-size");
  const Kernel k = kernel(program, "k");
  const Mem out = buffer<cl_uint>(100);
  set_args(k, out);
  EXPECT_EQ(CL_INVALID_WORK_GROUP_SIZE, launch(k, 100, 64));
}

}  // namespace clique::test
