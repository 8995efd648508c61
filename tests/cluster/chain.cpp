// Chains of dependent commands over all devices of the platform, synchronised only by events: the data and
// the order have to propagate from node to node.
#include <array>
#include <memory>
#include <thread>

#include "../api/checks.hpp"
#include "../api/helpers.hpp"

namespace clique::test {

class Chain : public ApiTest {
 protected:
  static constexpr int hops = 210;
  static constexpr size_t length = 1024;
  using Data = std::vector<cl_uint>;

  static constexpr char source[] = R"(
kernel void advance(global uint* data, uint hop) {
  size_t i = get_global_id(0);
  data[i] = data[i] * 1664525u + hop + (uint)i;
}
kernel void advance_to(global const uint* in, global uint* out, uint hop) {
  size_t i = get_global_id(0);
  out[i] = in[i] * 1664525u + hop + (uint)i;
}
kernel void add_all(global const uint* a, global const uint* b, global uint* sum) {
  size_t i = get_global_id(0);
  sum[i] = a[i] + b[i];
}
)";
  static constexpr char image_source[] = R"(
constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
kernel void advance_image(read_only image2d_t in, write_only image2d_t out, uint hop) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  uint4 texel = read_imageui(in, nearest, at);
  write_imageui(out, at, texel * 1664525u + (uint4)(hop + at.x, hop + at.y, hop, 1));
}
)";

  void SetUp() override {
    ApiTest::SetUp();
    if (HasFatalFailure()) return;
    if (devices().size() < 2) GTEST_SKIP() << "needs a platform with two devices or more";
    program = build(source);
    step = kernel(program, "advance");
    ASSERT_NE(nullptr, step.get());
    queues = queue_per_device();
    for (size_t i = 0; i < length; ++i) initial.push_back(static_cast<cl_uint>(i * i));
  }
  std::vector<Queue> queue_per_device(cl_command_queue_properties properties = 0) {
    std::vector<Queue> result;
    for (cl_device_id one : devices()) result.push_back(make_queue(properties, one));
    return result;
  }
  cl_command_queue queue_of(int hop) const { return queues[static_cast<size_t>(hop) % queues.size()]; }

  static std::vector<cl_event> after(cl_event event) {
    return event != nullptr ? std::vector<cl_event>{event} : std::vector<cl_event>{};
  }
  /// Enqueues one hop: a kernel on the hop's device, after `last`. `last` becomes its event.
  void enqueue_step(cl_kernel k, cl_mem mem, int hop, Event& last, size_t count = length) {
    Event next;
    set_args(k, mem, static_cast<cl_uint>(hop));
    ASSERT_CL(launch(queue_of(hop), k, count, after(last), next.out()));
    ASSERT_CL(clFlush(queue_of(hop)));  // other queues wait for the event
    last = std::move(next);
  }
  static void step_on_cpu(Data& data, int hop, size_t begin = 0, size_t end = length) {
    for (size_t i = begin; i < end; ++i)
      data[i] = data[i] * 1664525U + static_cast<cl_uint>(hop + (i - begin));
  }
  Data after_hops(int count) const {
    Data data = initial;
    for (int hop = 0; hop < count; ++hop) step_on_cpu(data, hop);
    return data;
  }
  /// Reads on the fixture's queue, which is not part of any chain.
  Data read_after(cl_mem mem, cl_event last, size_t count = length) {
    Data data(count);
    EXPECT_CL(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, count * sizeof(cl_uint), data.data(),
                                  last != nullptr ? 1 : 0, last != nullptr ? &last : nullptr, nullptr));
    return data;
  }

  Program program;
  Kernel step;
  std::vector<Queue> queues;
  Data initial;
};

TEST_F(Chain, GivenBufferPassedAroundThenResultIsTheCpus) {
  const Mem mem = buffer<cl_uint>(length, initial.data());
  Event last;
  for (int hop = 0; hop < hops; ++hop) enqueue_step(step, mem, hop, last);
  EXPECT_EQ(after_hops(hops), read_after(mem, last));
}

TEST_F(Chain, GivenOutOfOrderQueuesThenResultIsTheCpus) {
  queues = queue_per_device(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const Mem mem = buffer<cl_uint>(length, initial.data());
  Event last;
  for (int hop = 0; hop < hops; ++hop) enqueue_step(step, mem, hop, last);
  EXPECT_EQ(after_hops(hops), read_after(mem, last));
}

TEST_F(Chain, GivenSeveralHopsOnEachDeviceThenResultIsTheCpus) {
  const Mem mem = buffer<cl_uint>(length, initial.data());
  Event last;
  for (int hop = 0; hop < hops; ++hop) {
    Event next;
    set_args(step, mem, static_cast<cl_uint>(hop));
    ASSERT_CL(launch(queue_of(hop / 7), step, length, after(last), next.out()));
    if (hop % 7 == 6) {
      ASSERT_CL(clFlush(queue_of(hop / 7)));
    }
    last = std::move(next);
  }
  for (const Queue& one : queues) ASSERT_CL(clFlush(one));
  EXPECT_EQ(after_hops(hops), read_after(mem, last));
}

TEST_F(Chain, GivenLargeBufferThenResultIsTheCpus) {
  constexpr size_t large = 300'000;
  Data data(large);
  for (size_t i = 0; i < large; ++i) data[i] = static_cast<cl_uint>(i);
  const Mem mem = buffer<cl_uint>(large, data.data());
  Event last;
  for (int hop = 0; hop < 30; ++hop) {
    enqueue_step(step, mem, hop, last, large);
    step_on_cpu(data, hop, 0, large);
  }
  EXPECT_EQ(data, read_after(mem, last, large));
}

TEST_F(Chain, GivenTwoBuffersReadAndWrittenInTurnThenResultIsTheCpus) {
  const Kernel step_to = kernel(program, "advance_to");
  Mem from = buffer<cl_uint>(length, initial.data());
  Mem to = buffer<cl_uint>(length);
  Event last;
  for (int hop = 0; hop < hops; ++hop) {
    Event next;
    set_args(step_to, from, to, static_cast<cl_uint>(hop));
    ASSERT_CL(launch(queue_of(hop), step_to, length, after(last), next.out()));
    ASSERT_CL(clFlush(queue_of(hop)));
    last = std::move(next);
    std::swap(from, to);
  }
  EXPECT_EQ(after_hops(hops), read_after(from, last));
}

TEST_F(Chain, GivenImagesPassedAroundThenResultIsTheCpus) {
  for (cl_device_id one : devices()) {
    if (!info<cl_bool>(clGetDeviceInfo, one, CL_DEVICE_IMAGE_SUPPORT))
      GTEST_SKIP() << "a device has no images";
  }
  constexpr size_t width = 16;
  constexpr size_t height = 8;
  const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT32};
  cl_image_desc desc = {};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = width;
  desc.image_height = height;
  Data texels(width * height * 4);
  for (size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<cl_uint>(i);
  cl_int err = CL_SUCCESS;
  Mem from(
      clCreateImage(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &format, &desc, texels.data(), &err));
  ASSERT_EQ(CL_SUCCESS, err);
  Mem to(clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  const Program image_program = build(image_source);
  const Kernel step_image = kernel(image_program, "advance_image");
  const size_t global[] = {width, height};
  Event last;
  for (int hop = 0; hop < hops; ++hop) {
    Event next;
    set_args(step_image, from, to, static_cast<cl_uint>(hop));
    const std::vector<cl_event> waits = after(last);
    ASSERT_CL(clEnqueueNDRangeKernel(queue_of(hop), step_image, 2, nullptr, global, nullptr,
                                     static_cast<cl_uint>(waits.size()),
                                     waits.empty() ? nullptr : waits.data(), next.out()));
    ASSERT_CL(clFlush(queue_of(hop)));
    last = std::move(next);
    std::swap(from, to);
    for (size_t y = 0; y < height; ++y) {
      for (size_t x = 0; x < width; ++x) {
        cl_uint* texel = &texels[(y * width + x) * 4];
        const cl_uint h = static_cast<cl_uint>(hop);
        const cl_uint added[] = {h + static_cast<cl_uint>(x), h + static_cast<cl_uint>(y), h, 1};
        for (int c = 0; c < 4; ++c) texel[c] = texel[c] * 1664525U + added[c];
      }
    }
  }
  const size_t origin[3] = {};
  const size_t region[] = {width, height, 1};
  Data result(texels.size());
  ASSERT_CL(
      clEnqueueReadImage(queue, from, CL_TRUE, origin, region, 0, 0, result.data(), 1, last.ptr(), nullptr));
  EXPECT_EQ(texels, result);
}

TEST_F(Chain, GivenSubBuffersOnDifferentDevicesAtTheSameTimeThenTheWholeIsRight) {
  const size_t parts = devices().size();
  constexpr size_t part_length = 4096;  // elements; its bytes are a multiple of any base address alignment
  Data expected(parts * part_length);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<cl_uint>(3 * i);
  const Mem whole = buffer<cl_uint>(expected.size(), expected.data());
  std::vector<Mem> subs;
  for (size_t i = 0; i < parts; ++i) {
    const cl_buffer_region region = {i * part_length * sizeof(cl_uint), part_length * sizeof(cl_uint)};
    cl_int err = CL_SUCCESS;
    subs.emplace_back(
        clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
    ASSERT_EQ(CL_SUCCESS, err);
  }
  Event whole_done;
  int hop = 0;
  for (int round = 0; round < 10; ++round) {
    std::vector<Event> lasts(parts);
    std::vector<cl_event> handles;
    const int first_hop = hop;
    for (size_t i = 0; i < parts; ++i) {
      // Each round, another device has the part.
      const cl_command_queue on = queue_of(static_cast<int>(i) + round);
      for (hop = first_hop; hop < first_hop + 20; ++hop) {
        Event next;
        set_args(step, subs[i], static_cast<cl_uint>(hop));
        ASSERT_CL(launch(on, step, part_length, after(hop == first_hop ? whole_done : lasts[i]), next.out()));
        lasts[i] = std::move(next);
        step_on_cpu(expected, hop, i * part_length, (i + 1) * part_length);
      }
      ASSERT_CL(clFlush(on));
      handles.push_back(lasts[i]);
    }
    set_args(step, whole, static_cast<cl_uint>(hop));
    const cl_command_queue on = queue_of(round + 1);
    Event next;
    ASSERT_CL(launch(on, step, expected.size(), handles, next.out()));
    ASSERT_CL(clFlush(on));
    whole_done = std::move(next);
    step_on_cpu(expected, hop, 0, expected.size());
    ++hop;
  }
  EXPECT_EQ(expected, read_after(whole, whole_done, expected.size()));
}

TEST_F(Chain, GivenUserEventAtTheHeadThenNothingRunsBeforeItIsSet) {
  const Mem mem = buffer<cl_uint>(length, initial.data());
  Event first;
  Event last;
  Gate gate(context);
  for (int hop = 0; hop < hops; ++hop) {
    if (hop == 0) {
      set_args(step, mem, cl_uint{0});
      ASSERT_CL(launch(queue_of(0), step, length, {gate}, last.out()));
      ASSERT_CL(clFlush(queue_of(0)));
      ASSERT_CL(clRetainEvent(last));
      first = Event(last.get());
    } else {
      enqueue_step(step, mem, hop, last);
    }
  }
  EXPECT_GT(status_of(first), CL_RUNNING);
  EXPECT_GT(status_of(last), CL_RUNNING);
  gate.open();
  EXPECT_EQ(after_hops(hops), read_after(mem, last));
  EXPECT_EQ(CL_COMPLETE, status_of(first));
}

TEST_F(Chain, GivenCopyBetweenDevicesInEveryHopThenResultIsTheCpus) {
  Mem from = buffer<cl_uint>(length, initial.data());
  Mem to = buffer<cl_uint>(length);
  Event last;
  for (int hop = 0; hop < hops; ++hop) {
    const cl_command_queue on = queue_of(hop + 1);  // the kernel before and after it are on other devices
    const std::vector<cl_event> waits = after(last);
    Event copied;
    ASSERT_CL(clEnqueueCopyBuffer(on, from, to, 0, 0, length * sizeof(cl_uint),
                                  static_cast<cl_uint>(waits.size()), waits.empty() ? nullptr : waits.data(),
                                  copied.out()));
    ASSERT_CL(clFlush(on));
    enqueue_step(step, to, hop, copied);
    last = std::move(copied);
    std::swap(from, to);
  }
  EXPECT_EQ(after_hops(hops), read_after(from, last));
}

TEST_F(Chain, GivenPartsCopiedOnDifferentDevicesThenAllPartsArrive) {
  constexpr size_t parts = 8;
  constexpr size_t part_bytes = length / parts * sizeof(cl_uint);
  Mem from = buffer<cl_uint>(length, initial.data());
  Mem to = buffer<cl_uint>(length);
  Event last;
  Data expected = initial;
  for (int hop = 0; hop < 30; ++hop) {
    for (size_t part = 0; part < parts; ++part) {
      const cl_command_queue on = queue_of(hop + static_cast<int>(part));
      const size_t target = (part + 1) % parts;
      const std::vector<cl_event> waits = after(last);
      Event copied;
      ASSERT_CL(clEnqueueCopyBuffer(on, from, to, part * part_bytes, target * part_bytes, part_bytes,
                                    static_cast<cl_uint>(waits.size()),
                                    waits.empty() ? nullptr : waits.data(), copied.out()));
      ASSERT_CL(clFlush(on));
      last = std::move(copied);
    }
    std::rotate(expected.begin(), expected.end() - length / parts, expected.end());
    std::swap(from, to);
  }
  EXPECT_EQ(expected, read_after(from, last));
}

TEST_F(Chain, GivenMapOnOneDeviceAfterKernelOnAnotherThenHostSeesAndChangesIt) {
  const Mem mem = buffer<cl_uint>(length, initial.data());
  Data expected = initial;
  Event last;
  for (int hop = 0; hop < 40; ++hop) {
    enqueue_step(step, mem, hop, last);
    step_on_cpu(expected, hop);
    const cl_command_queue on = queue_of(hop + 1);
    cl_int err = CL_SUCCESS;
    auto* data =
        static_cast<cl_uint*>(clEnqueueMapBuffer(on, mem, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                                 length * sizeof(cl_uint), 1, last.ptr(), nullptr, &err));
    ASSERT_EQ(CL_SUCCESS, err);
    ASSERT_EQ(expected, Data(data, data + length)) << "hop " << hop;
    data[hop] += 5;
    expected[hop] += 5;
    Event unmapped;
    ASSERT_CL(clEnqueueUnmapMemObject(on, mem, data, 0, nullptr, unmapped.out()));
    ASSERT_CL(clFlush(on));
    last = std::move(unmapped);
  }
  EXPECT_EQ(expected, read_after(mem, last));
}

TEST_F(Chain, GivenPartMappedForReadingOnEveryDeviceThenAllSeeTheSame) {
  const Mem mem = buffer<cl_uint>(length, initial.data());
  Event last;
  for (int hop = 0; hop < 20; ++hop) {
    enqueue_step(step, mem, hop, last);
    const Data expected = after_hops(hop + 1);
    for (const Queue& on : queues) {
      cl_int err = CL_SUCCESS;
      auto* data = static_cast<cl_uint*>(
          clEnqueueMapBuffer(on, mem, CL_TRUE, CL_MAP_READ, 400, 800, 1, last.ptr(), nullptr, &err));
      ASSERT_EQ(CL_SUCCESS, err);
      ASSERT_EQ(Data(expected.begin() + 100, expected.begin() + 300), Data(data, data + 200))
          << "hop " << hop;
      Event unmapped;
      ASSERT_CL(clEnqueueUnmapMemObject(on, mem, data, 0, nullptr, unmapped.out()));
      ASSERT_CL(clFlush(on));
      last = std::move(unmapped);
    }
  }
}

TEST_F(Chain, GivenBufferThatUsesHostMemoryThenHostMemoryHasTheResultWhenMapped) {
  alignas(4096) static cl_uint host[length];
  std::copy(initial.begin(), initial.end(), host);
  cl_int err = CL_SUCCESS;
  const Mem mem(clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, sizeof host, host, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  Event last;
  for (int hop = 0; hop < hops; ++hop) enqueue_step(step, mem, hop, last);
  const cl_command_queue on = queues.back();
  auto* data = static_cast<cl_uint*>(
      clEnqueueMapBuffer(on, mem, CL_TRUE, CL_MAP_READ, 0, sizeof host, 1, last.ptr(), nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(host, data);
  EXPECT_EQ(after_hops(hops), Data(host, host + length));
  ASSERT_CL(clEnqueueUnmapMemObject(on, mem, data, 0, nullptr, nullptr));
  ASSERT_CL(clFinish(on));
}

TEST_F(Chain, GivenHostMemoryThatIsGoneAfterCopyHostPtrThenChainHasItsData) {
  auto source_data = std::make_unique<Data>(initial);
  const Mem mem = buffer<cl_uint>(length, source_data->data());
  std::fill(source_data->begin(), source_data->end(), 0xDEADBEEF);
  source_data.reset();
  Event last;
  for (int hop = 0; hop < hops; ++hop) enqueue_step(step, mem, hop, last);
  EXPECT_EQ(after_hops(hops), read_after(mem, last));
}

TEST_F(Chain, GivenWritesAndReadsOfPartsOnTheWayThenEachSeesItsMoment) {
  const Mem mem = buffer<cl_uint>(length, initial.data());
  Data expected = initial;
  std::vector<Data> written(60, Data(64));
  std::vector<Data> seen(60, Data(64));
  std::vector<Data> moments;
  Event last;
  for (int round = 0; round < 60; ++round) {
    enqueue_step(step, mem, round, last);
    step_on_cpu(expected, round);
    const size_t offset = static_cast<size_t>(round) % 15 * 64;
    std::fill(written[round].begin(), written[round].end(), static_cast<cl_uint>(round + 7));
    std::copy(written[round].begin(), written[round].end(),
              expected.begin() + static_cast<std::ptrdiff_t>(offset));
    Event wrote;
    ASSERT_CL(clEnqueueWriteBuffer(queue_of(round + 1), mem, CL_FALSE, offset * sizeof(cl_uint),
                                   64 * sizeof(cl_uint), written[round].data(), 1, last.ptr(), wrote.out()));
    ASSERT_CL(clFlush(queue_of(round + 1)));
    const size_t look = offset + 32;
    moments.emplace_back(expected.begin() + static_cast<std::ptrdiff_t>(look),
                         expected.begin() + static_cast<std::ptrdiff_t>(look) + 64);
    ASSERT_CL(clEnqueueReadBuffer(queue_of(round + 2), mem, CL_FALSE, look * sizeof(cl_uint),
                                  64 * sizeof(cl_uint), seen[round].data(), 1, wrote.ptr(), last.out()));
    ASSERT_CL(clFlush(queue_of(round + 2)));
  }
  EXPECT_EQ(expected, read_after(mem, last));
  EXPECT_EQ(moments, seen);
}

TEST_F(Chain, GivenRangesFilledOnDifferentDevicesThenOneDeviceSeesThemAll) {
  const Mem mem = buffer<cl_uint>(length, initial.data());
  Data expected = initial;
  Event last;
  for (int hop = 0; hop < hops; ++hop) {
    const cl_uint pattern = static_cast<cl_uint>(hop * 3 + 1);
    const size_t offset = static_cast<size_t>(hop) * 37 % (length - 50);
    const std::vector<cl_event> waits = after(last);
    Event next;
    ASSERT_CL(clEnqueueFillBuffer(queue_of(hop), mem, &pattern, sizeof pattern, offset * sizeof pattern,
                                  50 * sizeof pattern, static_cast<cl_uint>(waits.size()),
                                  waits.empty() ? nullptr : waits.data(), next.out()));
    ASSERT_CL(clFlush(queue_of(hop)));
    last = std::move(next);
    std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(offset), 50, pattern);
  }
  enqueue_step(step, mem, 0, last);
  step_on_cpu(expected, 0);
  EXPECT_EQ(expected, read_after(mem, last));
}

TEST_F(Chain, GivenPartThatIsYetToBeWrittenThenTheOtherPartIsThereBefore) {
  if (devices().size() < 3) GTEST_SKIP() << "needs a platform with three devices or more";
  const Mem mem = buffer<cl_uint>(2 * length);
  const Queue reader = make_queue(0, devices()[2]);
  const cl_uint one = 1;
  const cl_uint two = 2;
  const size_t half = length * sizeof one;
  Data there(length);
  Event migrated;
  Event read;
  Gate gate(context);
  std::array<Event, 2> written;
  ASSERT_CL(clEnqueueFillBuffer(queues[0], mem, &one, sizeof one, 0, half, 1, gate.ptr(), written[0].out()));
  ASSERT_CL(clEnqueueFillBuffer(queues[1], mem, &two, sizeof two, half, half, 0, nullptr, written[1].out()));
  const std::array<cl_event, 2> both{written[0], written[1]};
  ASSERT_CL(clEnqueueMigrateMemObjects(queues[2], 1, mem.ptr(), 0, 2, both.data(), migrated.out()));
  ASSERT_CL(
      clEnqueueReadBuffer(reader, mem, CL_FALSE, half, half, there.data(), 1, written[1].ptr(), read.out()));
  for (const cl_command_queue on : {queues[0].get(), queues[1].get(), queues[2].get(), reader.get()})
    ASSERT_CL(clFlush(on));
  EXPECT_TRUE(eventually([&] { return status_of(read) <= CL_COMPLETE; }));
  EXPECT_GT(status_of(migrated), CL_COMPLETE);
  gate.open();
  ASSERT_CL(clWaitForEvents(1, read.ptr()));
  EXPECT_EQ(Data(length, two), there);
  Data expected(length, one);
  expected.insert(expected.end(), length, two);
  EXPECT_EQ(expected, read_after(mem, migrated, 2 * length));
}

TEST_F(Chain, GivenAllDevicesReadAndOneWritesInTurnThenNoneSeesOldData) {
  const Kernel step_to = kernel(program, "advance_to");
  const Kernel add_all = kernel(program, "add_all");
  const Mem shared = buffer<cl_uint>(length, initial.data());
  std::vector<Mem> outs;
  for (size_t i = 0; i < devices().size(); ++i) outs.push_back(buffer<cl_uint>(length));
  Data expected = initial;
  Event last;
  for (int round = 0; round < 50; ++round) {
    std::vector<Event> readers(devices().size());
    std::vector<cl_event> handles;
    for (size_t i = 0; i < devices().size(); ++i) {
      set_args(step_to, shared, outs[i], static_cast<cl_uint>(i));
      ASSERT_CL(launch(queues[i], step_to, length, after(last), readers[i].out()));
      ASSERT_CL(clFlush(queues[i]));
      handles.push_back(readers[i]);
    }
    Event sum;
    set_args(add_all, outs.front(), outs.back(), shared);
    ASSERT_CL(launch(queue_of(round), add_all, length, handles, sum.out()));
    ASSERT_CL(clFlush(queue_of(round)));
    last = std::move(sum);
    Data first = expected;
    step_on_cpu(first, 0);
    step_on_cpu(expected, static_cast<int>(devices().size()) - 1);
    for (size_t i = 0; i < length; ++i) expected[i] += first[i];
  }
  EXPECT_EQ(expected, read_after(shared, last));
}

TEST_F(Chain, GivenMigrationsBetweenHopsThenResultIsTheCpus) {
  const Mem mem = buffer<cl_uint>(length, initial.data());
  Event last;
  for (int hop = 0; hop < hops; ++hop) {
    enqueue_step(step, mem, hop, last);
    Event migrated;
    const cl_command_queue on = queue_of(hop * 2 + 1);  // not always the device that needs it next
    ASSERT_CL(clEnqueueMigrateMemObjects(on, 1, mem.ptr(), hop % 5 == 4 ? CL_MIGRATE_MEM_OBJECT_HOST : 0, 1,
                                         last.ptr(), migrated.out()));
    ASSERT_CL(clFlush(on));
    last = std::move(migrated);
  }
  EXPECT_EQ(after_hops(hops), read_after(mem, last));
}

TEST_F(Chain, GivenBarriersInOutOfOrderQueuesThenTheyJoinAllDevices) {
  queues = queue_per_device(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const Mem mem = buffer<cl_uint>(length, initial.data());
  Event last;
  for (int hop = 0; hop < hops; ++hop) {
    const cl_command_queue on = queue_of(hop);
    // The kernel itself has no wait list: it waits for the barrier before it.
    const std::vector<cl_event> waits = after(last);
    ASSERT_CL(clEnqueueBarrierWithWaitList(on, static_cast<cl_uint>(waits.size()),
                                           waits.empty() ? nullptr : waits.data(), nullptr));
    Event next;
    set_args(step, mem, static_cast<cl_uint>(hop));
    ASSERT_CL(launch(on, step, length, {}, next.out()));
    ASSERT_CL(clFlush(on));
    last = std::move(next);
  }
  EXPECT_EQ(after_hops(hops), read_after(mem, last));
}

TEST_F(Chain, GivenTwoChainsFromTwoThreadsOnTheSameQueuesThenBothResultsAreRight) {
  // Out of order, so that one chain does not order the other by waiting.
  queues = queue_per_device(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const Mem mems[] = {buffer<cl_uint>(length, initial.data()), buffer<cl_uint>(length, initial.data())};
  Event lasts[2];
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      const Kernel own = kernel(program, "advance");
      for (int hop = 0; hop < hops; ++hop) enqueue_step(own, mems[t], hop, lasts[t]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < 2; ++t) EXPECT_EQ(after_hops(hops), read_after(mems[t], lasts[t]));
}

TEST_F(Chain, GivenTwoChainsOnQueuesOfTheirOwnInOppositeDirectionsThenBothResultsAreRight) {
  const Mem mems[] = {buffer<cl_uint>(length, initial.data()), buffer<cl_uint>(length, initial.data())};
  Event lasts[2];
  const std::vector<Queue> others = queue_per_device();
  const auto run = [&](const std::vector<Queue>& own, int t) {
    const Kernel k = kernel(program, "advance");
    for (int hop = 0; hop < hops; ++hop) {
      const size_t at = static_cast<size_t>(hop) % own.size();
      const Queue& on = own[t == 0 ? at : own.size() - 1 - at];
      Event next;
      set_args(k, mems[t], static_cast<cl_uint>(hop));
      ASSERT_CL(launch(on, k, length, after(lasts[t]), next.out()));
      ASSERT_CL(clFlush(on));
      lasts[t] = std::move(next);
    }
  };
  std::thread first([&] { run(queues, 0); });
  std::thread second([&] { run(others, 1); });
  first.join();
  second.join();
  for (int t = 0; t < 2; ++t) EXPECT_EQ(after_hops(hops), read_after(mems[t], lasts[t]));
}

TEST_F(Chain, GivenCallbackAtTheEndThenItIsCalledWhenAllIsDone) {
  const Mem mem = buffer<cl_uint>(length, initial.data());
  Event last;
  for (int hop = 0; hop < hops; ++hop) enqueue_step(step, mem, hop, last);
  Data result(length);
  Event read_event;
  ASSERT_CL(clEnqueueReadBuffer(queue, mem, CL_FALSE, 0, length * sizeof(cl_uint), result.data(), 1,
                                last.ptr(), read_event.out()));
  Calls<cl_int> calls;
  const auto notify = [](cl_event, cl_int status, void* data) {
    static_cast<Calls<cl_int>*>(data)->add(status);
  };
  ASSERT_CL(clSetEventCallback(read_event, CL_COMPLETE, notify, &calls));
  ASSERT_CL(clFlush(queue));
  EXPECT_EQ(std::vector<cl_int>{CL_COMPLETE}, calls.wait_for(1));
  EXPECT_EQ(after_hops(hops), result);
}

TEST_F(Chain, GivenFailingHeadThenTheErrorReachesTheLastEventAndNothingRuns) {
  const Mem mem = buffer<cl_uint>(length, initial.data());
  Calls<cl_int> calls;
  std::vector<Event> events;
  Gate gate(context);
  for (int hop = 0; hop < hops; ++hop) {
    Event next;
    set_args(step, mem, static_cast<cl_uint>(hop));
    ASSERT_CL(
        launch(queue_of(hop), step, length, {hop == 0 ? cl_event{gate} : events.back().get()}, next.out()));
    ASSERT_CL(clFlush(queue_of(hop)));
    events.push_back(std::move(next));
  }
  const auto notify = [](cl_event, cl_int status, void* data) {
    static_cast<Calls<cl_int>*>(data)->add(status);
  };
  ASSERT_CL(clSetEventCallback(events.back(), CL_COMPLETE, notify, &calls));
  gate.fail(-42);
  EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, events.back().ptr()));
  for (const Event& event : events) EXPECT_LT(status_of(event), 0);
  const std::vector<cl_int> called = calls.wait_for(1);
  ASSERT_EQ(1U, called.size());
  EXPECT_LT(called.front(), 0);
  EXPECT_EQ(initial, read_after(mem, nullptr));
}

TEST_F(Chain, GivenFailedChainThenTheNextOneOnNewQueuesIsRight) {
  const Mem mem = buffer<cl_uint>(length, initial.data());
  {
    Event last;
    Gate gate(context);
    ASSERT_CL(clEnqueueMarkerWithWaitList(queue_of(0), 1, gate.ptr(), last.out()));
    for (int hop = 0; hop < 10; ++hop) enqueue_step(step, mem, hop, last);
    gate.fail();
    EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, last.ptr()));
  }
  queues = queue_per_device();
  Event last;
  for (int hop = 0; hop < hops; ++hop) enqueue_step(step, mem, hop, last);
  EXPECT_EQ(after_hops(hops), read_after(mem, last));
}

}  // namespace clique::test
