// clGetKernelArgInfo: OpenCL 3.0, section 5.9.4.
#include "checks.hpp"

namespace clique::test::suite_clGetKernelArgInfo {

class clGetKernelArgInfo : public ApiTest {
 protected:
  static constexpr char source[] = R"(
typedef struct { int x; } record;
kernel void k(global const float* restrict input, global volatile int* output, constant uint* table,
              local float4* scratch, int number, uint4 vector, record structure) {}
)";
  static constexpr char image_source[] =
      "kernel void k(read_only image2d_t in, write_only image3d_t out, sampler_t how) {}";

  static auto getter(cl_uint index) {
    return [index](cl_kernel k, cl_kernel_arg_info name, size_t size, void* value, size_t* returned) {
      return ::clGetKernelArgInfo(k, index, name, size, value, returned);
    };
  }
  template <typename T>
  static T arg(cl_kernel k, cl_uint index, cl_kernel_arg_info name) {
    return info<T>(getter(index), k, name);
  }
};

TEST_F(clGetKernelArgInfo, GivenArgumentsThenNamesAndTypesAreThoseOfTheSource) {
  const Program program = build(source, "-cl-kernel-arg-info");
  const Kernel k = kernel(program, "k");
  const char* names[] = {"input", "output", "table", "scratch", "number", "vector", "structure"};
  const char* types[] = {"float*", "int*", "uint*", "float4*", "int", "uint4", "record"};
  for (cl_uint i = 0; i < 7; ++i) {
    EXPECT_EQ(names[i], arg<std::string>(k, i, CL_KERNEL_ARG_NAME));
    EXPECT_EQ(types[i], arg<std::string>(k, i, CL_KERNEL_ARG_TYPE_NAME));
  }
}

TEST_F(clGetKernelArgInfo, GivenArgumentsThenAddressSpacesAreThoseOfTheSource) {
  const Program program = build(source, "-cl-kernel-arg-info");
  const Kernel k = kernel(program, "k");
  const cl_kernel_arg_address_qualifier expected[] = {
      CL_KERNEL_ARG_ADDRESS_GLOBAL,  CL_KERNEL_ARG_ADDRESS_GLOBAL,  CL_KERNEL_ARG_ADDRESS_CONSTANT,
      CL_KERNEL_ARG_ADDRESS_LOCAL,   CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_ADDRESS_PRIVATE,
      CL_KERNEL_ARG_ADDRESS_PRIVATE,
  };
  for (cl_uint i = 0; i < 7; ++i) {
    EXPECT_EQ(expected[i], arg<cl_kernel_arg_address_qualifier>(k, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER)) << i;
    EXPECT_EQ(cl_kernel_arg_access_qualifier{CL_KERNEL_ARG_ACCESS_NONE},
              arg<cl_kernel_arg_access_qualifier>(k, i, CL_KERNEL_ARG_ACCESS_QUALIFIER))
        << i;
  }
}

TEST_F(clGetKernelArgInfo, GivenArgumentsThenTypeQualifiersAreThoseOfTheSource) {
  const Program program = build(source, "-cl-kernel-arg-info");
  const Kernel k = kernel(program, "k");
  const auto qualifier = [&](cl_uint i) {
    return arg<cl_kernel_arg_type_qualifier>(k, i, CL_KERNEL_ARG_TYPE_QUALIFIER);
  };
  EXPECT_EQ(cl_kernel_arg_type_qualifier{CL_KERNEL_ARG_TYPE_CONST | CL_KERNEL_ARG_TYPE_RESTRICT},
            qualifier(0));
  EXPECT_EQ(cl_kernel_arg_type_qualifier{CL_KERNEL_ARG_TYPE_VOLATILE}, qualifier(1));
  EXPECT_EQ(cl_kernel_arg_type_qualifier{CL_KERNEL_ARG_TYPE_CONST}, qualifier(2)) << "constant implies const";
  for (cl_uint i = 3; i < 7; ++i)
    EXPECT_EQ(cl_kernel_arg_type_qualifier{CL_KERNEL_ARG_TYPE_NONE}, qualifier(i)) << i;
}

TEST_F(clGetKernelArgInfo, GivenImagesAndSamplerThenAccessAndTypeAreReported) {
  if (!info<cl_bool>(clGetDeviceInfo, device, CL_DEVICE_IMAGE_SUPPORT))
    GTEST_SKIP() << "the device has no images";
  const Program program = build(image_source, "-cl-kernel-arg-info");
  const Kernel k = kernel(program, "k");
  EXPECT_EQ("image2d_t", arg<std::string>(k, 0, CL_KERNEL_ARG_TYPE_NAME));
  EXPECT_EQ("image3d_t", arg<std::string>(k, 1, CL_KERNEL_ARG_TYPE_NAME));
  EXPECT_EQ("sampler_t", arg<std::string>(k, 2, CL_KERNEL_ARG_TYPE_NAME));
  const auto access = [&](cl_uint i) {
    return arg<cl_kernel_arg_access_qualifier>(k, i, CL_KERNEL_ARG_ACCESS_QUALIFIER);
  };
  EXPECT_EQ(cl_kernel_arg_access_qualifier{CL_KERNEL_ARG_ACCESS_READ_ONLY}, access(0));
  EXPECT_EQ(cl_kernel_arg_access_qualifier{CL_KERNEL_ARG_ACCESS_WRITE_ONLY}, access(1));
  EXPECT_EQ(cl_kernel_arg_access_qualifier{CL_KERNEL_ARG_ACCESS_NONE}, access(2));
}

TEST_F(clGetKernelArgInfo, GivenBuildWithoutArgInfoThenItIsThereOrNotAvailable) {
  const Program program = build(source);
  const Kernel k = kernel(program, "k");
  char name[64] = {};
  const cl_int err = ::clGetKernelArgInfo(k, 4, CL_KERNEL_ARG_NAME, sizeof name, name, nullptr);
  if (err == CL_SUCCESS) {
    EXPECT_STREQ("number", name);
  } else {
    EXPECT_EQ(CL_KERNEL_ARG_INFO_NOT_AVAILABLE, err);
  }
}

TEST_F(clGetKernelArgInfo, GivenWrongSizeOrNameThenInvalidValue) {
  const Program program = build(source, "-cl-kernel-arg-info");
  const Kernel k = kernel(program, "k");
  for (const cl_kernel_arg_info name :
       {CL_KERNEL_ARG_ADDRESS_QUALIFIER, CL_KERNEL_ARG_ACCESS_QUALIFIER, CL_KERNEL_ARG_TYPE_NAME,
        CL_KERNEL_ARG_TYPE_QUALIFIER, CL_KERNEL_ARG_NAME})
    expect_info_rules(getter(1), k.get(), name);
}

TEST_F(clGetKernelArgInfo, GivenIndexBeyondArgumentsThenInvalidArgIndex) {
  const Program program = build(source, "-cl-kernel-arg-info");
  const Kernel k = kernel(program, "k");
  char name[64] = {};
  EXPECT_EQ(CL_INVALID_ARG_INDEX, ::clGetKernelArgInfo(k, 7, CL_KERNEL_ARG_NAME, sizeof name, name, nullptr));
}

TEST_F(clGetKernelArgInfo, GivenNullKernelThenInvalidKernel) {
  char name[64] = {};
  EXPECT_EQ(CL_INVALID_KERNEL,
            ::clGetKernelArgInfo(nullptr, 0, CL_KERNEL_ARG_NAME, sizeof name, name, nullptr));
}

}  // namespace clique::test::suite_clGetKernelArgInfo
