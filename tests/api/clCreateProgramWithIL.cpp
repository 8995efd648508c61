// clCreateProgramWithIL: OpenCL 3.0, section 5.8.1.
#include "helpers.hpp"

namespace clique::test {

class clCreateProgramWithIL : public ApiTest {
 protected:
  static bool supported() {
    return std::any_of(devices().begin(), devices().end(), [](cl_device_id one) {
      return !info<std::string>(clGetDeviceInfo, one, CL_DEVICE_IL_VERSION).empty();
    });
  }
  void expect_error(cl_int expected, cl_context in, const void* il, size_t length) {
    cl_int err = CL_SUCCESS;
    EXPECT_EQ(nullptr, ::clCreateProgramWithIL(in, il, length, &err));
    EXPECT_EQ(expected, err);
  }
};

TEST_F(clCreateProgramWithIL, GivenNoDeviceWithIlThenInvalidOperation) {
  if (supported()) GTEST_SKIP() << "a device accepts an intermediate language";
  const cl_uint magic[] = {0x07230203, 0x00010000, 0, 1, 0};
  expect_error(CL_INVALID_OPERATION, context, magic, sizeof magic);
}

TEST_F(clCreateProgramWithIL, GivenNoIlThenInvalidValue) {
  if (!supported()) GTEST_SKIP() << "no device accepts an intermediate language";
  const cl_uint magic[] = {0x07230203, 0x00010000, 0, 1, 0};
  expect_error(CL_INVALID_VALUE, context, nullptr, sizeof magic);
  expect_error(CL_INVALID_VALUE, context, magic, 0);
}

TEST_F(clCreateProgramWithIL, GivenGarbageThenInvalidValue) {
  if (!supported()) GTEST_SKIP() << "no device accepts an intermediate language";
  const std::vector<unsigned char> garbage(64, 0xA5);
  expect_error(CL_INVALID_VALUE, context, garbage.data(), garbage.size());
}

TEST_F(clCreateProgramWithIL, GivenNullContextThenInvalidContext) {
  const cl_uint magic[] = {0x07230203, 0x00010000, 0, 1, 0};
  expect_error(CL_INVALID_CONTEXT, nullptr, magic, sizeof magic);
}

}  // namespace clique::test
