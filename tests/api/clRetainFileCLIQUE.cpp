// clRetainFileCLIQUE: cl_clique_file.
#include "files.hpp"

namespace clique::test::suite_clRetainFileCLIQUE {

class clRetainFileCLIQUE : public FileTest {};

TEST_F(clRetainFileCLIQUE, GivenFileThenReferencesAreCounted) {
  const File file = open("/file");
  const auto count = [&] { return info<cl_uint>(get_info, file.get(), CL_FILE_REFERENCE_COUNT_CLIQUE); };
  EXPECT_EQ(1U, count());
  EXPECT_CL(retain(file.get()));
  EXPECT_EQ(2U, count());
  EXPECT_CL(release(file.get()));
  EXPECT_EQ(1U, count());
}

TEST_F(clRetainFileCLIQUE, GivenNoFileThenInvalidFile) {
  EXPECT_EQ(CL_INVALID_FILE_CLIQUE, retain(nullptr));
  EXPECT_EQ(CL_INVALID_FILE_CLIQUE, retain(foreign_handle<cl_file_clique>()));
}

}  // namespace clique::test::suite_clRetainFileCLIQUE
