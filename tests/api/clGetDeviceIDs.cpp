// clGetDeviceIDs: OpenCL 3.0, section 4.2.
#include <set>

#include "checks.hpp"

namespace clique::test::suite_clGetDeviceIDs {

class clGetDeviceIDs : public ApiTest {
 protected:
  static std::vector<cl_device_id> of_type(cl_device_type type) {
    cl_uint count = 0;
    const cl_int err = ::clGetDeviceIDs(platform(), type, 0, nullptr, &count);
    if (err == CL_DEVICE_NOT_FOUND) return {};
    EXPECT_EQ(CL_SUCCESS, err);
    EXPECT_GT(count, 0U);
    std::vector<cl_device_id> result(count);
    EXPECT_CL(::clGetDeviceIDs(platform(), type, count, result.data(), nullptr));
    return result;
  }
};

TEST_F(clGetDeviceIDs, GivenAllThenUniqueDevicesOfThePlatform) {
  const std::set<cl_device_id> unique(devices().begin(), devices().end());
  EXPECT_EQ(devices().size(), unique.size());
  for (const cl_device_id each : devices()) {
    ASSERT_NE(nullptr, each);
    EXPECT_EQ(platform(), info<cl_platform_id>(clGetDeviceInfo, each, CL_DEVICE_PLATFORM));
    EXPECT_EQ(nullptr, info<cl_device_id>(clGetDeviceInfo, each, CL_DEVICE_PARENT_DEVICE));
  }
}

TEST_F(clGetDeviceIDs, GivenSameCallThenSameHandlesInSameOrder) {
  EXPECT_EQ(devices(), of_type(CL_DEVICE_TYPE_ALL));
}

TEST_F(clGetDeviceIDs, GivenOneTypeThenExactlyItsDevices) {
  for (const cl_device_type type :
       {CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CUSTOM}) {
    std::vector<cl_device_id> expected;
    for (const cl_device_id each : devices()) {
      if (info<cl_device_type>(clGetDeviceInfo, each, CL_DEVICE_TYPE) & type) expected.push_back(each);
    }
    if (type == CL_DEVICE_TYPE_CUSTOM) {
      EXPECT_TRUE(expected.empty()) << "ALL leaves custom devices out";
    } else {
      EXPECT_EQ(expected, of_type(type)) << type;
    }
  }
}

TEST_F(clGetDeviceIDs, GivenSeveralTypesThenTheirUnion) {
  const auto both = of_type(CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU);
  EXPECT_EQ(of_type(CL_DEVICE_TYPE_CPU).size() + of_type(CL_DEVICE_TYPE_GPU).size(), both.size());
}

TEST_F(clGetDeviceIDs, GivenDefaultThenOneDeviceThatIsMarkedAsDefault) {
  const auto found = of_type(CL_DEVICE_TYPE_DEFAULT);
  ASSERT_EQ(1U, found.size());
  EXPECT_EQ(1, std::count(devices().begin(), devices().end(), found.front()));
}

TEST_F(clGetDeviceIDs, GivenFewerEntriesThanDevicesThenOnlyThoseAreWritten) {
  const auto untouched = foreign_handle<cl_device_id>();
  std::vector<cl_device_id> list(devices().size() + 1, untouched);
  cl_uint count = 0;
  ASSERT_CL(::clGetDeviceIDs(platform(), CL_DEVICE_TYPE_ALL, 1, list.data(), &count));
  EXPECT_EQ(devices().size(), count);
  EXPECT_EQ(devices().front(), list[0]);
  EXPECT_EQ(untouched, list[1]);
}

TEST_F(clGetDeviceIDs, GivenMoreEntriesThanDevicesThenTheRestIsUntouched) {
  const auto untouched = foreign_handle<cl_device_id>();
  std::vector<cl_device_id> list(devices().size() + 3, untouched);
  cl_uint count = 0;
  ASSERT_CL(::clGetDeviceIDs(platform(), CL_DEVICE_TYPE_ALL, static_cast<cl_uint>(list.size()), list.data(),
                             &count));
  EXPECT_EQ(devices().size(), count);
  EXPECT_EQ(untouched, list[devices().size()]);
}

TEST_F(clGetDeviceIDs, GivenNothingToReturnThenInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE, ::clGetDeviceIDs(platform(), CL_DEVICE_TYPE_ALL, 0, nullptr, nullptr));
}

TEST_F(clGetDeviceIDs, GivenListWithoutEntriesThenInvalidValue) {
  cl_device_id id = nullptr;
  cl_uint count = 0;
  EXPECT_EQ(CL_INVALID_VALUE, ::clGetDeviceIDs(platform(), CL_DEVICE_TYPE_ALL, 0, &id, &count));
}

TEST_F(clGetDeviceIDs, GivenInvalidTypeThenInvalidDeviceType) {
  cl_uint count = 0;
  for (const cl_device_type type : {cl_device_type{0}, cl_device_type{1} << 20, cl_device_type{1} << 40}) {
    EXPECT_EQ(CL_INVALID_DEVICE_TYPE, ::clGetDeviceIDs(platform(), type, 0, nullptr, &count)) << type;
  }
}

TEST_F(clGetDeviceIDs, GivenTypeWithoutDevicesThenDeviceNotFound) {
  cl_device_type present = 0;
  for (const cl_device_id each : devices())
    present |= info<cl_device_type>(clGetDeviceInfo, each, CL_DEVICE_TYPE);
  for (const cl_device_type type : {CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR}) {
    if (present & type) continue;
    cl_uint count = 0;
    EXPECT_EQ(CL_DEVICE_NOT_FOUND, ::clGetDeviceIDs(platform(), type, 0, nullptr, &count)) << type;
  }
}

}  // namespace clique::test::suite_clGetDeviceIDs
