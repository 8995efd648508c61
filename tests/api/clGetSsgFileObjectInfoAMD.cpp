// clGetSsgFileObjectInfoAMD: cl_amd_liquid_flash.
#include "ssg_files.hpp"

namespace clique::test::suite_clGetSsgFileObjectInfoAMD {

class clGetSsgFileObjectInfoAMD : public SsgFileTest {};

TEST_F(clGetSsgFileObjectInfoAMD, GivenFileThenItsSizeAndBlocksOfOneByte) {
  const SsgFile file = open_ssg(make("file", some_bytes(1234)));
  EXPECT_EQ(1234U, info<cl_ulong>(get_ssg_info, file.get(), CL_FILE_SIZE_AMD));
  EXPECT_EQ(1U, info<cl_uint>(get_ssg_info, file.get(), CL_FILE_BLOCK_SIZE_AMD));
}

TEST_F(clGetSsgFileObjectInfoAMD, GivenInvalidArgumentsThenErrors) {
  const SsgFile file = open_ssg(make("file", some_bytes(1)));
  cl_ulong value = 0;
  EXPECT_EQ(CL_INVALID_VALUE, get_ssg_info(file.get(), 0, sizeof value, &value, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, get_ssg_info(file.get(), CL_FILE_SIZE_AMD, 1, &value, nullptr));
  EXPECT_EQ(CL_INVALID_FILE_OBJECT_AMD,
            get_ssg_info(nullptr, CL_FILE_SIZE_AMD, sizeof value, &value, nullptr));
}

}  // namespace clique::test::suite_clGetSsgFileObjectInfoAMD
