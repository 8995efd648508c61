// clCreateSsgFileObjectAMD: cl_amd_liquid_flash.
#include "ssg_files.hpp"

namespace clique::test::suite_clCreateSsgFileObjectAMD {

class clCreateSsgFileObjectAMD : public SsgFileTest {
 protected:
  cl_int status(cl_file_flags_amd flags, const wchar_t* name) {
    cl_int err = CL_SUCCESS;
    const SsgFile file(create_ssg(context, flags, name, &err), release_ssg);
    EXPECT_EQ(err == CL_SUCCESS, file != nullptr);
    return err;
  }
};

TEST_F(clCreateSsgFileObjectAMD, GivenDevicesThenAllReportTheExtension) {
  for (cl_device_id one : devices())
    EXPECT_NE(std::string::npos,
              info<std::string>(clGetDeviceInfo, one, CL_DEVICE_EXTENSIONS).find("cl_amd_liquid_flash"));
}

TEST_F(clCreateSsgFileObjectAMD, GivenNameBeyondAsciiThenTheFileWithThisUtf8Name) {
  make("Größe €", some_bytes(3));
  EXPECT_EQ(CL_SUCCESS,
            status(CL_FILE_READ_ONLY_AMD, (folder.wstring() + L"/Gr\u00f6\u00dfe \u20ac").c_str()));
}

TEST_F(clCreateSsgFileObjectAMD, GivenFileThatCannotBeOpenedThenInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE, status(CL_FILE_READ_ONLY_AMD, L"/no/such/file"));
  EXPECT_EQ(CL_INVALID_VALUE, status(CL_FILE_READ_ONLY_AMD, folder.wstring().c_str()));
}

TEST_F(clCreateSsgFileObjectAMD, GivenInvalidArgumentsThenErrors) {
  const std::wstring path = std::filesystem::path(make("file", some_bytes(3))).wstring();
  EXPECT_EQ(CL_INVALID_VALUE, status(0, path.c_str()));
  EXPECT_EQ(CL_INVALID_VALUE, status(CL_FILE_READ_ONLY_AMD | CL_FILE_WRITE_ONLY_AMD, path.c_str()));
  EXPECT_EQ(CL_INVALID_VALUE, status(CL_FILE_READ_ONLY_AMD, nullptr));
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, create_ssg(nullptr, CL_FILE_READ_ONLY_AMD, path.c_str(), &err));
  EXPECT_EQ(CL_INVALID_CONTEXT, err);
}

}  // namespace clique::test::suite_clCreateSsgFileObjectAMD
