// What the tests of cl_amd_liquid_flash have in common.
#pragma once

#include "files.hpp"
#include "icd/api/ssg_file_functions.hpp"

namespace clique::test {

/// The functions of cl_amd_liquid_flash.
class SsgFileTest : public FileTest {
 protected:
  using SsgFile = std::unique_ptr<_cl_file_amd, cl_int(CL_API_CALL*)(cl_file_amd)>;

  SsgFile open_ssg(const std::string& path, cl_file_flags_amd flags = CL_FILE_READ_ONLY_AMD) {
    cl_int err = CL_SUCCESS;
    SsgFile file(create_ssg(context, flags, std::wstring(path.begin(), path.end()).c_str(), &err),
                 release_ssg);
    EXPECT_EQ(CL_SUCCESS, err);
    return file;
  }

// `member` is declared. NOLINTBEGIN(bugprone-macro-parentheses)
#define CLIQUE_SSG(member, name) \
  decltype(&icd::api::name) member = extension_function<decltype(&icd::api::name)>(#name)
  // NOLINTEND(bugprone-macro-parentheses)
  CLIQUE_SSG(create_ssg, clCreateSsgFileObjectAMD);
  CLIQUE_SSG(get_ssg_info, clGetSsgFileObjectInfoAMD);
  CLIQUE_SSG(retain_ssg, clRetainSsgFileObjectAMD);
  CLIQUE_SSG(release_ssg, clReleaseSsgFileObjectAMD);
  CLIQUE_SSG(read_ssg, clEnqueueReadSsgFileAMD);
  CLIQUE_SSG(write_ssg, clEnqueueWriteSsgFileAMD);
#undef CLIQUE_SSG
};

}  // namespace clique::test
