// clCreateFileCLIQUE: cl_clique_file.
#include "files.hpp"

namespace clique::test::suite_clCreateFileCLIQUE {

class clCreateFileCLIQUE : public FileTest {
 protected:
  cl_int status(cl_file_flags_clique flags, const char* path) {
    cl_int err = CL_SUCCESS;
    const File file(create(context, flags, path, &err), release);
    EXPECT_EQ(err == CL_SUCCESS, file != nullptr);
    return err;
  }
};

TEST_F(clCreateFileCLIQUE, GivenDevicesThenAllReportTheExtension) {
  for (cl_device_id one : devices())
    EXPECT_NE(std::string::npos,
              info<std::string>(clGetDeviceInfo, one, CL_DEVICE_EXTENSIONS).find("cl_clique_file"));
}

TEST_F(clCreateFileCLIQUE, GivenNoSuchFileThenSuccess) {
  EXPECT_EQ(CL_SUCCESS, status(CL_FILE_READ_CLIQUE, "/no/such/file"));
  EXPECT_NE(nullptr, open("/no/such/file"));
}

TEST_F(clCreateFileCLIQUE, GivenInvalidContextThenInvalidContext) {
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, create(foreign_handle<cl_context>(), CL_FILE_READ_CLIQUE, "/file", &err));
  EXPECT_EQ(CL_INVALID_CONTEXT, err);
  EXPECT_EQ(nullptr, create(nullptr, CL_FILE_READ_CLIQUE, "/file", nullptr));
}

TEST_F(clCreateFileCLIQUE, GivenInvalidFlagsThenInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE, status(0, "/file"));
  EXPECT_EQ(CL_INVALID_VALUE, status(CL_FILE_CREATE_CLIQUE, "/file"));
  EXPECT_EQ(CL_INVALID_VALUE, status(CL_FILE_READ_CLIQUE | CL_FILE_CREATE_CLIQUE, "/file"));
  EXPECT_EQ(CL_INVALID_VALUE, status(CL_FILE_READ_CLIQUE | (1U << 20U), "/file"));
}

TEST_F(clCreateFileCLIQUE, GivenInvalidPathThenInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE, status(CL_FILE_READ_CLIQUE, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, status(CL_FILE_READ_CLIQUE, ""));
  EXPECT_EQ(CL_INVALID_VALUE, status(CL_FILE_READ_CLIQUE, ("/" + std::string(5000, 'x')).c_str()));
}

TEST_F(clCreateFileCLIQUE, GivenUnknownNodeThenInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE, status(CL_FILE_READ_CLIQUE, "surely-no-such-node:/file"));
}

}  // namespace clique::test::suite_clCreateFileCLIQUE
