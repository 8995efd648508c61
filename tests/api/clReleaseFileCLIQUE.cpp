// clReleaseFileCLIQUE: cl_clique_file.
#include "files.hpp"

namespace clique::test::suite_clReleaseFileCLIQUE {

class clReleaseFileCLIQUE : public FileTest {};

TEST_F(clReleaseFileCLIQUE, GivenReleasedFileThenInvalidFile) {
  cl_file_clique file = open("/file").release();
  EXPECT_CL(release(file));
  EXPECT_EQ(CL_INVALID_FILE_CLIQUE, release(file));
  EXPECT_EQ(CL_INVALID_FILE_CLIQUE, release(nullptr));
}

TEST_F(clReleaseFileCLIQUE, GivenPendingCommandThenItCompletes) {
  const std::vector<char> bytes = some_bytes(5U << 20U);
  const std::string path = make("file", bytes);
  const Mem mem = buffer<char>(bytes.size());
  Gate gate(context);
  Event done;
  {
    const File file = open(path);
    ASSERT_CL(read_file(queue, file.get(), CL_FALSE, 0, mem, 0, bytes.size(), 1, gate.ptr(), done.out()));
  }
  ASSERT_CL(clFlush(queue));
  gate.open();
  ASSERT_CL(clWaitForEvents(1, done.ptr()));
  EXPECT_EQ(bytes, read<char>(mem, bytes.size()));
}

}  // namespace clique::test::suite_clReleaseFileCLIQUE
