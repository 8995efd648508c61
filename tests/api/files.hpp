// What the tests of cl_clique_file and cl_amd_liquid_flash have in common.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "checks.hpp"
#include "icd/include/CL/cl_ext_clique.h"

namespace clique::test {

/// A function of an extension, by its name.
template <typename Function>
Function extension_function(const char* name) {
  return reinterpret_cast<Function>(::clGetExtensionFunctionAddressForPlatform(platform(), name));
}

/// The functions of cl_clique_file, and a folder for files, which the platform's nodes see.
class FileTest : public ApiTest {
 protected:
  using File = std::unique_ptr<_cl_file_clique, clReleaseFileCLIQUE_fn>;

  void SetUp() override {
    ApiTest::SetUp();
    if (HasFatalFailure()) return;
    const std::string extensions = info<std::string>(clGetPlatformInfo, platform(), CL_PLATFORM_EXTENSIONS);
    if (extensions.find("cl_clique_file") == std::string::npos)
      GTEST_SKIP() << "the platform lacks cl_clique_file";
    std::string name = std::filesystem::path(::testing::TempDir()) / "clique-files-XXXXXX";
    ASSERT_NE(nullptr, ::mkdtemp(name.data()));
    folder = name;
  }
  void TearDown() override {
    if (!folder.empty()) std::filesystem::remove_all(folder);
  }

  /// Whether the program's own workers serve it, which may use all of its user's files. Nodes of a cluster
  /// offer the folder for temporary files alone.
  static bool has_private_workers() {
    const char* const nodes = std::getenv("CLIQUE_NODES");
    return nodes == nullptr || *nodes == '\0';
  }
  /// A file with this content. @returns its path
  std::string make(const std::string& name, const std::vector<char>& content) const {
    std::ofstream(folder / name, std::ios::binary)
        .write(content.data(), static_cast<std::streamsize>(content.size()));
    return folder / name;
  }
  static std::vector<char> content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// Bytes that are the same nowhere near each other.
  static std::vector<char> some_bytes(size_t count) {
    std::vector<char> bytes(count);
    for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>(i * 2654435761U >> 21U);
    return bytes;
  }
  File open(const std::string& path, cl_file_flags_clique flags = CL_FILE_READ_CLIQUE,
            cl_context of = nullptr) {
    cl_int err = CL_SUCCESS;
    File file(create(of != nullptr ? of : context.get(), flags, path.c_str(), &err), release);
    EXPECT_EQ(CL_SUCCESS, err);
    return file;
  }
  /// A blocking read of the file's beginning into a new buffer. @returns its status
  cl_int try_read(const std::string& path, size_t size = 16) {
    const File file = open(path);
    const Mem mem = buffer<char>(size);
    return read_file(queue, file.get(), CL_TRUE, 0, mem, 0, size, 0, nullptr, nullptr);
  }
  cl_int try_write(const std::string& path, cl_file_flags_clique flags = CL_FILE_WRITE_CLIQUE,
                   size_t size = 16) {
    const File file = open(path, flags);
    const std::vector<char> bytes = some_bytes(size);
    const Mem mem = buffer(size, bytes.data());
    return write_file(queue, file.get(), CL_TRUE, 0, mem, 0, size, 0, nullptr, nullptr);
  }

  std::filesystem::path folder;
  clCreateFileCLIQUE_fn create = extension_function<clCreateFileCLIQUE_fn>("clCreateFileCLIQUE");
  clRetainFileCLIQUE_fn retain = extension_function<clRetainFileCLIQUE_fn>("clRetainFileCLIQUE");
  clReleaseFileCLIQUE_fn release = extension_function<clReleaseFileCLIQUE_fn>("clReleaseFileCLIQUE");
  clGetFileInfoCLIQUE_fn get_info = extension_function<clGetFileInfoCLIQUE_fn>("clGetFileInfoCLIQUE");
  clEnqueueReadFileCLIQUE_fn read_file =
      extension_function<clEnqueueReadFileCLIQUE_fn>("clEnqueueReadFileCLIQUE");
  clEnqueueWriteFileCLIQUE_fn write_file =
      extension_function<clEnqueueWriteFileCLIQUE_fn>("clEnqueueWriteFileCLIQUE");
};

/// Root may read everything, whatever the permissions say.
#define CLIQUE_NEEDS_PERMISSIONS() \
  if (::geteuid() == 0) GTEST_SKIP() << "permissions do not restrict root"

}  // namespace clique::test
