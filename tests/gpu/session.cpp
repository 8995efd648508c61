// One session that uses its device and releases nothing, as many programs do. tests/gpu/sessions starts many
// of them.
#include "gpu.hpp"

namespace clique::test {

class Session : public GpuTest {};

TEST_F(Session, GivenObjectsThatAreNeverReleasedThenItEnds) {
  Program program = build("kernel void k(global uint* data) { data[get_global_id(0)] += 7; }");
  Kernel k = kernel(program, "k");
  constexpr size_t kCount = 16U << 20U;
  const std::vector<cl_uint> zeros(kCount);
  Mem mem = buffer(kCount, zeros.data());
  set_args(k, mem);
  ASSERT_CL(launch(k, kCount));
  ASSERT_EQ(std::vector<cl_uint>(kCount, 7), read<cl_uint>(mem, kCount));
  ASSERT_CL(launch(k, kCount));
  k.release_ownership();
  program.release_ownership();
  mem.release_ownership();
  queue.release_ownership();
  context.release_ownership();
}

}  // namespace clique::test
