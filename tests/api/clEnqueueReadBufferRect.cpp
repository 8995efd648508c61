// clEnqueueReadBufferRect: OpenCL 3.0, section 5.2.2.
#include "rects.hpp"

namespace clique::test::suite_clEnqueueReadBufferRect {

class clEnqueueReadBufferRect : public ApiTest {
 protected:
  static constexpr size_t kSize = 4096;

  cl_int read_rect(cl_mem mem, const Size3& region, const Rect& in_buffer, const Rect& in_host, void* ptr) {
    return ::clEnqueueReadBufferRect(queue, mem, CL_TRUE, in_buffer.origin.data(), in_host.origin.data(),
                                     region.data(), in_buffer.row_pitch, in_buffer.slice_pitch,
                                     in_host.row_pitch, in_host.slice_pitch, ptr, 0, nullptr, nullptr);
  }
  cl_int enqueue(cl_command_queue on, cl_mem mem, cl_bool blocking, void* ptr, cl_uint count,
                 const cl_event* list, cl_event* event) {
    const Size3 origin = {0, 0, 0};
    const Size3 region = {8, 4, 2};
    return ::clEnqueueReadBufferRect(on, mem, blocking, origin.data(), origin.data(), region.data(), 0, 0, 0,
                                     0, ptr, count, list, event);
  }
};

TEST_F(clEnqueueReadBufferRect, GivenEachKindOfRectangleThenBytesAreTheHosts) {
  for (const RectCase& each : rect_cases()) {
    const Bytes source = numbered_bytes(each.source.end(each.region));
    Bytes expected(each.target.end(each.region) + 8, 0xA5);
    Bytes out = expected;
    copy_rect(source, each.source, expected, each.target, each.region);
    const Mem mem = buffer(source.size(), source.data());
    ASSERT_CL(read_rect(mem, each.region, each.source, each.target, out.data()));
    EXPECT_EQ(expected, out);
  }
}

TEST_F(clEnqueueReadBufferRect, GivenNonBlockingReadThenBytesAreThereWhenTheEventCompletes) {
  const Bytes source = numbered_bytes(kSize);
  const Mem mem = buffer(source.size(), source.data());
  Bytes out(64);
  Event event;
  ASSERT_CL(enqueue(queue, mem, CL_FALSE, out.data(), 0, nullptr, event.out()));
  ASSERT_CL(clWaitForEvents(1, event.ptr()));
  EXPECT_EQ(Bytes(source.begin(), source.begin() + 64), out);
}

TEST_F(clEnqueueReadBufferRect, GivenEachDeviceThenSameBytes) {
  const Bytes source = numbered_bytes(kSize);
  const Mem mem = buffer(source.size(), source.data());
  for (const cl_device_id each : devices()) {
    queue = make_queue(0, each);
    Bytes out(64);
    ASSERT_CL(read_rect(mem, {64, 1, 1}, {{100, 2, 0}, 200, 400}, {}, out.data()));
    EXPECT_EQ(Bytes(source.begin() + 500, source.begin() + 564), out);
  }
}

TEST_F(clEnqueueReadBufferRect, GivenBadRegionOrPitchesThenInvalidValue) {
  const Mem mem = buffer<unsigned char>(kSize);
  Bytes host(kSize);
  for (const BadRect& bad : bad_rects()) {
    EXPECT_EQ(CL_INVALID_VALUE, read_rect(mem, bad.region, bad.rect, {}, host.data()))
        << "buffer: " << bad.why;
    EXPECT_EQ(CL_INVALID_VALUE, read_rect(mem, bad.region, {}, bad.rect, host.data())) << "host: " << bad.why;
  }
}

TEST_F(clEnqueueReadBufferRect, GivenRectangleOutsideTheBufferThenInvalidValue) {
  const Mem mem = buffer<unsigned char>(kSize);
  Bytes host(4 * kSize);
  for (const BadRect& bad : out_of_bounds_rects(kSize)) {
    EXPECT_EQ(CL_INVALID_VALUE, read_rect(mem, bad.region, bad.rect, {}, host.data())) << bad.why;
  }
}

TEST_F(clEnqueueReadBufferRect, GivenNullArgumentsThenInvalidValue) {
  const Mem mem = buffer<unsigned char>(kSize);
  const Size3 origin = {0, 0, 0};
  const Size3 region = {8, 4, 2};
  Bytes host(kSize);
  const auto call = [&](const size_t* buffer_origin, const size_t* host_origin, const size_t* of, void* ptr) {
    return ::clEnqueueReadBufferRect(queue, mem, CL_TRUE, buffer_origin, host_origin, of, 0, 0, 0, 0, ptr, 0,
                                     nullptr, nullptr);
  };
  EXPECT_EQ(CL_INVALID_VALUE, call(nullptr, origin.data(), region.data(), host.data()));
  EXPECT_EQ(CL_INVALID_VALUE, call(origin.data(), nullptr, region.data(), host.data()));
  EXPECT_EQ(CL_INVALID_VALUE, call(origin.data(), origin.data(), nullptr, host.data()));
  EXPECT_EQ(CL_INVALID_VALUE, call(origin.data(), origin.data(), region.data(), nullptr));
}

TEST_F(clEnqueueReadBufferRect, GivenObjectThatIsNoBufferThenInvalidMemObject) {
  Bytes host(kSize);
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, enqueue(queue, nullptr, CL_TRUE, host.data(), 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT,
            enqueue(queue, foreign_handle<cl_mem>(), CL_TRUE, host.data(), 0, nullptr, nullptr));
}

TEST_F(clEnqueueReadBufferRect, GivenBufferThatIsClosedToTheHostThenInvalidOperation) {
  Bytes host(kSize);
  for (const cl_mem_flags flags : {CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_NO_ACCESS}) {
    const Mem closed = buffer<unsigned char>(kSize, nullptr, flags);
    EXPECT_EQ(CL_INVALID_OPERATION, enqueue(queue, closed, CL_TRUE, host.data(), 0, nullptr, nullptr));
  }
}

TEST_F(clEnqueueReadBufferRect, GivenCallThenRulesOfEveryEnqueueHold) {
  const Mem mem = buffer<unsigned char>(kSize);
  Bytes host(kSize);
  expect_enqueue_rules(context, device, CL_COMMAND_READ_BUFFER_RECT,
                       [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
                         return enqueue(on, mem, CL_FALSE, host.data(), count, list, event);
                       });
}

TEST_F(clEnqueueReadBufferRect, GivenFailedEventInWaitListThenItIsReported) {
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

}  // namespace clique::test::suite_clEnqueueReadBufferRect
