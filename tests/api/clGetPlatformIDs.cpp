// clGetPlatformIDs: OpenCL 3.0, section 4.1.
#include <algorithm>

#include "checks.hpp"
#include "loader.hpp"

namespace clique::test::suite_clGetPlatformIDs {

class clGetPlatformIDs : public ApiTest {
 protected:
  /// The driver's own list, from which the loader builds its answer.
  clIcdGetPlatformIDsKHR_fn driver_function() {
    return reinterpret_cast<clIcdGetPlatformIDsKHR_fn>(
        clGetExtensionFunctionAddressForPlatform(platform(), "clIcdGetPlatformIDsKHR"));
  }
};

TEST_F(clGetPlatformIDs, GivenNoListThenCountOfPlatforms) {
  cl_uint count = 0;
  EXPECT_CL(::clGetPlatformIDs(0, nullptr, &count));
  EXPECT_GE(count, 1U);
}

TEST_F(clGetPlatformIDs, GivenListThenPlatformIsInItOnceAndAlwaysTheSame) {
  cl_uint count = 0;
  ASSERT_CL(::clGetPlatformIDs(0, nullptr, &count));
  std::vector<cl_platform_id> first(count);
  std::vector<cl_platform_id> second(count);
  ASSERT_CL(::clGetPlatformIDs(count, first.data(), nullptr));
  ASSERT_CL(::clGetPlatformIDs(count, second.data(), &count));
  EXPECT_EQ(first, second);
  EXPECT_EQ(1, std::count(first.begin(), first.end(), platform()));
}

TEST_F(clGetPlatformIDs, GivenNothingToReturnThenInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE, ::clGetPlatformIDs(0, nullptr, nullptr));
}

TEST_F(clGetPlatformIDs, GivenListWithoutEntriesThenInvalidValue) {
  cl_platform_id id = nullptr;
  cl_uint count = 0;
  EXPECT_EQ(CL_INVALID_VALUE, ::clGetPlatformIDs(0, &id, &count));
}

TEST_F(clGetPlatformIDs, GivenDriversFunctionThenOnlyItsOwnPlatforms) {
  if (!loader_shows_icd_functions()) GTEST_SKIP() << "the loader keeps it for itself";
  const auto get = driver_function();
  ASSERT_NE(nullptr, get);
  cl_uint count = 0;
  ASSERT_CL(get(0, nullptr, &count));
  ASSERT_GE(count, 1U);
  std::vector<cl_platform_id> own(count);
  ASSERT_CL(get(count, own.data(), nullptr));
  EXPECT_EQ(1, std::count(own.begin(), own.end(), platform()));
}

TEST_F(clGetPlatformIDs, GivenDriversFunctionAndBadArgumentsThenInvalidValue) {
  if (!loader_shows_icd_functions()) GTEST_SKIP() << "the loader keeps it for itself";
  const auto get = driver_function();
  ASSERT_NE(nullptr, get);
  cl_platform_id id = nullptr;
  cl_uint count = 0;
  EXPECT_EQ(CL_INVALID_VALUE, get(0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, get(0, &id, &count));
}

}  // namespace clique::test::suite_clGetPlatformIDs
