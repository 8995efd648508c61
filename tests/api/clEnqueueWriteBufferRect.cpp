// clEnqueueWriteBufferRect: OpenCL 3.0, section 5.2.2.
#include "rects.hpp"

namespace clique::test::suite_clEnqueueWriteBufferRect {

class clEnqueueWriteBufferRect : public ApiTest {
 protected:
  static constexpr size_t kSize = 4096;

  cl_int write_rect(cl_mem mem, const Size3& region, const Rect& in_buffer, const Rect& in_host,
                    const void* ptr) {
    return ::clEnqueueWriteBufferRect(queue, mem, CL_TRUE, in_buffer.origin.data(), in_host.origin.data(),
                                      region.data(), in_buffer.row_pitch, in_buffer.slice_pitch,
                                      in_host.row_pitch, in_host.slice_pitch, ptr, 0, nullptr, nullptr);
  }
  cl_int enqueue(cl_command_queue on, cl_mem mem, cl_bool blocking, const void* ptr, cl_uint count,
                 const cl_event* list, cl_event* event) {
    const Size3 origin = {0, 0, 0};
    const Size3 region = {8, 4, 2};
    return ::clEnqueueWriteBufferRect(on, mem, blocking, origin.data(), origin.data(), region.data(), 0, 0, 0,
                                      0, ptr, count, list, event);
  }
};

TEST_F(clEnqueueWriteBufferRect, GivenEachKindOfRectangleThenBytesAreTheHosts) {
  for (const RectCase& each : rect_cases()) {
    const Bytes source = numbered_bytes(each.source.end(each.region));
    Bytes expected(each.target.end(each.region) + 8, 0xA5);
    const Mem mem = buffer(expected.size(), expected.data());
    copy_rect(source, each.source, expected, each.target, each.region);
    ASSERT_CL(write_rect(mem, each.region, each.target, each.source, source.data()));
    EXPECT_EQ(expected, read<unsigned char>(mem, expected.size()));
  }
}

TEST_F(clEnqueueWriteBufferRect, GivenNonBlockingWriteThenBytesAreThereWhenTheEventCompletes) {
  const Bytes source = numbered_bytes(64);
  const Mem mem = buffer<unsigned char>(kSize);
  Event event;
  ASSERT_CL(enqueue(queue, mem, CL_FALSE, source.data(), 0, nullptr, event.out()));
  ASSERT_CL(clWaitForEvents(1, event.ptr()));
  EXPECT_EQ(source, read<unsigned char>(mem, 64));
}

TEST_F(clEnqueueWriteBufferRect, GivenRowsWrittenByAllDevicesThenTheyAllCount) {
  const Bytes zeros(kSize, 0);
  const Mem mem = buffer(kSize, zeros.data());
  const Bytes source = numbered_bytes(kSize);
  Bytes expected = zeros;
  for (size_t row = 0; row < 16; ++row) {
    queue = make_queue(0, devices()[row % devices().size()]);
    const Rect rect = {{3, row, 0}, 64, 1024};
    ASSERT_CL(write_rect(mem, {50, 1, 1}, rect, rect, source.data()));
    copy_rect(source, rect, expected, rect, {50, 1, 1});
  }
  EXPECT_EQ(expected, read<unsigned char>(mem, kSize));
}

TEST_F(clEnqueueWriteBufferRect, GivenBadRegionOrPitchesThenInvalidValue) {
  const Mem mem = buffer<unsigned char>(kSize);
  Bytes host(kSize);
  for (const BadRect& bad : bad_rects()) {
    EXPECT_EQ(CL_INVALID_VALUE, write_rect(mem, bad.region, bad.rect, {}, host.data()))
        << "buffer: " << bad.why;
    EXPECT_EQ(CL_INVALID_VALUE, write_rect(mem, bad.region, {}, bad.rect, host.data()))
        << "host: " << bad.why;
  }
}

TEST_F(clEnqueueWriteBufferRect, GivenRectangleOutsideTheBufferThenInvalidValue) {
  const Mem mem = buffer<unsigned char>(kSize);
  Bytes host(4 * kSize);
  for (const BadRect& bad : out_of_bounds_rects(kSize)) {
    EXPECT_EQ(CL_INVALID_VALUE, write_rect(mem, bad.region, bad.rect, {}, host.data())) << bad.why;
  }
}

TEST_F(clEnqueueWriteBufferRect, GivenNullArgumentsThenInvalidValue) {
  const Mem mem = buffer<unsigned char>(kSize);
  const Size3 origin = {0, 0, 0};
  const Size3 region = {8, 4, 2};
  Bytes host(kSize);
  const auto call = [&](const size_t* buffer_origin, const size_t* host_origin, const size_t* of, void* ptr) {
    return ::clEnqueueWriteBufferRect(queue, mem, CL_TRUE, buffer_origin, host_origin, of, 0, 0, 0, 0, ptr, 0,
                                      nullptr, nullptr);
  };
  EXPECT_EQ(CL_INVALID_VALUE, call(nullptr, origin.data(), region.data(), host.data()));
  EXPECT_EQ(CL_INVALID_VALUE, call(origin.data(), nullptr, region.data(), host.data()));
  EXPECT_EQ(CL_INVALID_VALUE, call(origin.data(), origin.data(), nullptr, host.data()));
  EXPECT_EQ(CL_INVALID_VALUE, call(origin.data(), origin.data(), region.data(), nullptr));
}

TEST_F(clEnqueueWriteBufferRect, GivenObjectThatIsNoBufferThenInvalidMemObject) {
  Bytes host(kSize);
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, enqueue(queue, nullptr, CL_TRUE, host.data(), 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT,
            enqueue(queue, foreign_handle<cl_mem>(), CL_TRUE, host.data(), 0, nullptr, nullptr));
}

TEST_F(clEnqueueWriteBufferRect, GivenBufferThatIsClosedToTheHostThenInvalidOperation) {
  Bytes host(kSize);
  for (const cl_mem_flags flags : {CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_NO_ACCESS}) {
    const Mem closed = buffer<unsigned char>(kSize, nullptr, flags);
    EXPECT_EQ(CL_INVALID_OPERATION, enqueue(queue, closed, CL_TRUE, host.data(), 0, nullptr, nullptr));
  }
}

TEST_F(clEnqueueWriteBufferRect, GivenCallThenRulesOfEveryEnqueueHold) {
  const Mem mem = buffer<unsigned char>(kSize);
  Bytes host(kSize);
  expect_enqueue_rules(context, device, CL_COMMAND_WRITE_BUFFER_RECT,
                       [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
                         return enqueue(on, mem, CL_FALSE, host.data(), count, list, event);
                       });
}

TEST_F(clEnqueueWriteBufferRect, GivenFailedEventInWaitListThenItIsReported) {
  const Mem mem = buffer<unsigned char>(kSize);
  Bytes host(kSize);
  expect_blocking_reports_failed_event(
      context, device, [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
        return enqueue(on, mem, CL_TRUE, host.data(), count, list, event);
      });
  expect_failed_event_ends_command(
      context, device, [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
        return enqueue(on, mem, CL_FALSE, host.data(), count, list, event);
      });
}

}  // namespace clique::test::suite_clEnqueueWriteBufferRect
