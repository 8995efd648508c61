// clCreateSamplerWithProperties: OpenCL 3.0, section 5.7.1.
#include "images.hpp"

namespace clique::test::suite_clCreateSamplerWithProperties {

class clCreateSamplerWithProperties : public ImageTest {
 protected:
  using Properties = std::vector<cl_sampler_properties>;

  cl_int create(const Properties& properties) {
    cl_int err = CL_SUCCESS;
    made = Sampler(
        ::clCreateSamplerWithProperties(context, properties.empty() ? nullptr : properties.data(), &err));
    EXPECT_EQ(err == CL_SUCCESS, made.get() != nullptr) << err;
    return err;
  }
  cl_bool normalized() { return info<cl_bool>(clGetSamplerInfo, made.get(), CL_SAMPLER_NORMALIZED_COORDS); }
  cl_uint addressing() {
    return info<cl_addressing_mode>(clGetSamplerInfo, made.get(), CL_SAMPLER_ADDRESSING_MODE);
  }
  cl_uint filter() { return info<cl_filter_mode>(clGetSamplerInfo, made.get(), CL_SAMPLER_FILTER_MODE); }
  Sampler made;
};

TEST_F(clCreateSamplerWithProperties, GivenNoPropertiesThenDefaults) {
  for (const Properties& properties : {Properties{}, Properties{0}}) {
    ASSERT_CL(create(properties));
    EXPECT_EQ(cl_bool{CL_TRUE}, normalized());
    EXPECT_EQ(cl_uint{CL_ADDRESS_CLAMP}, addressing());
    EXPECT_EQ(cl_uint{CL_FILTER_NEAREST}, filter());
  }
}

TEST_F(clCreateSamplerWithProperties, GivenSomePropertiesThenTheRestAreDefaults) {
  ASSERT_CL(create({CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, 0}));
  EXPECT_EQ(cl_uint{CL_FILTER_LINEAR}, filter());
  EXPECT_EQ(cl_bool{CL_TRUE}, normalized());
  ASSERT_CL(create(
      {CL_SAMPLER_NORMALIZED_COORDS, CL_FALSE, CL_SAMPLER_ADDRESSING_MODE, CL_ADDRESS_CLAMP_TO_EDGE, 0}));
  EXPECT_EQ(cl_bool{CL_FALSE}, normalized());
  EXPECT_EQ(cl_uint{CL_ADDRESS_CLAMP_TO_EDGE}, addressing());
  EXPECT_EQ(cl_uint{CL_FILTER_NEAREST}, filter());
}

TEST_F(clCreateSamplerWithProperties, GivenPropertiesThenTheyAreReportedAsGiven) {
  const Properties properties = {CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, CL_SAMPLER_ADDRESSING_MODE,
                                 CL_ADDRESS_REPEAT, 0};
  ASSERT_CL(create(properties));
  EXPECT_EQ(properties, info<Properties>(clGetSamplerInfo, made.get(), CL_SAMPLER_PROPERTIES));
}

TEST_F(clCreateSamplerWithProperties, GivenUnknownPropertyOrValueThenInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE, create({0x7FFF0000, 1, 0}));
  EXPECT_EQ(CL_INVALID_VALUE, create({CL_SAMPLER_NORMALIZED_COORDS, 7, 0}));
  EXPECT_EQ(CL_INVALID_VALUE, create({CL_SAMPLER_ADDRESSING_MODE, CL_FILTER_LINEAR, 0}));
  EXPECT_EQ(CL_INVALID_VALUE, create({CL_SAMPLER_FILTER_MODE, CL_ADDRESS_CLAMP, 0}));
}

TEST_F(clCreateSamplerWithProperties, GivenPropertyTwiceThenInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE,
            create({CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, 0}));
}

TEST_F(clCreateSamplerWithProperties, GivenNullContextThenInvalidContext) {
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateSamplerWithProperties(nullptr, nullptr, &err));
  EXPECT_EQ(CL_INVALID_CONTEXT, err);
}

TEST_F(clCreateSamplerWithProperties, GivenSamplersThenKernelsReadImagesWithThem) {
  const char* source =
      "kernel void sample(read_only image2d_t image, sampler_t sampler, global uint4* out, float x) {"
      "  *out = read_imageui(image, sampler, (float2)(x, 0.0f));"
      "}";
  const Program program = build(source);
  const Kernel sample = kernel(program, "sample");
  const Bytes contents = {1, 2, 3, 4, 5, 6, 7, 8};
  const Mem made_image = image({"2D", CL_MEM_OBJECT_IMAGE2D, {2, 1, 1}}, &contents);
  const Mem out = buffer<cl_uint4>(1);
  struct Case {
    cl_uint addressing;
    cl_float x;
    cl_uint expected;
  };
  // The pixels are at 0 and 1, so 5 is outside.
  for (const Case& each : {Case{CL_ADDRESS_CLAMP_TO_EDGE, 5.0F, 5}, Case{CL_ADDRESS_CLAMP, 5.0F, 0},
                           Case{CL_ADDRESS_CLAMP, 1.0F, 5}, Case{CL_ADDRESS_CLAMP, 0.0F, 1}}) {
    ASSERT_CL(
        create({CL_SAMPLER_NORMALIZED_COORDS, CL_FALSE, CL_SAMPLER_ADDRESSING_MODE, each.addressing, 0}));
    const cl_sampler sampler = made;
    ASSERT_CL(clSetKernelArg(sample, 0, sizeof(cl_mem), made_image.ptr()));
    ASSERT_CL(clSetKernelArg(sample, 1, sizeof sampler, &sampler));
    ASSERT_CL(clSetKernelArg(sample, 2, sizeof(cl_mem), out.ptr()));
    ASSERT_CL(clSetKernelArg(sample, 3, sizeof each.x, &each.x));
    const size_t one = 1;
    ASSERT_CL(clEnqueueNDRangeKernel(queue, sample, 1, nullptr, &one, nullptr, 0, nullptr, nullptr));
    EXPECT_EQ(each.expected, read<cl_uint>(out, 4)[0]) << each.addressing << " " << each.x;
  }
}

}  // namespace clique::test::suite_clCreateSamplerWithProperties
