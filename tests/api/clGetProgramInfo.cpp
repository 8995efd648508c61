// clGetProgramInfo: OpenCL 3.0, section 5.8.8.
#include "checks.hpp"

namespace clique::test::suite_clGetProgramInfo {

class clGetProgramInfo : public ApiTest {
 protected:
  static constexpr char source[] = "kernel void first() {}\nkernel void second(int i) {}\n";

  Program create() {
    const char* text = source;
    return Program(clCreateProgramWithSource(context, 1, &text, nullptr, nullptr));
  }
};

TEST_F(clGetProgramInfo, GivenProgramThenContextDevicesAndSourceAreWhatItWasMadeOf) {
  const Program program = create();
  EXPECT_EQ(1U, info<cl_uint>(::clGetProgramInfo, program.get(), CL_PROGRAM_REFERENCE_COUNT));
  EXPECT_EQ(context.get(), info<cl_context>(::clGetProgramInfo, program.get(), CL_PROGRAM_CONTEXT));
  EXPECT_EQ(devices().size(), info<cl_uint>(::clGetProgramInfo, program.get(), CL_PROGRAM_NUM_DEVICES));
  EXPECT_EQ(devices(),
            info<std::vector<cl_device_id>>(::clGetProgramInfo, program.get(), CL_PROGRAM_DEVICES));
  EXPECT_EQ(source, info<std::string>(::clGetProgramInfo, program.get(), CL_PROGRAM_SOURCE));
}

TEST_F(clGetProgramInfo, GivenBuiltProgramThenKernelNamesAreListed) {
  const Program program = build(source);
  EXPECT_EQ(size_t{2}, info<size_t>(::clGetProgramInfo, program.get(), CL_PROGRAM_NUM_KERNELS));
  const auto names = info<std::string>(::clGetProgramInfo, program.get(), CL_PROGRAM_KERNEL_NAMES);
  EXPECT_TRUE(names == "first;second" || names == "second;first") << names;
}

TEST_F(clGetProgramInfo, GivenBuiltProgramThenBinariesHaveTheirSizes) {
  const Program program = build(source);
  const auto sizes = info<std::vector<size_t>>(::clGetProgramInfo, program.get(), CL_PROGRAM_BINARY_SIZES);
  ASSERT_EQ(devices().size(), sizes.size());
  std::vector<std::vector<unsigned char>> binaries;
  std::vector<unsigned char*> pointers;
  for (const size_t size : sizes) {
    EXPECT_GT(size, 0U);
    binaries.emplace_back(size + 8, 0x5A);
    pointers.push_back(binaries.back().data());
  }
  size_t returned = 0;
  EXPECT_CL(::clGetProgramInfo(program, CL_PROGRAM_BINARIES, pointers.size() * sizeof pointers[0],
                               pointers.data(), &returned));
  EXPECT_EQ(pointers.size() * sizeof pointers[0], returned);
  for (size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_NE(static_cast<std::ptrdiff_t>(sizes[i]),
              std::count(binaries[i].begin(), binaries[i].end() - 8, 0x5A));
    EXPECT_EQ(8, std::count(binaries[i].end() - 8, binaries[i].end(), 0x5A)) << "written beyond its size";
  }
}

TEST_F(clGetProgramInfo, GivenNullForADeviceThenItsBinaryIsLeftOut) {
  const Program program = build(source);
  std::vector<unsigned char*> pointers(devices().size(), nullptr);
  EXPECT_CL(::clGetProgramInfo(program, CL_PROGRAM_BINARIES, pointers.size() * sizeof pointers[0],
                               pointers.data(), nullptr));
  EXPECT_EQ(std::vector<unsigned char*>(devices().size(), nullptr), pointers);
}

TEST_F(clGetProgramInfo, GivenUnbuiltProgramThenBinarySizesAreZero) {
  const Program program = create();
  EXPECT_EQ(std::vector<size_t>(devices().size(), 0),
            info<std::vector<size_t>>(::clGetProgramInfo, program.get(), CL_PROGRAM_BINARY_SIZES));
}

TEST_F(clGetProgramInfo, GivenUnbuiltProgramThenKernelsAreInvalidProgramExecutable) {
  const Program program = create();
  size_t size = 0;
  EXPECT_EQ(CL_INVALID_PROGRAM_EXECUTABLE,
            ::clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof size, &size, nullptr));
  EXPECT_EQ(CL_INVALID_PROGRAM_EXECUTABLE,
            ::clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &size));
}

TEST_F(clGetProgramInfo, GivenProgramFromSourceThenItHasNoIl) {
  const Program program = create();
  size_t size = 99;
  EXPECT_CL(::clGetProgramInfo(program, CL_PROGRAM_IL, 0, nullptr, &size));
  EXPECT_EQ(0U, size);
}

TEST_F(clGetProgramInfo, GivenProgramThenItHasNoGlobalConstructors) {
  const Program program = build(source);
  EXPECT_EQ(cl_bool{CL_FALSE},
            info<cl_bool>(::clGetProgramInfo, program.get(), CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT));
  EXPECT_EQ(cl_bool{CL_FALSE},
            info<cl_bool>(::clGetProgramInfo, program.get(), CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT));
}

TEST_F(clGetProgramInfo, GivenWrongSizeOrNameThenInvalidValue) {
  const Program program = build(source);
  for (const cl_program_info name :
       {CL_PROGRAM_REFERENCE_COUNT, CL_PROGRAM_CONTEXT, CL_PROGRAM_NUM_DEVICES, CL_PROGRAM_DEVICES,
        CL_PROGRAM_SOURCE, CL_PROGRAM_BINARY_SIZES, CL_PROGRAM_NUM_KERNELS, CL_PROGRAM_KERNEL_NAMES})
    expect_info_rules(::clGetProgramInfo, program.get(), name);
  unsigned char* pointer = nullptr;
  EXPECT_EQ(CL_INVALID_VALUE, ::clGetProgramInfo(program, CL_PROGRAM_BINARIES, 1, &pointer, nullptr));
}

TEST_F(clGetProgramInfo, GivenNullProgramThenInvalidProgram) {
  cl_uint value = 0;
  EXPECT_EQ(CL_INVALID_PROGRAM,
            ::clGetProgramInfo(nullptr, CL_PROGRAM_REFERENCE_COUNT, sizeof value, &value, nullptr));
}

}  // namespace clique::test::suite_clGetProgramInfo
