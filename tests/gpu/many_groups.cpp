// Ranges with more work-groups in the second and third dimension than a CUDA grid may have (65535), in
// programs that use only whole work-groups.
#include <array>

#include "gpu.hpp"

namespace clique::test {

class ManyGroups : public GpuTest {
 protected:
  using Sizes = std::array<size_t, 3>;

  /// Each work-item writes the values that it sees, folded into one number, to its own place.
  static constexpr char source[] = R"(
    kernel void see(global uint* out) {
      const size_t x = get_global_id(0) - get_global_offset(0);
      const size_t y = get_global_id(1) - get_global_offset(1);
      const size_t z = get_global_id(2) - get_global_offset(2);
      const size_t place = (z * get_global_size(1) + y) * get_global_size(0) + x;
      bool right = true;
      for (uint d = 0; d < 3; ++d)
        right = right && get_global_id(d) - get_global_offset(d) ==
                             get_group_id(d) * get_local_size(d) + get_local_id(d) &&
                get_num_groups(d) * get_local_size(d) == get_global_size(d);
      out[place] = right ? (uint)place * 3 + 1 : 0;
    })";

  void check(const Sizes& offset, const Sizes& global, const Sizes& local) {
    const Program program = build(source);
    const Kernel see = kernel(program, "see");
    const size_t count = global[0] * global[1] * global[2];
    const std::vector<cl_uint> nothing(count);
    const Mem out = buffer(count, nothing.data());
    set_args(see, out);
    ASSERT_CL(clEnqueueNDRangeKernel(queue, see, 3, offset.data(), global.data(), local.data(), 0, nullptr,
                                     nullptr));
    const auto seen = read<cl_uint>(out, count);
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(static_cast<cl_uint>(i) * 3 + 1, seen[i]) << i;
  }
};

TEST_F(ManyGroups, GivenManyInTheSecondDimensionThenEachRunsOnce) {
  check({0, 0, 0}, {4, 200000, 1}, {2, 1, 1});
}

TEST_F(ManyGroups, GivenManyInTheThirdDimensionAndAnOffsetThenEachRunsOnce) {
  check({5, 6, 7}, {2, 2, 131072}, {2, 1, 1});
}

TEST_F(ManyGroups, GivenManyInBothThenEachRunsOnce) {
  check({0, 0, 0}, {1, 65536, 65}, {1, 1, 1});
}

}  // namespace clique::test
