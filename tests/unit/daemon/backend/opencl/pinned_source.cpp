// Sources as drivers get them, which open included files themselves.
#include "daemon/backend/opencl/pinned_source.hpp"

#include <CL/cl.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "daemon/compiler/contract/build_options.hpp"
#include "protocol/sources/includes.hpp"

namespace clique::daemon::opencl {
namespace {

using Kind = compiler::Request::Kind;

FileSet files_of(const std::map<std::string, std::string>& texts) {
  FileSet set;
  set.folder = "/client";
  for (const auto& [path, text] : texts) set.files[path] = std::make_shared<const std::string>(text);
  return set;
}

/// The file in memory that the first include of the text names.
std::string first_included(const std::string& text) {
  std::smatch match;
  if (!std::regex_search(text, match, std::regex("#\\s*include\\s+\"(/proc/self/fd/[0-9]+)\"")))
    return "none";
  std::ostringstream content;
  content << std::ifstream(match[1]).rdbuf();
  return content.str();
}

TEST(PinnedSource, GivenNoIncludeThenTheSourceIsLeftAlone) {
  EXPECT_FALSE(PinnedSource("kernel void k() {}", "-I /etc", {}, {}).includes());
}

TEST(PinnedSource, GivenFilesThenEachIncludeNamesAFileInMemory) {
  const FileSet files = files_of({{"/client/a.h", "#include <b.h>\n// a"}, {"/client/inc/b.h", "// b"}});
  const PinnedSource pinned("int x;\n#include \"a.h\"\n", "-I inc", files, {});
  ASSERT_TRUE(pinned.includes());
  EXPECT_TRUE(pinned.text().starts_with("#line 1 \"program.cl\"\nint x;\n#include \"/proc/self/fd/"))
      << pinned.text();
  const std::string a = first_included(pinned.text());
  EXPECT_TRUE(a.starts_with("#line 1 \"/client/a.h\"\n#include \"/proc/self/fd/")) << a;
  EXPECT_EQ(first_included(a), "#line 1 \"/client/inc/b.h\"\n// b");
}

TEST(PinnedSource, GivenIncludesOfOtherFilesThenTheyNameNone) {
  const FileSet files = files_of({{"/client/a.h", "// a"}, {"/client/b.h", "// b"}});
  for (const char* include :
       {"#include \"/etc/passwd\"", "#include <etc.h>", "#include \"../../etc/passwd\"", "#include UNKNOWN",
        "#define F \"/etc/passwd\"\n#include F", "#define F \"a.h\"\n#define F \"b.h\"\n#include F",
        "#if __has_include(\"/etc/passwd\")", "#include_next \"/etc/passwd\"", "#embed \"/etc/passwd\"",
        "#inc\\\nlude </etc/passwd>"}) {
    const PinnedSource pinned(include, "", files, {});
    EXPECT_NE(pinned.text().find("\"/proc/self/fd/none/"), std::string::npos) << pinned.text();
    EXPECT_EQ(first_included(pinned.text()), "none") << pinned.text();
    const auto operand = pinned.text().find_last_of('#', pinned.text().rfind("\n\n/* "));
    EXPECT_EQ(pinned.text().find("\"/etc", operand), std::string::npos) << pinned.text();
  }
}

/// The includes of a text by which compilers might open another file, wherever its comments and lines end.
std::vector<std::string> opened(const std::string& text) {
  std::vector<std::string> names;
  for (const protocol::Include& include : protocol::find_includes(text))
    if (!include.name.starts_with("/proc/self/fd/") || include.name.find("*/") != std::string::npos)
      names.push_back(include.name);
  return names;
}

TEST(PinnedSource, GivenNamesThatEndCommentsThenNoIncludeFollowsThem) {
  for (const std::string name :
       {"*/ #include </etc/passwd> //", "*/%:include </etc/passwd> //", "*/?\?=include </etc/passwd> //"})
    for (const std::string& include :
         {"\"" + name + "\"", "<" + name, "X \"" + name, "X(\n\\\n" + name + ")"}) {
      const PinnedSource pinned("/*\n#include " + include + "\n*/", "", files_of({}), {});
      EXPECT_EQ(opened(pinned.text()), std::vector<std::string>()) << pinned.text();
    }
}

TEST(PinnedSource, GivenACommentThatEndsInAnOperandThenNoIncludeIsUncovered) {
  for (const char* source : {"#include /*\n#include \"*/ X\"\n*/ \"/etc/passwd\"\n",
                             "#include /*\n#include X*/\n*/ </etc/passwd>\n",
                             "#define F \"/etc/passwd\"\n#include /*\n#include <*/ X>\n*/ F\n"})
    EXPECT_THROW(PinnedSource(source, "", files_of({}), {}), protocol::TooMuchIncluded) << source;
}

TEST(PinnedSource, GivenAFileWhosePathHasLineBreaksThenNoIncludeFollowsThem) {
  const std::string path = "/client/x\r#include </etc/passwd>\r/a.h";
  const PinnedSource pinned("#include F", "'-DF=\"" + path + "\"'", files_of({{path, "// a"}}), {});
  std::smatch match;
  ASSERT_TRUE(std::regex_search(pinned.text(), match, std::regex("#include \"(/proc/self/fd/[0-9]+)\"")));
  std::ostringstream content;
  content << std::ifstream(match[1]).rdbuf();
  EXPECT_TRUE(content.str().ends_with("// a")) << content.str();
  EXPECT_EQ(opened(content.str()), std::vector<std::string>()) << content.str();
}

TEST(PinnedSource, GivenComputedIncludeThenItNamesItsFile) {
  const FileSet files = files_of({{"/opt/x/a.h", "// a"}});
  const PinnedSource pinned("#include S(DIR/a.h)\n", "-D DIR=/opt/x -D X(x)=#x -D S(x)=X(x)", files, {});
  EXPECT_EQ(first_included(pinned.text()), "#line 1 \"/opt/x/a.h\"\n// a");
}

TEST(PinnedSource, GivenHeadersThenTheyHaveTheirNames) {
  const PinnedSource pinned("#include <dir/h.h>\n", "", files_of({}), {{"dir/h.h", "// h"}});
  EXPECT_EQ(first_included(pinned.text()), "#line 1 \"dir/h.h\"\n// h");
}

TEST(PinnedSource, GivenOperandOverSeveralLinesThenLaterLinesKeepTheirNumbers) {
  const std::string source = "#include \"a\\\n.h\"\n#include \\\nX(\\\na)\nlast\n";
  const std::string text = PinnedSource(source, "", {}, {}).text();
  const auto line_of = [](const std::string& in) {
    return std::count(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(in.find("last")), '\n');
  };
  EXPECT_EQ(line_of(text), line_of(source) + 1) << text;  // one is the #line
}

TEST(PinnedSource, GivenOtherTextsThenTheSourceDiffers) {
  const auto key = [](const std::string& text) {
    const std::string pinned =
        PinnedSource("#include \"a.h\"", "", files_of({{"/client/a.h", text}}), {}).text();
    return pinned.substr(pinned.rfind("/*"));
  };
  EXPECT_EQ(key("// one"), key("// one"));
  EXPECT_NE(key("// one"), key("// two"));
}

TEST(PinnedSource, GivenLogThenItHasTheClientsNames) {
  const PinnedSource pinned("#include \"a.h\"", "", files_of({{"/client/a.h", ""}}), {});
  std::smatch match;
  ASSERT_TRUE(std::regex_search(pinned.text(), match, std::regex("/proc/self/fd/[0-9]+")));
  const std::string name = match[0];
  EXPECT_EQ(pinned.with_client_names("error: " + name + ":3:1: bad, in " + name),
            "error: /client/a.h:3:1: bad, in /client/a.h");
  EXPECT_EQ(pinned.with_client_names("'/proc/self/fd/none/b.h' file not found"), "'b.h' file not found");
  EXPECT_EQ(pinned.with_client_names("/proc/self/fd/ and " + name + "0"), "/proc/self/fd/ and " + name + "0");
}

TEST(DriverOptions, GivenFoldersThenTheyAreTakenOutAndAllElseStays) {
  EXPECT_EQ(driver_options(Kind::Build, "-w -I a -D X=\"y z\" -Ib  -cl-mad-enable"),
            "-w  -D X=\"y z\"   -cl-mad-enable");
  EXPECT_EQ(driver_options(Kind::Build, "-D PATH=/usr/share -DP=/x"), "-D PATH=/usr/share -DP=/x");
}

TEST(DriverOptions, GivenOptionsThatNameFilesThenTheyAreRefused) {
  for (const char* options :
       {"-include /etc/passwd", "-imacros x", "@/etc/passwd", "/etc/passwd", "-Xclang -load", "-o x",
        "-save-temps=/tmp/x", "-isystem /etc", "-fplugin=/x.so", "-Wp,-MD", "-w 'a/b'"}) {
    try {
      driver_options(Kind::Compile, options);
      ADD_FAILURE() << options;
    } catch (const compiler::InvalidOptions& error) {
      EXPECT_EQ(error.status(), CL_INVALID_COMPILER_OPTIONS);
    }
  }
}

}  // namespace
}  // namespace clique::daemon::opencl
