// clCreateImageWithProperties: OpenCL 3.0, section 5.3.1.
#include "images.hpp"

namespace clique::test::suite_clCreateImageWithProperties {

class clCreateImageWithProperties : public ImageTest {
 protected:
  cl_int create(const cl_mem_properties* properties, const cl_image_desc& desc,
                cl_mem_flags flags = CL_MEM_READ_WRITE, void* host = nullptr) {
    cl_int err = CL_SUCCESS;
    made = Mem(::clCreateImageWithProperties(context, properties, flags, &kRgba8, &desc, host, &err));
    EXPECT_EQ(err == CL_SUCCESS, made.get() != nullptr) << err;
    return err;
  }
  Mem made;
};

TEST_F(clCreateImageWithProperties, GivenNoPropertiesThenPlainImageOfEachType) {
  for (const ImageShape& shape : image_shapes()) {
    Bytes contents = numbered_bytes(bytes_of(shape.size));
    ASSERT_CL(create(nullptr, image_desc(shape), CL_MEM_COPY_HOST_PTR, contents.data())) << shape.name;
    EXPECT_EQ(contents, read_image(made, shape.size)) << shape.name;
    size_t size = 1;
    EXPECT_CL(clGetMemObjectInfo(made, CL_MEM_PROPERTIES, 0, nullptr, &size));
    EXPECT_EQ(0U, size);
  }
}

TEST_F(clCreateImageWithProperties, GivenTerminatorOnlyThenItIsReported) {
  const std::vector<cl_mem_properties> properties = {0};
  ASSERT_CL(create(properties.data(), image_desc(image_shapes()[2])));
  EXPECT_EQ(properties,
            info<std::vector<cl_mem_properties>>(clGetMemObjectInfo, made.get(), CL_MEM_PROPERTIES));
}

TEST_F(clCreateImageWithProperties, GivenUnknownPropertyThenInvalidProperty) {
  const cl_mem_properties properties[] = {0x7FFF0000, 1, 0};
  EXPECT_EQ(CL_INVALID_PROPERTY, create(properties, image_desc(image_shapes()[2])));
}

TEST_F(clCreateImageWithProperties, GivenBadArgumentsThenTheErrorsOfClCreateImage) {
  const cl_image_desc desc = image_desc(image_shapes()[2]);
  EXPECT_EQ(CL_INVALID_VALUE, create(nullptr, desc, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY));
  EXPECT_EQ(CL_INVALID_HOST_PTR, create(nullptr, desc, CL_MEM_COPY_HOST_PTR));
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateImageWithProperties(context, nullptr, CL_MEM_READ_WRITE, nullptr, &desc,
                                                   nullptr, &err));
  EXPECT_EQ(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, err);
  EXPECT_EQ(nullptr, ::clCreateImageWithProperties(context, nullptr, CL_MEM_READ_WRITE, &kRgba8, nullptr,
                                                   nullptr, &err));
  EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, err);
}

TEST_F(clCreateImageWithProperties, GivenNullContextThenInvalidContext) {
  const cl_image_desc desc = image_desc(image_shapes()[2]);
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateImageWithProperties(nullptr, nullptr, CL_MEM_READ_WRITE, &kRgba8, &desc,
                                                   nullptr, &err));
  EXPECT_EQ(CL_INVALID_CONTEXT, err);
}

}  // namespace clique::test::suite_clCreateImageWithProperties
