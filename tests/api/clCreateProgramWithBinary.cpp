// clCreateProgramWithBinary: OpenCL 3.0, section 5.8.1.
#include "helpers.hpp"

namespace clique::test::suite_clCreateProgramWithBinary {

class clCreateProgramWithBinary : public ApiTest {
 protected:
  using Binary = std::vector<unsigned char>;

  static constexpr char source[] = R"(kernel void square(global int* data) {
    size_t i = get_global_id(0);
    data[i] = data[i] * data[i];
  })";

  static std::vector<Binary> binaries_of(cl_program program) {
    std::vector<Binary> binaries;
    std::vector<unsigned char*> pointers;
    for (size_t size : info<std::vector<size_t>>(clGetProgramInfo, program, CL_PROGRAM_BINARY_SIZES))
      binaries.emplace_back(size);
    for (Binary& binary : binaries) pointers.push_back(binary.data());
    EXPECT_CL(clGetProgramInfo(program, CL_PROGRAM_BINARIES, pointers.size() * sizeof pointers[0],
                               pointers.data(), nullptr));
    return binaries;
  }

  /// Calls the function with the content of `binaries`; for tests that expect success, it returns the
  /// program.
  Program create(const std::vector<cl_device_id>& on, const std::vector<Binary>& binaries, cl_int* err,
                 cl_int* status = nullptr) {
    std::vector<size_t> lengths;
    std::vector<const unsigned char*> pointers;
    for (const Binary& binary : binaries) {
      lengths.push_back(binary.size());
      pointers.push_back(binary.data());
    }
    return Program(::clCreateProgramWithBinary(context, static_cast<cl_uint>(on.size()), on.data(),
                                               lengths.data(), pointers.data(), status, err));
  }

  void expect_squares(cl_program program, cl_command_queue on) {
    const int data[] = {1, -2, 3, 40};
    const Mem mem = buffer<int>(4, data);
    const Kernel square = kernel(program, "square");
    set_args(square, mem);
    ASSERT_CL(launch(on, square, 4));
    ASSERT_CL(clFinish(on));
    EXPECT_EQ((std::vector<int>{1, 4, 9, 1600}), read<int>(mem, 4));
  }
};

TEST_F(clCreateProgramWithBinary, GivenBinariesOfBuiltProgramWhenBuiltThenKernelsRunOnAllDevices) {
  const std::vector<Binary> binaries = binaries_of(build(source));
  cl_int err = CL_SUCCESS;
  std::vector<cl_int> status(devices().size(), -1);
  const Program program = create(devices(), binaries, &err, status.data());
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(std::vector<cl_int>(devices().size(), CL_SUCCESS), status);
  EXPECT_EQ(devices(), info<std::vector<cl_device_id>>(clGetProgramInfo, program.get(), CL_PROGRAM_DEVICES));
  ASSERT_CL(clBuildProgram(program, 0, nullptr, "", nullptr, nullptr));
  for (cl_device_id one : devices()) expect_squares(program, make_queue(0, one));
}

TEST_F(clCreateProgramWithBinary, GivenBinaryWhenBuiltThenItsOwnBinaryIsGoodAgain) {
  cl_int err = CL_SUCCESS;
  const Program second = create(devices(), binaries_of(build(source)), &err);
  ASSERT_EQ(CL_SUCCESS, err);
  ASSERT_CL(clBuildProgram(second, 0, nullptr, "", nullptr, nullptr));
  const Program third = create(devices(), binaries_of(second), &err);
  ASSERT_EQ(CL_SUCCESS, err);
  ASSERT_CL(clBuildProgram(third, 0, nullptr, "", nullptr, nullptr));
  expect_squares(third, queue);
}

TEST_F(clCreateProgramWithBinary, GivenBinaryOfLastDeviceOnlyThenProgramHasThatDevice) {
  const cl_device_id last = devices().back();
  cl_int err = CL_SUCCESS;
  const Program program = create({last}, {binaries_of(build(source)).back()}, &err);
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(1U, info<cl_uint>(clGetProgramInfo, program.get(), CL_PROGRAM_NUM_DEVICES));
  ASSERT_CL(clBuildProgram(program, 1, &last, "", nullptr, nullptr));
  expect_squares(program, make_queue(0, last));
}

TEST_F(clCreateProgramWithBinary, GivenBinaryInOtherContextThenItRunsThere) {
  const std::vector<Binary> binaries = binaries_of(build(source));
  const OtherContext other;
  queue = Queue();
  context = Context(other.context.get());
  clRetainContext(context);
  queue = make_queue();
  cl_int err = CL_SUCCESS;
  const Program program = create(devices(), binaries, &err);
  ASSERT_EQ(CL_SUCCESS, err);
  ASSERT_CL(clBuildProgram(program, 0, nullptr, "", nullptr, nullptr));
  expect_squares(program, queue);
}

TEST_F(clCreateProgramWithBinary, GivenCompiledObjectWhenLinkedThenKernelRuns) {
  const char* text = source;
  const Program compiled(clCreateProgramWithSource(context, 1, &text, nullptr, nullptr));
  ASSERT_CL(clCompileProgram(compiled, 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr));
  cl_int err = CL_SUCCESS;
  const Program object = create(devices(), binaries_of(compiled), &err);
  ASSERT_EQ(CL_SUCCESS, err);
  const Program linked(clLinkProgram(context, 0, nullptr, "", 1, object.ptr(), nullptr, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  expect_squares(linked, queue);
}

TEST_F(clCreateProgramWithBinary, GivenGarbageThenInvalidBinaryWithStatus) {
  const std::vector<Binary> garbage(devices().size(), Binary(300, 0xA5));
  std::vector<cl_int> status(devices().size(), CL_SUCCESS);
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, create(devices(), garbage, &err, status.data()).get());
  EXPECT_EQ(CL_INVALID_BINARY, err);
  EXPECT_EQ(std::vector<cl_int>(devices().size(), CL_INVALID_BINARY), status);
}

TEST_F(clCreateProgramWithBinary, GivenCutBinaryThenInvalidBinary) {
  std::vector<Binary> binaries = binaries_of(build(source));
  for (Binary& binary : binaries) binary.resize(3);
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, create(devices(), binaries, &err).get());
  EXPECT_EQ(CL_INVALID_BINARY, err);
}

TEST_F(clCreateProgramWithBinary, GivenGarbageForOneDeviceThenOnlyItsStatusIsInvalidBinary) {
  if (devices().size() < 2) GTEST_SKIP() << "needs two devices";
  std::vector<Binary> binaries = binaries_of(build(source));
  binaries.back() = Binary(300, 0xA5);
  std::vector<cl_int> status(devices().size(), -1);
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, create(devices(), binaries, &err, status.data()).get());
  EXPECT_EQ(CL_INVALID_BINARY, err);
  EXPECT_EQ(CL_SUCCESS, status.front());
  EXPECT_EQ(CL_INVALID_BINARY, status.back());
}

TEST_F(clCreateProgramWithBinary, GivenNullContextThenInvalidContext) {
  const Binary binary(10);
  const unsigned char* pointer = binary.data();
  const size_t length = binary.size();
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateProgramWithBinary(nullptr, 1, &device, &length, &pointer, nullptr, &err));
  EXPECT_EQ(CL_INVALID_CONTEXT, err);
}

TEST_F(clCreateProgramWithBinary, GivenNoDevicesThenInvalidValue) {
  const Binary binary(10);
  const unsigned char* pointer = binary.data();
  const size_t length = binary.size();
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateProgramWithBinary(context, 0, &device, &length, &pointer, nullptr, &err));
  EXPECT_EQ(CL_INVALID_VALUE, err);
  err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateProgramWithBinary(context, 1, nullptr, &length, &pointer, nullptr, &err));
  EXPECT_EQ(CL_INVALID_VALUE, err);
}

TEST_F(clCreateProgramWithBinary, GivenDeviceThatIsNotOfContextThenInvalidDevice) {
  const Binary binary(10);
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, create({foreign_handle<cl_device_id>()}, {binary}, &err).get());
  EXPECT_EQ(CL_INVALID_DEVICE, err);
  err = CL_SUCCESS;
  EXPECT_EQ(nullptr, create({nullptr}, {binary}, &err).get());
  EXPECT_EQ(CL_INVALID_DEVICE, err);
}

TEST_F(clCreateProgramWithBinary, GivenMissingBinaryThenInvalidValueWithStatus) {
  const Binary binary(10);
  const unsigned char* pointer = binary.data();
  const unsigned char* missing = nullptr;
  const size_t length = binary.size();
  const size_t zero = 0;
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateProgramWithBinary(context, 1, &device, nullptr, &pointer, nullptr, &err));
  EXPECT_EQ(CL_INVALID_VALUE, err);
  err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateProgramWithBinary(context, 1, &device, &length, nullptr, nullptr, &err));
  EXPECT_EQ(CL_INVALID_VALUE, err);
  err = CL_SUCCESS;
  cl_int status = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateProgramWithBinary(context, 1, &device, &zero, &pointer, &status, &err));
  EXPECT_EQ(CL_INVALID_VALUE, err);
  EXPECT_EQ(CL_INVALID_VALUE, status);
  err = CL_SUCCESS;
  status = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateProgramWithBinary(context, 1, &device, &length, &missing, &status, &err));
  EXPECT_EQ(CL_INVALID_VALUE, err);
  EXPECT_EQ(CL_INVALID_VALUE, status);
}

}  // namespace clique::test::suite_clCreateProgramWithBinary
