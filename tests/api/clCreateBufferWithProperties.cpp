// clCreateBufferWithProperties: OpenCL 3.0, section 5.2.1.
#include <cstdint>

#include "checks.hpp"

namespace clique::test::suite_clCreateBufferWithProperties {

class clCreateBufferWithProperties : public ApiTest {
 protected:
  cl_int create(const cl_mem_properties* properties, cl_mem_flags flags, size_t size, void* host = nullptr) {
    cl_int err = CL_SUCCESS;
    made = Mem(::clCreateBufferWithProperties(context, properties, flags, size, host, &err));
    EXPECT_EQ(err == CL_SUCCESS, made.get() != nullptr) << err;
    return err;
  }
  Mem made;
};

TEST_F(clCreateBufferWithProperties, GivenNoPropertiesThenPlainBuffer) {
  std::vector<cl_int> data = {9, 8, 7};
  ASSERT_CL(create(nullptr, CL_MEM_COPY_HOST_PTR, data.size() * sizeof(cl_int), data.data()));
  EXPECT_EQ(data, read<cl_int>(made, data.size()));
  size_t size = 1;
  EXPECT_CL(clGetMemObjectInfo(made, CL_MEM_PROPERTIES, 0, nullptr, &size));
  EXPECT_EQ(0U, size);
}

TEST_F(clCreateBufferWithProperties, GivenTerminatorOnlyThenItIsReported) {
  const std::vector<cl_mem_properties> properties = {0};
  ASSERT_CL(create(properties.data(), CL_MEM_READ_WRITE, 64));
  EXPECT_EQ(properties,
            info<std::vector<cl_mem_properties>>(clGetMemObjectInfo, made.get(), CL_MEM_PROPERTIES));
}

TEST_F(clCreateBufferWithProperties, GivenUnknownPropertyThenInvalidProperty) {
  const cl_mem_properties properties[] = {0x7FFF0000, 1, 0};
  EXPECT_EQ(CL_INVALID_PROPERTY, create(properties, CL_MEM_READ_WRITE, 64));
}

TEST_F(clCreateBufferWithProperties, GivenBadFlagsSizeOrPointerThenTheErrorsOfClCreateBuffer) {
  cl_int host = 0;
  EXPECT_EQ(CL_INVALID_VALUE, create(nullptr, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 64));
  EXPECT_EQ(CL_INVALID_VALUE, create(nullptr, cl_mem_flags{1} << 40, 64));
  EXPECT_EQ(CL_INVALID_BUFFER_SIZE, create(nullptr, CL_MEM_READ_WRITE, 0));
  EXPECT_EQ(CL_INVALID_BUFFER_SIZE, create(nullptr, CL_MEM_READ_WRITE, SIZE_MAX));
  EXPECT_EQ(CL_INVALID_HOST_PTR, create(nullptr, CL_MEM_COPY_HOST_PTR, 4));
  EXPECT_EQ(CL_INVALID_HOST_PTR, create(nullptr, CL_MEM_READ_WRITE, 4, &host));
}

TEST_F(clCreateBufferWithProperties, GivenNullContextThenInvalidContext) {
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateBufferWithProperties(nullptr, nullptr, CL_MEM_READ_WRITE, 64, nullptr, &err));
  EXPECT_EQ(CL_INVALID_CONTEXT, err);
}

}  // namespace clique::test::suite_clCreateBufferWithProperties
