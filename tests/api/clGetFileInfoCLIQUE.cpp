// clGetFileInfoCLIQUE: cl_clique_file.
#include "files.hpp"

namespace clique::test::suite_clGetFileInfoCLIQUE {

class clGetFileInfoCLIQUE : public FileTest {
 protected:
  cl_int size_status(const std::string& path) {
    cl_ulong size = 0;
    return get_info(open(path).get(), CL_FILE_SIZE_CLIQUE, sizeof size, &size, nullptr);
  }
};

TEST_F(clGetFileInfoCLIQUE, GivenFileThenItsProperties) {
  const std::string path = make("file", some_bytes(12345));
  const File file = open(path, CL_FILE_READ_CLIQUE | CL_FILE_WRITE_CLIQUE);
  EXPECT_EQ(context.get(), info<cl_context>(get_info, file.get(), CL_FILE_CONTEXT_CLIQUE));
  EXPECT_EQ(cl_file_flags_clique{CL_FILE_READ_CLIQUE | CL_FILE_WRITE_CLIQUE},
            info<cl_file_flags_clique>(get_info, file.get(), CL_FILE_FLAGS_CLIQUE));
  EXPECT_EQ(1U, info<cl_uint>(get_info, file.get(), CL_FILE_REFERENCE_COUNT_CLIQUE));
  EXPECT_EQ("", info<std::string>(get_info, file.get(), CL_FILE_NODE_CLIQUE));
  EXPECT_EQ(path, info<std::string>(get_info, file.get(), CL_FILE_PATH_CLIQUE));
  EXPECT_EQ(12345U, info<cl_ulong>(get_info, file.get(), CL_FILE_SIZE_CLIQUE));
}

TEST_F(clGetFileInfoCLIQUE, GivenFileThatGrowsThenItsPresentSize) {
  const File file = open(make("file", some_bytes(10)));
  EXPECT_EQ(10U, info<cl_ulong>(get_info, file.get(), CL_FILE_SIZE_CLIQUE));
  std::ofstream(folder / "file", std::ios::app) << "more";
  EXPECT_EQ(14U, info<cl_ulong>(get_info, file.get(), CL_FILE_SIZE_CLIQUE));
}

TEST_F(clGetFileInfoCLIQUE, GivenRelativePathThenThatOfTheWorkingDirectory) {
  EXPECT_EQ(std::filesystem::current_path() / "some:thing",
            info<std::string>(get_info, open("./there/../some:thing").get(), CL_FILE_PATH_CLIQUE));
}

TEST_F(clGetFileInfoCLIQUE, GivenUnusableFileThenTheReasonAsStatus) {
  EXPECT_EQ(CL_FILE_NOT_FOUND_CLIQUE, size_status(folder / "missing"));
  EXPECT_EQ(CL_FILE_NOT_REGULAR_CLIQUE, size_status(folder));
}

TEST_F(clGetFileInfoCLIQUE, GivenOnlySizeWantedThenItIsThatOfTheAnswer) {
  size_t size = 0;
  EXPECT_CL(get_info(open("/no/such/file").get(), CL_FILE_SIZE_CLIQUE, 0, nullptr, &size));
  EXPECT_EQ(sizeof(cl_ulong), size);
}

TEST_F(clGetFileInfoCLIQUE, GivenInvalidArgumentsThenErrors) {
  const File file = open("/file");
  cl_uint count = 0;
  EXPECT_EQ(CL_INVALID_VALUE, get_info(file.get(), 0, sizeof count, &count, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, get_info(file.get(), CL_FILE_REFERENCE_COUNT_CLIQUE, 1, &count, nullptr));
  EXPECT_EQ(CL_INVALID_FILE_CLIQUE,
            get_info(nullptr, CL_FILE_REFERENCE_COUNT_CLIQUE, sizeof count, &count, nullptr));
}

}  // namespace clique::test::suite_clGetFileInfoCLIQUE
