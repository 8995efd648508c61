// clSetKernelArg: OpenCL 3.0, section 5.9.2.
#include "helpers.hpp"

namespace clique::test::suite_clSetKernelArg {

class clSetKernelArg : public ApiTest {
 protected:
  static constexpr char store_source[] = "kernel void store(global int* out, int value) { *out = value; }";

  bool has_images() {
    return info<cl_bool>(clGetDeviceInfo, device, CL_DEVICE_IMAGE_SUPPORT) == cl_bool{CL_TRUE};
  }
  Mem image(cl_uint width, cl_uint height, float* texels, cl_mem_flags flags) {
    const cl_image_format format = {CL_RGBA, CL_FLOAT};
    cl_image_desc desc = {};
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    desc.image_width = width;
    desc.image_height = height;
    cl_int err = CL_SUCCESS;
    Mem mem(
        clCreateImage(context, flags | (texels ? CL_MEM_COPY_HOST_PTR : 0), &format, &desc, texels, &err));
    EXPECT_EQ(CL_SUCCESS, err);
    return mem;
  }
  Sampler sampler() {
    const cl_sampler_properties properties[] = {CL_SAMPLER_NORMALIZED_COORDS,
                                                CL_FALSE,
                                                CL_SAMPLER_ADDRESSING_MODE,
                                                CL_ADDRESS_CLAMP_TO_EDGE,
                                                CL_SAMPLER_FILTER_MODE,
                                                CL_FILTER_NEAREST,
                                                0};
    cl_int err = CL_SUCCESS;
    Sampler result(clCreateSamplerWithProperties(context, properties, &err));
    EXPECT_EQ(CL_SUCCESS, err);
    return result;
  }
};

TEST_F(clSetKernelArg, GivenScalarsOfAllTypesThenKernelSeesThem) {
  const Program program = build(R"(
kernel void k(global long* out, global float* reals, char a, uchar b, short c, ushort d, int e, uint f, long g, ulong h,
              float i) {
  out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; out[5] = f; out[6] = g; out[7] = (long)h;
  reals[0] = i;
})");
  const Kernel k = kernel(program, "k");
  const Mem out = buffer<cl_long>(8);
  const Mem reals = buffer<float>(1);
  set_args(k, out, reals, cl_char{-1}, cl_uchar{200}, cl_short{-300}, cl_ushort{60000}, cl_int{-70000},
           cl_uint{4000000000U}, cl_long{-5000000000}, cl_ulong{9000000000000000000U}, 1.5F);
  ASSERT_CL(launch(queue, k, 1));
  EXPECT_EQ(
      (std::vector<cl_long>{-1, 200, -300, 60000, -70000, 4000000000, -5000000000, 9000000000000000000}),
      read<cl_long>(out, 8));
  EXPECT_EQ(1.5F, read<float>(reals, 1).front());
}

TEST_F(clSetKernelArg, GivenVectorsThenKernelSeesThem) {
  const Program program = build(R"(
kernel void k(global float* out, float2 a, float3 b, float4 c, int8 d, uchar16 e) {
  vstore2(a, 0, out); vstore3(b, 0, out + 2); vstore4(c, 0, out + 5); vstore8(convert_float8(d), 0, out + 9);
  vstore16(convert_float16(e), 0, out + 17);
})");
  const Kernel k = kernel(program, "k");
  const Mem out = buffer<float>(33);
  cl_float2 a;
  cl_float3 b;
  cl_float4 c;
  cl_int8 d;
  cl_uchar16 e;
  float next = 1;
  for (float& x : a.s) x = next++;
  for (int i = 0; i < 3; ++i) b.s[i] = next++;
  for (float& x : c.s) x = next++;
  for (cl_int& x : d.s) x = static_cast<cl_int>(next++);
  for (cl_uchar& x : e.s) x = static_cast<cl_uchar>(next++);
  set_args(k, out, a, b, c, d, e);
  ASSERT_CL(launch(queue, k, 1));
  const std::vector<float> result = read<float>(out, 33);
  for (int i = 0; i < 33; ++i) EXPECT_EQ(static_cast<float>(i + 1), result[i]) << i;
}

TEST_F(clSetKernelArg, GivenStructByValueThenKernelSeesAllMembers) {
  struct Inner {
    cl_short x;
    cl_char y;
  };
  struct Outer {
    cl_char tag;
    Inner inner[2];
    cl_float4 vector;
    cl_long big;
  };
  const Program program = build(R"(
struct inner { short x; char y; };
struct outer { char tag; struct inner inner[2]; float4 vector; long big; };
kernel void k(global long* out, struct outer o) {
  out[0] = o.tag; out[1] = o.inner[0].x; out[2] = o.inner[1].y; out[3] = (long)o.vector.w; out[4] = o.big;
  out[5] = sizeof(struct outer);
})");
  const Kernel k = kernel(program, "k");
  const Mem out = buffer<cl_long>(6);
  const Outer value = {3, {{-500, 1}, {2, -7}}, {{1, 2, 3, 4}}, 1LL << 40};
  set_args(k, out, value);
  ASSERT_CL(launch(queue, k, 1));
  EXPECT_EQ((std::vector<cl_long>{3, -500, -7, 4, 1LL << 40, sizeof(Outer)}), read<cl_long>(out, 6));
}

TEST_F(clSetKernelArg, GivenArgumentSetAgainThenTheLastValueCounts) {
  const Program program = build(store_source);
  const Kernel store = kernel(program, "store");
  const Mem out = buffer<int>(1);
  set_args(store, out, 1);
  set_args(store, out, 2);
  ASSERT_CL(launch(queue, store, 1));
  EXPECT_EQ(2, read<int>(out, 1).front());
}

TEST_F(clSetKernelArg, GivenValueChangedAfterTheCallThenKernelHasTheOldOne) {
  const Program program = build(store_source);
  const Kernel store = kernel(program, "store");
  const Mem out = buffer<int>(1);
  int value = 5;
  cl_mem handle = out;
  ASSERT_CL(::clSetKernelArg(store, 0, sizeof handle, &handle));
  ASSERT_CL(::clSetKernelArg(store, 1, sizeof value, &value));
  handle = nullptr;
  value = 6;
  ASSERT_CL(launch(queue, store, 1));
  EXPECT_EQ(5, read<int>(out, 1).front());
}

TEST_F(clSetKernelArg, GivenArgumentKeptThenNextLaunchUsesItAgain) {
  const Program program = build("kernel void add(global int* out, int value) { *out += value; }");
  const Kernel add = kernel(program, "add");
  const int zero = 0;
  const Mem out = buffer<int>(1, &zero);
  set_args(add, out, 1);
  for (int i = 0; i < 3; ++i) ASSERT_CL(launch(queue, add, 1));
  const int hundred = 100;
  ASSERT_CL(::clSetKernelArg(add, 1, sizeof hundred, &hundred));
  ASSERT_CL(launch(queue, add, 1));
  EXPECT_EQ(103, read<int>(out, 1).front());
}

TEST_F(clSetKernelArg, GivenLocalMemoryOfSeveralSizesThenKernelCanUseAllOfIt) {
  const Program program = build(R"(
kernel void rotate_group(global int* data, local int* first, local int* second) {
  size_t l = get_local_id(0), n = get_local_size(0);
  first[l] = data[get_global_id(0)];
  second[n - 1 - l] = 1000;
  barrier(CLK_LOCAL_MEM_FENCE);
  data[get_global_id(0)] = first[(l + 1) % n] + second[l];
})");
  const Kernel k = kernel(program, "rotate_group");
  for (const size_t group : {4U, 16U}) {
    std::vector<int> data(32);
    for (int i = 0; i < 32; ++i) data[i] = i;
    const Mem mem = buffer<int>(32, data.data());
    set_args(k, mem);
    ASSERT_CL(::clSetKernelArg(k, 1, group * sizeof(int), nullptr));
    ASSERT_CL(::clSetKernelArg(k, 2, group * sizeof(int), nullptr));
    const size_t global = 32;
    ASSERT_CL(clEnqueueNDRangeKernel(queue, k, 1, nullptr, &global, &group, 0, nullptr, nullptr));
    std::vector<int> expected(32);
    for (size_t i = 0; i < 32; ++i) expected[i] = 1000 + data[i / group * group + (i % group + 1) % group];
    EXPECT_EQ(expected, read<int>(mem, 32));
  }
}

TEST_F(clSetKernelArg, GivenNullBufferThenKernelSeesNullPointer) {
  const Program program = build(R"(
kernel void k(global int* out, global int* a, constant int* b) { *out = (a == 0 ? 1 : 0) + (b == 0 ? 2 : 0); })");
  const Kernel k = kernel(program, "k");
  const Mem out = buffer<int>(1);
  const cl_mem null = nullptr;
  set_args(k, out);
  ASSERT_CL(::clSetKernelArg(k, 1, sizeof null, nullptr));  // both ways to pass a null buffer are allowed
  ASSERT_CL(::clSetKernelArg(k, 2, sizeof null, &null));
  ASSERT_CL(launch(queue, k, 1));
  EXPECT_EQ(3, read<int>(out, 1).front());
}

TEST_F(clSetKernelArg, GivenConstantBufferThenKernelReadsIt) {
  const Program program = build("kernel void k(global int* out, constant int* in) { *out = in[0] + in[1]; }");
  const Kernel k = kernel(program, "k");
  const int values[] = {30, 12};
  const Mem out = buffer<int>(1);
  const Mem in = buffer<int>(2, values, CL_MEM_READ_ONLY);
  set_args(k, out, in);
  ASSERT_CL(launch(queue, k, 1));
  EXPECT_EQ(42, read<int>(out, 1).front());
}

TEST_F(clSetKernelArg, GivenSubBufferThenKernelSeesItsPart) {
  const Program program =
      build("kernel void fill(global int* out) { out[get_global_id(0)] = 1 + get_global_id(0); }");
  const Kernel fill = kernel(program, "fill");
  const std::vector<int> zeros(2048, 0);
  const Mem whole = buffer<int>(2048, zeros.data());
  const cl_buffer_region region = {4096, 4096};
  cl_int err = CL_SUCCESS;
  const Mem part(clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  set_args(fill, part);
  ASSERT_CL(launch(queue, fill, 1024));
  std::vector<int> expected = zeros;
  for (int i = 0; i < 1024; ++i) expected[1024 + i] = i + 1;
  EXPECT_EQ(expected, read<int>(whole, 2048));
}

TEST_F(clSetKernelArg, GivenImageAndSamplerThenKernelReadsTexels) {
  if (!has_images()) GTEST_SKIP() << "the device has no images";
  const Program program = build(R"(
kernel void k(read_only image2d_t in, sampler_t s, global float4* out) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  out[at.y * 4 + at.x] = read_imagef(in, s, at) * 2.0f;
})");
  const Kernel k = kernel(program, "k");
  float texels[4 * 2 * 4];
  for (int i = 0; i < 32; ++i) texels[i] = static_cast<float>(i);
  const Mem in = image(4, 2, texels, CL_MEM_READ_ONLY);
  const Mem out = buffer<float>(32);
  const Sampler s = sampler();
  set_args(k, in, s, out);
  const size_t global[] = {4, 2};
  ASSERT_CL(clEnqueueNDRangeKernel(queue, k, 2, nullptr, global, nullptr, 0, nullptr, nullptr));
  const std::vector<float> result = read<float>(out, 32);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(2 * texels[i], result[i]) << i;
}

TEST_F(clSetKernelArg, GivenWritableImageThenKernelWritesTexels) {
  if (!has_images()) GTEST_SKIP() << "the device has no images";
  const Program program = build(R"(
kernel void k(write_only image2d_t out, float scale) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  write_imagef(out, at, (float4)(at.x * scale, at.y * scale, scale, 1.0f));
})");
  const Kernel k = kernel(program, "k");
  const Mem out = image(3, 2, nullptr, CL_MEM_WRITE_ONLY);
  set_args(k, out, 10.0F);
  const size_t global[] = {3, 2};
  ASSERT_CL(clEnqueueNDRangeKernel(queue, k, 2, nullptr, global, nullptr, 0, nullptr, nullptr));
  const size_t origin[3] = {};
  const size_t region[] = {3, 2, 1};
  float texels[24] = {};
  ASSERT_CL(clEnqueueReadImage(queue, out, CL_TRUE, origin, region, 0, 0, texels, 0, nullptr, nullptr));
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 3; ++x) {
      const float* texel = texels + (y * 3 + x) * 4;
      EXPECT_EQ((std::vector<float>{10.0F * x, 10.0F * y, 10.0F, 1.0F}),
                std::vector<float>(texel, texel + 4));
    }
  }
}

TEST_F(clSetKernelArg, GivenFailedCallThenEarlierValueStays) {
  const Program program = build(store_source);
  const Kernel store = kernel(program, "store");
  const Mem out = buffer<int>(1);
  set_args(store, out, 9);
  const cl_long wrong = 1;
  EXPECT_EQ(CL_INVALID_ARG_SIZE, ::clSetKernelArg(store, 1, sizeof wrong, &wrong));
  ASSERT_CL(launch(queue, store, 1));
  EXPECT_EQ(9, read<int>(out, 1).front());
}

TEST_F(clSetKernelArg, GivenIndexBeyondArgumentsThenInvalidArgIndex) {
  const Program program = build(store_source);
  const Kernel store = kernel(program, "store");
  const int value = 1;
  EXPECT_EQ(CL_INVALID_ARG_INDEX, ::clSetKernelArg(store, 2, sizeof value, &value));
  EXPECT_EQ(CL_INVALID_ARG_INDEX, ::clSetKernelArg(store, ~0U, sizeof value, &value));
}

TEST_F(clSetKernelArg, GivenWrongSizeThenInvalidArgSize) {
  const Program program = build(
      "kernel void k(global int* out, int value, local int* scratch, float4 vector, constant int* c) {}");
  const Kernel k = kernel(program, "k");
  const Mem mem = buffer<int>(1);
  const char bytes[64] = {};
  EXPECT_EQ(CL_INVALID_ARG_SIZE, ::clSetKernelArg(k, 0, sizeof(cl_mem) - 1, mem.ptr()));
  EXPECT_EQ(CL_INVALID_ARG_SIZE, ::clSetKernelArg(k, 0, sizeof(cl_mem) + 8, bytes));
  EXPECT_EQ(CL_INVALID_ARG_SIZE, ::clSetKernelArg(k, 1, 0, bytes));
  EXPECT_EQ(CL_INVALID_ARG_SIZE, ::clSetKernelArg(k, 1, 3, bytes));
  EXPECT_EQ(CL_INVALID_ARG_SIZE, ::clSetKernelArg(k, 1, 8, bytes));
  EXPECT_EQ(CL_INVALID_ARG_SIZE, ::clSetKernelArg(k, 2, 0, nullptr));
  EXPECT_EQ(CL_INVALID_ARG_SIZE, ::clSetKernelArg(k, 3, 12, bytes));
  EXPECT_EQ(CL_INVALID_ARG_SIZE, ::clSetKernelArg(k, 4, 4, bytes));
}

TEST_F(clSetKernelArg, GivenWrongSizeForSamplerOrImageThenInvalidArgSize) {
  if (!has_images()) GTEST_SKIP() << "the device has no images";
  const Program program = build("kernel void k(read_only image2d_t in, sampler_t s) {}");
  const Kernel k = kernel(program, "k");
  const char bytes[64] = {};
  EXPECT_EQ(CL_INVALID_ARG_SIZE, ::clSetKernelArg(k, 0, 4, bytes));
  EXPECT_EQ(CL_INVALID_ARG_SIZE, ::clSetKernelArg(k, 1, 4, bytes));
}

TEST_F(clSetKernelArg, GivenNoValueForScalarThenInvalidArgValue) {
  const Program program = build(store_source);
  const Kernel store = kernel(program, "store");
  EXPECT_EQ(CL_INVALID_ARG_VALUE, ::clSetKernelArg(store, 1, sizeof(int), nullptr));
}

TEST_F(clSetKernelArg, GivenValueForLocalMemoryThenInvalidArgValue) {
  const Program program = build("kernel void k(local int* scratch) {}");
  const Kernel k = kernel(program, "k");
  const int value = 1;
  EXPECT_EQ(CL_INVALID_ARG_VALUE, ::clSetKernelArg(k, 0, sizeof value, &value));
}

TEST_F(clSetKernelArg, GivenHandleThatIsNoMemObjectThenInvalidMemObject) {
  const Program program = build(store_source);
  const Kernel store = kernel(program, "store");
  const cl_mem foreign = foreign_handle<cl_mem>();
  const cl_mem queue_handle = reinterpret_cast<cl_mem>(queue.get());
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, ::clSetKernelArg(store, 0, sizeof foreign, &foreign));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, ::clSetKernelArg(store, 0, sizeof queue_handle, &queue_handle));
}

TEST_F(clSetKernelArg, GivenHandleThatIsNoSamplerThenInvalidSampler) {
  if (!has_images()) GTEST_SKIP() << "the device has no images";
  const Program program = build(
      "kernel void k(read_only image2d_t in, sampler_t s, global float4* out) { *out = read_imagef(in, s, "
      "(int2)0); }");
  const Kernel k = kernel(program, "k");
  const cl_sampler foreign = foreign_handle<cl_sampler>();
  const cl_sampler null = nullptr;
  EXPECT_EQ(CL_INVALID_SAMPLER, ::clSetKernelArg(k, 1, sizeof foreign, &foreign));
  EXPECT_EQ(CL_INVALID_SAMPLER, ::clSetKernelArg(k, 1, sizeof null, &null));
}

TEST_F(clSetKernelArg, GivenBufferForImageOrImageForBufferThenItIsRefused) {
  if (!has_images()) GTEST_SKIP() << "the device has no images";
  const Program program = build("kernel void k(read_only image2d_t in, global int* out) {}");
  const Kernel k = kernel(program, "k");
  const Mem mem = buffer<int>(64);
  const Mem picture = image(4, 4, nullptr, CL_MEM_READ_WRITE);
  // The specification does not say which error a memory object of the wrong kind gives. The conformance tests
  // expect one for images; for buffers, drivers return either.
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, ::clSetKernelArg(k, 0, sizeof(cl_mem), mem.ptr()));
  const cl_int for_buffer = ::clSetKernelArg(k, 1, sizeof(cl_mem), picture.ptr());
  EXPECT_TRUE(for_buffer == CL_INVALID_ARG_VALUE || for_buffer == CL_INVALID_MEM_OBJECT) << for_buffer;
}

TEST_F(clSetKernelArg, GivenImageWhoseFlagsForbidItsUseThenInvalidArgValue) {
  if (!has_images()) GTEST_SKIP() << "the device has no images";
  const Program program = build("kernel void k(read_only image2d_t in, write_only image2d_t out) {}");
  const Kernel k = kernel(program, "k");
  const Mem readable = image(4, 4, nullptr, CL_MEM_READ_ONLY);
  const Mem writable = image(4, 4, nullptr, CL_MEM_WRITE_ONLY);
  EXPECT_EQ(CL_INVALID_ARG_VALUE, ::clSetKernelArg(k, 0, sizeof(cl_mem), writable.ptr()));
  EXPECT_EQ(CL_INVALID_ARG_VALUE, ::clSetKernelArg(k, 1, sizeof(cl_mem), readable.ptr()));
  EXPECT_CL(::clSetKernelArg(k, 0, sizeof(cl_mem), readable.ptr()));
  EXPECT_CL(::clSetKernelArg(k, 1, sizeof(cl_mem), writable.ptr()));
}

TEST_F(clSetKernelArg, GivenNullKernelThenInvalidKernel) {
  const int value = 1;
  EXPECT_EQ(CL_INVALID_KERNEL, ::clSetKernelArg(nullptr, 0, sizeof value, &value));
}

}  // namespace clique::test::suite_clSetKernelArg
