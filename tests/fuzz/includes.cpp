// What programs include: found by the client in its files, and pinned by the worker for compilers that open
// files themselves. No compiler may be left with an include that names anything else.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "daemon/compiler/contract/pinned_includes.hpp"
#include "protocol/sources/include_tree.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz::target_includes {
namespace {

using namespace clique::daemon;
using namespace clique::protocol;

constexpr std::string_view kFolder = "/client";
/// The files that exist.
constexpr std::array kFiles{"/client/a.h", "/client/b.h", "/client/inc/c.h"};
/// How the compiler finds those.
constexpr std::string_view kPinned = "/proc/self/fd/";

/// The name under which the compiler finds a text.
std::string pinned_name(const std::string& path) {
  return std::string(kPinned) + std::to_string(path.size());
}

/// Whether a compiler may be given this include, also within a comment.
bool allowed(const Include& include, compiler::UnknownIncludes unknown) {
  if (include.name.find("*/") != std::string::npos) return false;
  if (include.form == Include::Form::Quoted && include.name.starts_with(kPinned)) return true;
  if (unknown == compiler::UnknownIncludes::Absent || include.form == Include::Form::Computed) return false;
  return !include.name.starts_with('/') && ("/" + include.name + "/").find("/../") == std::string::npos;
}

void pin(const SourceText& text, compiler::UnknownIncludes unknown) {
  const std::string pinned = compiler::pin_includes(text, pinned_name, unknown);
  require(
      std::count(pinned.begin(), pinned.end(), '\n') == std::count(text.text.begin(), text.text.end(), '\n'),
      "lines keep their numbers");
  for (const Include& include : find_includes(pinned))
    require(allowed(include, unknown), "every include that is left names a file of the client, or none");
}

/// An input is the length of the options, the options, for each file its length and its text, and the source.
std::vector<std::string> seeds() {
  const auto seed = [](std::string_view options, std::array<std::string_view, 3> files,
                       std::string_view source) {
    Output output;
    output.number(static_cast<std::uint8_t>(options.size())).bytes(options);
    for (const std::string_view file : files)
      output.number(static_cast<std::uint8_t>(file.size())).bytes(file);
    return output.bytes(source).text();
  };
  return {seed("-I inc -DNAME=\"a.h\" -D 'F(x)=<x>'", {"#include <c.h>\n", "#define B \"b.h\"", ""},
               "#include \"a.h\"\n#include NAME // why\n#include F(c.h)\n#if __has_include(<b.h>)\n#endif\n"),
          seed("", {"#define S(x) #x\n#define P(a, b) a##b", "#include_next <b.h>", "#include \"../a.h\""},
               "#include S(inc/c.h)\n#include P(NA, ME)\n%:include </etc/passwd>\n#embed \"../../b.h\"\n"),
          seed("-I/client/inc -I ..", {"#include \"a.h\"", "#import <b.h>", "\\\n#inc\\\r\nlude \"b.h\""},
               "/*\n#include \"*/ #include <a.h> //\"\n*/ # /* \n */ include \"a\\\n.h\"\n?\?=inc?\?/\nlude "
               "\"c.h\"\n#include \"no end\n*\\\n/#include <x>"),
          seed("-DX=Y -DY=X", {}, "#include X\n#define A(...) __VA_ARGS__\n#include A(\"a.h\", \"b.h\")\n")};
}

void test(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  IncludingSource program;
  program.folder = kFolder;
  const auto options = input.block(input.number<std::uint8_t>());
  program.options = text_of(*options);
  std::map<std::string, std::shared_ptr<const std::vector<std::byte>>> files;
  for (const char* path : kFiles) files[path] = input.block(input.number<std::uint8_t>());
  const auto rest = input.rest();
  const std::vector<std::byte> source(rest.begin(), rest.end());
  program.source = text_of(source);
  try {
    const auto texts = include_tree(program, [&](const std::string& path) {
      require(path == absolute_path(path, "/"), "paths are absolute and in normal form");
      const auto found = files.find(path);
      return found == files.end() ? std::nullopt : std::optional(text_of(*found->second));
    });
    require(texts.size() <= 1 + files.size(), "each text is there once");
    for (const SourceText& text : texts)
      for (const auto unknown : {compiler::UnknownIncludes::Absent, compiler::UnknownIncludes::CompilersOwn})
        pin(text, unknown);
  } catch (const TooMuchIncluded&) {
    return;
  }
}

const Registration kTarget{"includes", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_includes
