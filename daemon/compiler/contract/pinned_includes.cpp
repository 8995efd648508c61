#include "daemon/compiler/contract/pinned_includes.hpp"

#include <algorithm>
#include <set>

#include "protocol/sources/cursor.hpp"

namespace clique::daemon::compiler {

namespace {

using protocol::Include;

/// Bytes of a name in messages about an include that names no file.
constexpr std::size_t kMostShown = 200;

/// Whether the character can be written into a source wherever that is: with such characters nothing ends a
/// comment or a string, and nothing begins a directive.
bool is_harmless(char c) {
  constexpr std::string_view kOthers{"._-+/,@=~ ()<>:"};
  return protocol::is_identifier_character(c) || static_cast<unsigned char>(c) >= 0x80 ||
         kOthers.find(c) != std::string_view::npos;
}

/// Whether a compiler looks for the name in its own folders only, and below them.
bool is_plain(const std::string& name) {
  if (name.empty() || name.starts_with('/') || !std::all_of(name.begin(), name.end(), is_harmless))
    return false;
  const std::string framed = "/" + name + "/";
  return framed.find("/../") == std::string::npos;
}

std::string quoted(const std::string& name) {
  return '"' + name + '"';
}

std::string no_file(std::string name) {
  std::erase_if(name, [](char c) { return !is_harmless(c); });
  name.resize(std::min(name.size(), kMostShown));
  return quoted(std::string(kNoFile) + name);
}

std::string spelled(const Include& include) {
  return include.form == Include::Form::Angled ? '<' + include.name + '>' : quoted(include.name);
}

/// Whether an include can name this, also within a comment, which the name must not end.
bool can_be_included(const std::string& name) {
  return !name.empty() && name.find_first_of("\"\n\r\\") == std::string::npos &&
         name.find("*/") == std::string::npos;
}

std::string pinned(const protocol::SourceText::Inclusion& inclusion,
                   const std::function<std::string(const std::string& path)>& name_of,
                   UnknownIncludes unknown) {
  const Include& include = inclusion.include;
  if (inclusion.paths.size() > 1)
    return no_file(include.name + " (a computed include that may mean " +
                   std::to_string(inclusion.paths.size()) + " files)");
  if (inclusion.paths.size() == 1) {
    const std::string name = name_of(inclusion.paths.front());
    return can_be_included(name) ? quoted(name) : no_file(include.name);
  }
  const bool computed = include.form == Include::Form::Computed;
  if (computed && inclusion.meanings.size() != 1) return no_file(include.name);
  const Include& meaning = computed ? inclusion.meanings.front() : include;
  const bool compilers = unknown == UnknownIncludes::CompilersOwn && is_plain(meaning.name);
  return compilers ? spelled(meaning) : no_file(meaning.name);
}

/// Throws TooMuchIncluded unless each include that a compiler may see in the text is one that pinned() makes.
/// A comment that began in the operand of one, or ended there, is another one afterwards, and what it hid may
/// be an include.
void check(const std::string& text, const std::set<std::string>& names, UnknownIncludes unknown) {
  for (const Include& include : protocol::find_includes(text)) {
    const bool given = include.form == Include::Form::Quoted &&
                       (names.contains(include.name) || include.name.starts_with(kNoFile));
    const bool compilers = unknown == UnknownIncludes::CompilersOwn &&
                           include.form != Include::Form::Computed && is_plain(include.name);
    if (!given && !compilers)
      throw protocol::TooMuchIncluded(
          "a source has an include in a comment that begins or ends within the operand of another");
  }
}

}  // namespace

std::string pin_includes(const protocol::SourceText& text,
                         const std::function<std::string(const std::string& path)>& name_of,
                         UnknownIncludes unknown) {
  std::string result;
  std::set<std::string> names;
  std::size_t done = 0;
  for (const auto& inclusion : text.inclusions) {
    const Include& include = inclusion.include;
    const std::string_view replaced = text.text.substr(include.begin, include.end - include.begin);
    result += text.text.substr(done, include.begin - done);
    // Before the name, so that what follows it does not begin a line.
    const auto lines = std::count(replaced.begin(), replaced.end(), '\n');
    for (auto line = lines; line > 0; --line) result += "\\\n";
    result += pinned(inclusion, name_of, unknown);
    for (const std::string& path : inclusion.paths)
      if (std::string name = name_of(path); can_be_included(name)) names.insert(std::move(name));
    done = include.end;
  }
  result += text.text.substr(done);
  check(result, names, unknown);
  return result;
}

std::string without_no_file(std::string log) {
  for (std::size_t at = 0; (at = log.find(kNoFile, at)) != std::string::npos;) log.erase(at, kNoFile.size());
  return log;
}

}  // namespace clique::daemon::compiler
