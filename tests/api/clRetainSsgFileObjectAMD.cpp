// clRetainSsgFileObjectAMD: cl_amd_liquid_flash.
#include "ssg_files.hpp"

namespace clique::test::suite_clRetainSsgFileObjectAMD {

class clRetainSsgFileObjectAMD : public SsgFileTest {};

TEST_F(clRetainSsgFileObjectAMD, GivenRetainedFileThenItOutlivesOneRelease) {
  const SsgFile file = open_ssg(make("file", some_bytes(1)));
  EXPECT_CL(retain_ssg(file.get()));
  EXPECT_CL(release_ssg(file.get()));
  EXPECT_EQ(1U, info<cl_ulong>(get_ssg_info, file.get(), CL_FILE_SIZE_AMD));
}

TEST_F(clRetainSsgFileObjectAMD, GivenNoFileThenInvalidFileObject) {
  EXPECT_EQ(CL_INVALID_FILE_OBJECT_AMD, retain_ssg(nullptr));
}

}  // namespace clique::test::suite_clRetainSsgFileObjectAMD
