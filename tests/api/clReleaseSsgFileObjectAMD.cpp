// clReleaseSsgFileObjectAMD: cl_amd_liquid_flash.
#include "ssg_files.hpp"

namespace clique::test::suite_clReleaseSsgFileObjectAMD {

class clReleaseSsgFileObjectAMD : public SsgFileTest {};

TEST_F(clReleaseSsgFileObjectAMD, GivenReleasedFileThenInvalidFileObject) {
  cl_file_amd file = open_ssg(make("file", some_bytes(1))).release();
  EXPECT_CL(release_ssg(file));
  EXPECT_EQ(CL_INVALID_FILE_OBJECT_AMD, release_ssg(file));
  EXPECT_EQ(CL_INVALID_FILE_OBJECT_AMD, release_ssg(nullptr));
}

}  // namespace clique::test::suite_clReleaseSsgFileObjectAMD
