// clEnqueueCopyBufferRect: OpenCL 3.0, section 5.2.3.
#include "rects.hpp"

namespace clique::test::suite_clEnqueueCopyBufferRect {

class clEnqueueCopyBufferRect : public ApiTest {
 protected:
  static constexpr size_t kSize = 4096;

  cl_int copy(cl_mem from, cl_mem to, const Size3& region, const Rect& in_from, const Rect& in_to) {
    return ::clEnqueueCopyBufferRect(queue, from, to, in_from.origin.data(), in_to.origin.data(),
                                     region.data(), in_from.row_pitch, in_from.slice_pitch, in_to.row_pitch,
                                     in_to.slice_pitch, 0, nullptr, nullptr);
  }
};

TEST_F(clEnqueueCopyBufferRect, GivenEachKindOfRectangleThenBytesAreTheHosts) {
  for (const RectCase& each : rect_cases()) {
    const Bytes bytes = numbered_bytes(each.source.end(each.region));
    Bytes expected(each.target.end(each.region) + 8, 0xA5);
    const Mem source = buffer(bytes.size(), bytes.data());
    const Mem target = buffer(expected.size(), expected.data());
    copy_rect(bytes, each.source, expected, each.target, each.region);
    ASSERT_CL(copy(source, target, each.region, each.source, each.target));
    EXPECT_EQ(expected, read<unsigned char>(target, expected.size()));
  }
}

TEST_F(clEnqueueCopyBufferRect, GivenDisjointRectanglesOfOneBufferThenCopied) {
  Bytes bytes = numbered_bytes(kSize);
  const Mem mem = buffer(bytes.size(), bytes.data());
  const Size3 region = {16, 8, 2};
  const Rect from = {{0, 0, 0}, 64, 64 * 16};
  // The rectangles interleave in memory but have no byte in common.
  const Rect to = {{16, 2, 1}, 64, 64 * 16};
  ASSERT_CL(copy(mem, mem, region, from, to));
  const Bytes before = bytes;
  copy_rect(before, from, bytes, to, region);
  EXPECT_EQ(bytes, read<unsigned char>(mem, kSize));
}

TEST_F(clEnqueueCopyBufferRect, GivenOverlapInOneBufferThenMemCopyOverlap) {
  const Mem mem = buffer<unsigned char>(kSize);
  const Size3 region = {16, 8, 2};
  const Rect from = {{0, 0, 0}, 64, 64 * 16};
  EXPECT_EQ(CL_MEM_COPY_OVERLAP, copy(mem, mem, region, from, from));
  EXPECT_EQ(CL_MEM_COPY_OVERLAP, copy(mem, mem, region, from, {{15, 7, 1}, 64, 64 * 16}));
}

TEST_F(clEnqueueCopyBufferRect, GivenOneBufferWithDifferentPitchesThenInvalidValue) {
  const Mem mem = buffer<unsigned char>(kSize);
  const Size3 region = {8, 4, 2};
  const Rect from = {{0, 0, 0}, 16, 64};
  EXPECT_EQ(CL_INVALID_VALUE, copy(mem, mem, region, from, {{0, 0, 16}, 32, 128}));
  EXPECT_EQ(CL_INVALID_VALUE, copy(mem, mem, region, from, {{0, 0, 16}, 16, 128}));
}

TEST_F(clEnqueueCopyBufferRect, GivenBadRegionOrPitchesThenInvalidValue) {
  const Mem source = buffer<unsigned char>(kSize);
  const Mem target = buffer<unsigned char>(kSize);
  for (const BadRect& bad : bad_rects()) {
    EXPECT_EQ(CL_INVALID_VALUE, copy(source, target, bad.region, bad.rect, {})) << "source: " << bad.why;
    EXPECT_EQ(CL_INVALID_VALUE, copy(source, target, bad.region, {}, bad.rect)) << "target: " << bad.why;
  }
}

TEST_F(clEnqueueCopyBufferRect, GivenRectangleOutsideABufferThenInvalidValue) {
  const Mem source = buffer<unsigned char>(kSize);
  const Mem target = buffer<unsigned char>(kSize);
  for (const BadRect& bad : out_of_bounds_rects(kSize)) {
    EXPECT_EQ(CL_INVALID_VALUE, copy(source, target, bad.region, bad.rect, {})) << "source: " << bad.why;
    EXPECT_EQ(CL_INVALID_VALUE, copy(source, target, bad.region, {}, bad.rect)) << "target: " << bad.why;
  }
}

TEST_F(clEnqueueCopyBufferRect, GivenNullArgumentsThenInvalidValue) {
  const Mem source = buffer<unsigned char>(kSize);
  const Mem target = buffer<unsigned char>(kSize);
  const Size3 origin = {0, 0, 0};
  const Size3 region = {8, 4, 2};
  const auto call = [&](const size_t* from, const size_t* to, const size_t* of) {
    return ::clEnqueueCopyBufferRect(queue, source, target, from, to, of, 0, 0, 0, 0, 0, nullptr, nullptr);
  };
  EXPECT_EQ(CL_INVALID_VALUE, call(nullptr, origin.data(), region.data()));
  EXPECT_EQ(CL_INVALID_VALUE, call(origin.data(), nullptr, region.data()));
  EXPECT_EQ(CL_INVALID_VALUE, call(origin.data(), origin.data(), nullptr));
}

TEST_F(clEnqueueCopyBufferRect, GivenObjectThatIsNoBufferThenInvalidMemObject) {
  const Mem mem = buffer<unsigned char>(kSize);
  for (const cl_mem bad : {cl_mem{}, foreign_handle<cl_mem>()}) {
    EXPECT_EQ(CL_INVALID_MEM_OBJECT, copy(bad, mem, {8, 4, 2}, {}, {}));
    EXPECT_EQ(CL_INVALID_MEM_OBJECT, copy(mem, bad, {8, 4, 2}, {}, {}));
  }
}

TEST_F(clEnqueueCopyBufferRect, GivenBufferOfAnotherContextThenInvalidContext) {
  const Mem mem = buffer<unsigned char>(kSize);
  const OtherContext other;
  EXPECT_EQ(CL_INVALID_CONTEXT, copy(mem, other.buffer, {8, 4, 2}, {}, {}));
  EXPECT_EQ(CL_INVALID_CONTEXT, copy(other.buffer, mem, {8, 4, 2}, {}, {}));
}

TEST_F(clEnqueueCopyBufferRect, GivenCallThenRulesOfEveryEnqueueHold) {
  const Mem source = buffer<unsigned char>(kSize);
  const Mem target = buffer<unsigned char>(kSize);
  const Size3 origin = {0, 0, 0};
  const Size3 region = {8, 4, 2};
  expect_enqueue_rules(context, device, CL_COMMAND_COPY_BUFFER_RECT,
                       [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
                         return ::clEnqueueCopyBufferRect(on, source, target, origin.data(), origin.data(),
                                                          region.data(), 0, 0, 0, 0, count, list, event);
                       });
}

}  // namespace clique::test::suite_clEnqueueCopyBufferRect
