// What programs in OpenCL C can include: the files of the request, and nothing of the disk.
#include <CL/cl.h>

#include "fixture.hpp"

namespace clique::daemon::compiler {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

Result build_with(const Files& files, const std::string& source, const std::string& options = "",
                  const std::string& folder = "/home/client") {
  Request request = build_request(source, options);
  request.folder = folder;
  for (const auto& [path, text] : files) {
    request.file_paths.push_back(path);
    request.files.push_back(text);
  }
  return shared_compiler().run(request, kLimit);
}

const std::string kKernel = "\n__kernel void NAME() {}\n";

void expect_kernel(const Result& result, const std::string& name) {
  ASSERT_EQ(result.status, CL_SUCCESS) << result.log;
  EXPECT_EQ(parse_program_binary(result.binary).kernels.at(0).name, name);
  EXPECT_TRUE(result.files.empty());
}

TEST(Includes, GivenFilesThenTheyAreFoundAsOnTheClient) {
  const Files files{{"/home/client/near.h", "#define NAME near_one\n"},
                    {"/home/client/include/far.h", "#include \"inner/inner.h\"\n"},
                    {"/home/client/include/inner/inner.h", "#include \"../deep.h\"\n"},
                    {"/home/client/include/deep.h", "#define NAME deep_one\n"}};
  expect_kernel(build_with(files, "#include \"near.h\"" + kKernel), "near_one");
  expect_kernel(build_with(files, "#include \"far.h\"" + kKernel, "-I include"), "deep_one");
  expect_kernel(build_with(files, "#include <far.h>" + kKernel, "-I/home/client/include"), "deep_one");
  expect_kernel(build_with(files, "#include \"/home/client/include/far.h\"" + kKernel), "deep_one");
  expect_kernel(build_with(files, "#include \"../client/./include/../near.h\"" + kKernel), "near_one");
  expect_kernel(build_with(files, "#define F <far.h>\n#include F" + kKernel, "-I include"), "deep_one");
}

TEST(Includes, GivenHeadersThenTheyComeBeforeFiles) {
  Request request = build_request("#include \"value.h\"" + kKernel, "-I include");
  request.kind = Request::Kind::Compile;
  request.folder = "/home/client";
  request.header_names = {"value.h"};
  request.headers = {"#define NAME from_header\n"};
  request.file_paths = {"/home/client/include/value.h"};
  request.files = {"#error the file is not the header\n"};
  const Result result = shared_compiler().run(request, kLimit);
  EXPECT_EQ(result.status, CL_SUCCESS) << result.log;
}

TEST(Includes, GivenFileWithTheNameOfTheProgramInMessagesThenItIsIncluded) {
  expect_kernel(build_with({{"/home/client/program.cl", "#define NAME included\n"}},
                           "#include \"program.cl\"" + kKernel),
                "included");
}

TEST(Includes, GivenErrorsThenTheLogHasTheClientsNames) {
  const Files files{{"/home/client/include/bad.h", "\nint f() { return missing; }\n"}};
  const Result relative = build_with(files, "#include \"bad.h\"\n", "-I include");
  EXPECT_EQ(relative.status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_TRUE(contains(relative.log, "include/bad.h:2:"));
  const Result absolute = build_with(files, "#include \"/home/client/include/bad.h\"\n");
  EXPECT_TRUE(contains(absolute.log, "/home/client/include/bad.h:2:"));
  const Result missing = build_with(files, "#include \"absent.h\"\n");
  EXPECT_TRUE(contains(missing.log, "'absent.h' file not found"));
}

/// A file that exists only on this host's disk.
class IncludesFromDisk : public testing::Test {
 protected:
  IncludesFromDisk() {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ + "/disk.h") << "#define NAME from_disk\n#error secret_of_the_node\n";
  }
  ~IncludesFromDisk() override { std::filesystem::remove_all(folder_); }

  const std::string folder_ = testing::TempDir() + "clique-includes-" + std::to_string(::getpid());
};

TEST_F(IncludesFromDisk, GivenAnyWayToNameAFileThenItIsNotFound) {
  const std::string file = folder_ + "/disk.h";
  const std::string climbing = "../../../../../../../../.." + file;
  for (const std::string& source :
       {"#include \"" + file + "\"", "#include <" + file + ">", "#include \"" + climbing + "\"",
        std::string("#include \"disk.h\""), std::string("#include <disk.h>"),
        "#include_next \"" + file + "\"", std::string("#include_next <disk.h>"), "#import \"" + file + "\"",
        "#define F \"" + file + "\"\n#include F", "#define F(x) #x\n#include F(" + file + ")",
        std::string("#pragma clang module import disk"), "#embed \"" + file + "\"",
        "#pragma GCC dependency \"" + file + "\""}) {
    for (const std::string& options : {std::string(), "-I " + folder_, std::string("-I . -I /"),
                                       "-I " + climbing.substr(0, climbing.rfind('/'))}) {
      SCOPED_TRACE(source + " with " + options);
      for (const std::string& folder : {std::string("/"), folder_}) {
        const Result result = build_with({}, source + "\n__kernel void k() {}\n", options, folder);
        EXPECT_EQ(result.log.find("secret_of_the_node"), std::string::npos) << result.log;
        if (source.starts_with("#include")) {
          EXPECT_TRUE(contains(result.log, "file not found"));
        }
      }
    }
  }
}

TEST_F(IncludesFromDisk, GivenQuestionThenTheFileDoesNotExist) {
  const std::string file = folder_ + "/disk.h";
  for (const std::string& question :
       {"__has_include(\"" + file + "\")", "__has_include(<" + file + ">)",
        std::string("__has_include(<disk.h>)"), "__has_include_next(\"" + file + "\")",
        "__has_embed(\"" + file + "\")"}) {
    const Result result =
        build_with({}, "#if " + question + "\n#error it is there\n#endif\n__kernel void k() {}\n",
                   "-I " + folder_, folder_);
    EXPECT_EQ(result.log.find("it is there"), std::string::npos) << question;
  }
}

TEST_F(IncludesFromDisk, GivenOptionsThatNameFilesThenTheyAreRefused) {
  const std::string file = folder_ + "/disk.h";
  for (const std::string& options :
       {"-include " + file, "-imacros " + file, "@" + file, file, "-fmodule-map-file=" + file,
        "-isystem " + folder_, "-Xclang -include -Xclang " + file, "-ivfsoverlay " + file,
        "-include-pch " + file}) {
    const Result result = build_with({}, "__kernel void k() {}\n", options, folder_);
    EXPECT_EQ(result.status, CL_INVALID_BUILD_OPTIONS) << options;
    EXPECT_EQ(result.log.find("secret_of_the_node"), std::string::npos) << result.log;
  }
}

}  // namespace
}  // namespace clique::daemon::compiler
