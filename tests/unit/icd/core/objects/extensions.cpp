#include <CL/cl_ext.h>
#include <gtest/gtest.h>

#include "icd/core/objects/extensions.hpp"

namespace clique::icd {
namespace {

TEST(Extensions, OfTheKernelLanguageAndQueriesAreCarried) {
  for (const char* name :
       {"cl_khr_fp64", "cl_khr_int64_base_atomics", "cl_khr_subgroup_ballot", "cl_amd_printf",
        "cl_khr_3d_image_writes", "cl_nv_device_attribute_query", "cl_qcom_reqd_sub_group_size"})
    EXPECT_TRUE(carries_extension(name)) << name;
}

TEST(Extensions, WithEntryPointsThatAreMissingAreNot) {
  for (const char* name : {"cl_khr_gl_sharing", "cl_khr_external_semaphore", "cl_khr_external_memory",
                           "cl_khr_priority_hints", "cl_khr_fp6", "", "cl_khr_fp640"})
    EXPECT_FALSE(carries_extension(name)) << name;
}

TEST(Extensions, OwnOnesAreCarried) {
  for (const cl_name_version& extension : own_extensions()) EXPECT_TRUE(carries_extension(extension.name));
}

TEST(Extensions, PropertiesOfMissingOnesAreAbsent) {
  EXPECT_TRUE(belongs_to_absent_extension(CL_DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR));
  EXPECT_TRUE(belongs_to_absent_extension(CL_DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR));
  EXPECT_TRUE(belongs_to_absent_extension(CL_DEVICE_SVM_CAPABILITIES_ARM));
  EXPECT_FALSE(belongs_to_absent_extension(CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR));
  EXPECT_FALSE(belongs_to_absent_extension(CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR));
  EXPECT_FALSE(belongs_to_absent_extension(CL_DEVICE_SEMAPHORE_TYPES_KHR));
  EXPECT_FALSE(belongs_to_absent_extension(CL_DEVICE_NAME));
  EXPECT_FALSE(belongs_to_absent_extension(CL_DEVICE_WARP_SIZE_NV));
}

TEST(Extensions, ListsAreSortedAndNamesAreThereOnce) {
  const auto list = sorted_by_name({name_version("b", CL_MAKE_VERSION(1, 0, 0)), name_version("a", 1),
                                    name_version("b", CL_MAKE_VERSION(2, 0, 0))});
  ASSERT_EQ(2U, list.size());
  EXPECT_EQ("a b", names_of(list));
  EXPECT_EQ(CL_MAKE_VERSION(2, 0, 0), list[1].version);
}

TEST(Extensions, NamesThatAreTooLongAreCut) {
  const cl_name_version entry = name_version(std::string(100, 'x'), 1);
  EXPECT_EQ(sizeof entry.name - 1, name_of(entry).size());
}

TEST(Extensions, WordsAreSplitAtAnyNumberOfSpaces) {
  EXPECT_EQ((std::vector<std::string_view>{"a", "bc", "d"}), words("  a bc   d "));
  EXPECT_TRUE(words("").empty());
  EXPECT_TRUE(words("  ").empty());
}

}  // namespace
}  // namespace clique::icd
