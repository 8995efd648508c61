// clEnqueueSVMWriteFileCLIQUE: cl_clique_file.
#include "files.hpp"
#include "svm.hpp"

namespace clique::test::suite_clEnqueueSVMWriteFileCLIQUE {

class clEnqueueSVMWriteFileCLIQUE : public FileTest {
 protected:
  clEnqueueSVMWriteFileCLIQUE_fn write_svm =
      extension_function<clEnqueueSVMWriteFileCLIQUE_fn>("clEnqueueSVMWriteFileCLIQUE");
};

TEST_F(clEnqueueSVMWriteFileCLIQUE, GivenPointerIntoAllocationThenItsContentIsInTheFile) {
  if (!has_svm(device)) GTEST_SKIP() << "the device has no shared virtual memory";
  const std::vector<char> bytes = some_bytes(100'000);
  const std::string path = folder / "file";
  const File file = open(path, CL_FILE_WRITE_CLIQUE | CL_FILE_CREATE_CLIQUE);
  auto* const memory = static_cast<char*>(clSVMAlloc(context, CL_MEM_READ_WRITE, bytes.size(), 0));
  ASSERT_NE(nullptr, memory);
  ASSERT_CL(clEnqueueSVMMemcpy(queue, CL_TRUE, memory, bytes.data(), bytes.size(), 0, nullptr, nullptr));
  ASSERT_CL(write_svm(queue, file.get(), CL_TRUE, 0, memory + 10, bytes.size() - 10, 0, nullptr, nullptr));
  EXPECT_EQ(std::vector<char>(bytes.begin() + 10, bytes.end()), content_of(path));
  EXPECT_EQ(CL_INVALID_VALUE,
            write_svm(queue, file.get(), CL_TRUE, 0, memory + 10, bytes.size(), 0, nullptr, nullptr));
  clSVMFree(context, memory);
}

}  // namespace clique::test::suite_clEnqueueSVMWriteFileCLIQUE
