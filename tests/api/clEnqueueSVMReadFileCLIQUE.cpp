// clEnqueueSVMReadFileCLIQUE: cl_clique_file.
#include "files.hpp"
#include "svm.hpp"

namespace clique::test::suite_clEnqueueSVMReadFileCLIQUE {

class clEnqueueSVMReadFileCLIQUE : public FileTest {
 protected:
  clEnqueueSVMReadFileCLIQUE_fn read_svm =
      extension_function<clEnqueueSVMReadFileCLIQUE_fn>("clEnqueueSVMReadFileCLIQUE");
};

TEST_F(clEnqueueSVMReadFileCLIQUE, GivenPointerIntoAllocationThenItHasTheContent) {
  if (!has_svm(device)) GTEST_SKIP() << "the device has no shared virtual memory";
  const std::vector<char> bytes = some_bytes(100'000);
  const File file = open(make("file", bytes));
  auto* const memory = static_cast<char*>(clSVMAlloc(context, CL_MEM_READ_WRITE, bytes.size() + 100, 0));
  ASSERT_NE(nullptr, memory);
  ASSERT_CL(read_svm(queue, file.get(), CL_TRUE, 0, memory + 50, bytes.size(), 0, nullptr, nullptr));
  std::vector<char> result(bytes.size());
  ASSERT_CL(
      clEnqueueSVMMemcpy(queue, CL_TRUE, result.data(), memory + 50, result.size(), 0, nullptr, nullptr));
  EXPECT_EQ(bytes, result);
  EXPECT_EQ(CL_INVALID_VALUE,
            read_svm(queue, file.get(), CL_TRUE, 0, memory + 101, bytes.size(), 0, nullptr, nullptr));
  clSVMFree(context, memory);
}

TEST_F(clEnqueueSVMReadFileCLIQUE, GivenOtherMemoryThenInvalidValue) {
  if (!has_svm(device)) GTEST_SKIP() << "the device has no shared virtual memory";
  const File file = open(make("file", some_bytes(16)));
  char memory[16];
  EXPECT_EQ(CL_INVALID_VALUE, read_svm(queue, file.get(), CL_TRUE, 0, memory, 16, 0, nullptr, nullptr));
}

}  // namespace clique::test::suite_clEnqueueSVMReadFileCLIQUE
