// What sources include, as their text says.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "protocol/limits.hpp"
#include "protocol/sources/build_options.hpp"
#include "protocol/sources/include_tree.hpp"
#include "protocol/sources/includes.hpp"
#include "protocol/sources/macros.hpp"

namespace clique::protocol {
namespace {

/// The operands: "name", <name>, or {operand} if computed.
std::vector<std::string> operands(std::string_view source) {
  std::vector<std::string> result;
  for (const Include& include : find_includes(source)) {
    EXPECT_LT(include.begin, include.end);
    EXPECT_LE(include.end, source.size());
    result.push_back(include.form == Include::Form::Quoted   ? '"' + include.name + '"'
                     : include.form == Include::Form::Angled ? '<' + include.name + '>'
                                                             : '{' + include.name + '}');
  }
  return result;
}

using Texts = std::vector<std::string>;

TEST(FindIncludes, GivenTheWaysToWriteOneThenEachIsFound) {
  const Texts quoted{"\"a.h\""};
  for (const std::string source : {"#include \"a.h\"",
                                   "#include\"a.h\"",
                                   "  #  include  \"a.h\"  ",
                                   "\t#\tinclude\t\"a.h\" // comment",
                                   "int x;\n#include \"a.h\"\nint y;",
                                   "int x;\r\n#include \"a.h\"\r\n",
                                   "int x;\r#include \"a.h\"\r",
                                   "/* comment */ #include \"a.h\"",
                                   "/* two\nlines */#include \"a.h\"",
                                   "#/**/include/* */\"a.h\"",
                                   "# /* \n */ include \"a.h\"",
                                   "#inc\\\nlude \"a.h\"",
                                   "#include \\\n \"a.h\"",
                                   "\\\n#include \"a.h\"",
                                   "#inc\\ \t\r\nlude \"a.h\"",
                                   "#include \"a\\\n.h\"",
                                   "%:include \"a.h\"",
                                   "%\\\n:include \"a.h\"",
                                   "?\?=include \"a.h\"",
                                   "#inc?\?/\nlude \"a.h\"",
                                   "#include_next \"a.h\"",
                                   "#import \"a.h\"",
                                   "#embed \"a.h\"",
                                   "\xEF\xBB\xBF#include \"a.h\"",
                                   "\xC2\xA0#include \"a.h\"",
                                   "*\\\n/ #include \"a.h\"",
                                   "#if 0\n#include \"a.h\"\n#endif",
                                   "R\"(/*)\"\n#include \"a.h\"\n",
                                   "#if __has_include(\"a.h\")\n#endif",
                                   "#define H __has_include ( /* */ \"a.h\" )"})
    EXPECT_EQ(operands(source), quoted) << source;
  EXPECT_EQ(operands(std::string_view("#\0include\0\"a.h\"", 15)), quoted);
}

TEST(FindIncludes, GivenOtherOperandsThenTheyAreFound) {
  EXPECT_EQ(operands("#include <dir/a.h>\n#include \"/abs/b.h\""), (Texts{"<dir/a.h>", "\"/abs/b.h\""}));
  EXPECT_EQ(operands("#include NAME // why\n"), Texts{"{NAME}"});
  EXPECT_EQ(operands("#include M2S(INCLUDE_PATH/inc_vendor.h) /* why */"),
            Texts{"{M2S(INCLUDE_PATH/inc_vendor.h)}"});
  EXPECT_EQ(operands("#include A(B, \\\n C)"), Texts{"{A(B,  C)}"});
  EXPECT_EQ(operands("#if __has_include(F(x)) && 1"), Texts{"{F(x)}"});
  EXPECT_EQ(operands("#include \"a.h\nint x;"), Texts{"{\"a.h}"});
}

TEST(FindIncludes, GivenWhatIncludesNothingThenNothingIsFound) {
  for (const char* source :
       {"", "#", "#include", "#include\n\"a.h\"", "int include; a # include \"a.h\"", "#define include x",
        "#includes \"a.h\"", "\"#include\"", "x = a %:include;", "// a #include \"a.h\"", "#pragma x",
        "my__has_include(\"a.h\")", "__has_include"})
    EXPECT_EQ(operands(source), Texts{}) << source;
}

TEST(FindIncludes, GivenOperandThenItsPlaceIsExact) {
  const std::string source = "#include /* a */ \"a\\\n.h\" // \"b.h\"\n#include  X(\"y\")  // z\n";
  const auto includes = find_includes(source);
  ASSERT_EQ(includes.size(), 2U);
  EXPECT_EQ(source.substr(includes[0].begin, includes[0].end - includes[0].begin), "\"a\\\n.h\"");
  EXPECT_EQ(source.substr(includes[1].begin, includes[1].end - includes[1].begin), "X(\"y\")");
}

TEST(FindIncludes, GivenTextThatKeepsReadersBusyThenItIsRefused) {
  for (const std::string line : {"#/*\n", "#include x\\\n", "#define x\\\n", "__has_include(x/*(\\\n"}) {
    std::string source;
    for (int i = 0; i < 20'000; ++i) source += line;
    EXPECT_THROW(
        {
          find_includes(source);
          find_definitions(source);
        },
        TooMuchIncluded)
        << line;
  }
}

TEST(FindIncludes, GivenArbitraryTextThenPlacesLieInItAndApart) {
  std::mt19937 random(1);
  const std::vector<std::string> pieces{
      "#",  "include", " ",    "\n",   "\\\n", "\"",     "<",    ">", "a.h",           "/*",
      "*/", "//",      "?\?/", "?\?=", "%:",   "define", "F(x)", "(", "__has_include", ")",
      "\r", "'",       "\xC2", "##",   "x",    ","};
  for (int round = 0; round < 20'000; ++round) {
    std::string source;
    for (unsigned i = 0; i < random() % 30; ++i) source += pieces[random() % pieces.size()];
    std::size_t end = 0;
    for (const Include& include : find_includes(source)) {
      EXPECT_LE(end, include.begin);
      EXPECT_LT(include.begin, include.end);
      end = include.end;
    }
    EXPECT_LE(end, source.size());
    Macros macros;
    for (const std::string& definition : find_definitions(source)) macros.define(definition);
    macros.expansions({Include::Form::Computed, "F(x)", false, 0, 0});
  }
}

Texts expansions(const Texts& definitions, const Texts& options, const std::string& operand) {
  Macros macros;
  for (const std::string& option : options) macros.define_by_option(option);
  for (const std::string& definition : definitions) macros.define(definition);
  Texts result;
  for (const Include& include : macros.expansions({Include::Form::Computed, operand, false, 0, 0}))
    result.push_back(include.form == Include::Form::Quoted ? '"' + include.name + '"'
                                                           : '<' + include.name + '>');
  return result;
}

TEST(Macros, GivenDefinitionsThenOperandsExpand) {
  EXPECT_EQ(expansions({"F \"a.h\""}, {}, "F"), Texts{"\"a.h\""});
  EXPECT_EQ(expansions({"F <dir/a.h>"}, {}, "F"), Texts{"<dir/a.h>"});
  EXPECT_EQ(expansions({}, {"F=\"a.h\""}, "F"), Texts{"\"a.h\""});
  EXPECT_EQ(expansions({"G F", "F \"a.h\""}, {}, "G"), Texts{"\"a.h\""});
  EXPECT_EQ(expansions({}, {"DIR=/usr/share/x-1.2", "X(x)=#x", "S(x)=X(x)"}, "S(DIR/inc_a.h)"),
            Texts{"\"/usr/share/x-1.2/inc_a.h\""});
  EXPECT_EQ(expansions({"X(x) #x"}, {}, "X(a.h)"), Texts{"\"a.h\""});
  EXPECT_EQ(expansions({"NAME(a, b) <a##_##b.h>"}, {}, "NAME(x, y)"), Texts{"<x_y.h>"});
  EXPECT_EQ(expansions({"V(...) #__VA_ARGS__"}, {}, "V(a)"), Texts{"\"a\""});
}

TEST(Macros, GivenSeveralDefinitionsThenAnyMayBeMeant) {
  EXPECT_EQ(expansions({"F \"a.h\"", "F \"b.h\"", "F \"a.h\""}, {}, "F"), (Texts{"\"a.h\"", "\"b.h\""}));
}

TEST(Macros, GivenWhatNamesNoFileThenThereIsNoMeaning) {
  for (const char* operand : {"F", "1", "G", "H(", "R"})
    EXPECT_EQ(expansions({"G 1 + 2", "H(x) #x", "R R"}, {}, operand), Texts{}) << operand;
}

TEST(Macros, GivenExpansionThatNeverEndsThenItIsGivenUp) {
  EXPECT_EQ(expansions({"A(x) B(x) B(x)", "B(x) C(x) C(x)", "C(x) D(x) D(x)", "D(x) E(x) E(x)",
                        "E(x) x##x x##x x##x"},
                       {}, "A(A(A(A(A(A(A(A(A(A(A(A(long_argument))))))))))))"),
            Texts{});
  EXPECT_EQ(expansions({}, {"F"}, std::string(100'000, '(')), Texts{});
}

TEST(BuildOptions, GivenValuesThenTheyStandInTheWordOrAfterIt) {
  const std::string options = "-w -Ia -I b -D X=1 -I\"c d\" '-Ie f' -I";
  Texts folders;
  for (const OptionValue& value : option_values(options, "-I")) folders.push_back(value.text);
  EXPECT_EQ(folders, (Texts{"a", "b", "c d", "e f"}));
  EXPECT_EQ(option_values("-D X=\"y\"", "-D").at(0).raw, "X=\"y\"");
  EXPECT_EQ(option_values("-D X=\"y\"", "-D").at(0).text, "X=y");
}

TEST(AbsolutePath, GivenDotsThenTheyAreResolved) {
  EXPECT_EQ(absolute_path("a.h", "/dir"), "/dir/a.h");
  EXPECT_EQ(absolute_path("./x/../a.h", "/dir/"), "/dir/a.h");
  EXPECT_EQ(absolute_path("../../../a.h", "/dir"), "/a.h");
  EXPECT_EQ(absolute_path("//etc//passwd", "/dir"), "/etc/passwd");
  EXPECT_EQ(absolute_path("sub/", "/dir"), "/dir/sub");
  EXPECT_EQ(absolute_path(".", "/"), "/");
  EXPECT_EQ(absolute_path("//", "/dir"), "/");
}

class IncludeTree : public testing::Test {
 protected:
  Texts paths(const std::string& source, const std::string& options = "") {
    program_.source = source;
    program_.options = options;
    Texts result;
    for (const SourceText& text : include_tree(program_, open_)) result.push_back(text.path);
    EXPECT_EQ(result.at(0), "");
    result.erase(result.begin());
    return result;
  }
  std::map<std::string, std::string> files_;
  IncludingSource program_{"", "", "/home", {}};
  OpenFile open_ = [this](const std::string& path) -> std::optional<std::string_view> {
    const auto found = files_.find(path);
    if (found == files_.end()) return std::nullopt;
    return found->second;
  };
};

TEST_F(IncludeTree, GivenFilesThenTheyAreFoundInOrder) {
  files_ = {{"/home/a.h", ""},
            {"/inc/a.h", ""},
            {"/inc/b.h", "#include \"a.h\"\n#include <a.h>"},
            {"/home/sub/c.h", "#include \"a.h\""}};
  EXPECT_EQ(paths("#include \"a.h\"", "-I /inc"), Texts{"/home/a.h"});
  EXPECT_EQ(paths("#include \"b.h\"", "-I/inc"), (Texts{"/inc/b.h", "/inc/a.h", "/home/a.h"}));
  EXPECT_EQ(paths("#include \"sub/c.h\""), (Texts{"/home/sub/c.h", "/home/a.h"}));
  EXPECT_EQ(paths("#include \"../inc/b.h\""), (Texts{"/inc/b.h", "/inc/a.h", "/home/a.h"}));
  EXPECT_EQ(paths("#include \"b.h\""), Texts{});
}

TEST_F(IncludeTree, GivenHeadersThenTheyComeFirst) {
  files_ = {{"/home/dir/a.h", ""}, {"/home/dir/b.h", "#include \"a.h\""}, {"/inc/a.h", ""}};
  program_.headers["a.h"] = "#include \"c.h\"";
  program_.headers["c.h"] = "";
  EXPECT_EQ(paths("#include <a.h>", "-I /inc"), (Texts{"/home/a.h", "/home/c.h"}));
  EXPECT_EQ(paths("#include \"dir/b.h\""), (Texts{"/home/dir/b.h", "/home/a.h", "/home/c.h"}));
}

TEST_F(IncludeTree, GivenFilesThatIncludeEachOtherThenEachIsThereOnce) {
  files_ = {{"/home/a.h", "#include \"b.h\""}, {"/home/b.h", "#include \"a.h\"\n#include \"b.h\""}};
  EXPECT_EQ(paths("#include \"a.h\"\n#include \"a.h\""), (Texts{"/home/a.h", "/home/b.h"}));
}

TEST_F(IncludeTree, GivenMacroInALaterFileThenItCounts) {
  files_ = {{"/home/a.h", "#define NAME \"b.h\""}, {"/home/b.h", ""}, {"/home/c.h", ""}};
  EXPECT_EQ(paths("#include NAME\n#include \"a.h\""), (Texts{"/home/a.h", "/home/b.h"}));
  EXPECT_EQ(paths("#include NAME", "-D NAME=\\\"c.h\\\""), Texts{"/home/c.h"});
}

TEST_F(IncludeTree, GivenTooManyPlacesToLookForFilesThenItIsRefused) {
  std::string options;
  std::string source;
  for (int i = 0; i < 10'000; ++i) options += "-I " + std::to_string(i) + " ";
  for (int i = 0; i < 1000; ++i) source += "#include \"" + std::to_string(i) + ".h\"\n";
  EXPECT_THROW(paths(source, options), TooMuchIncluded);
}

TEST_F(IncludeTree, GivenTooMuchThenItIsRefused) {
  open_ = [](const std::string& path) {
    return std::optional<std::string_view>(path.size() % 2 == 0 ? "" : "\n");
  };
  std::string source;
  for (std::size_t i = 0; i <= kMaxProgramFiles; ++i) source += "#include \"" + std::to_string(i) + ".h\"\n";
  EXPECT_THROW(paths(source), TooMuchIncluded);

  std::map<std::string, std::string> chain;
  open_ = [&chain](const std::string& path) {
    return std::optional<std::string_view>(chain[path] = "#include \"" + path + "x\"");
  };
  EXPECT_THROW(paths("#include \"x\""), TooMuchIncluded);

  const std::string large(kMaxProgramFileBytes / 2 + 1, ' ');
  open_ = [&large](const std::string&) { return std::optional<std::string_view>(large); };
  EXPECT_EQ(paths("#include \"a\"").size(), 1U);
  EXPECT_THROW(paths("#include \"a\"\n#include \"b\""), TooMuchIncluded);
}

}  // namespace
}  // namespace clique::protocol
