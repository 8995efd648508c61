#include "protocol/sources/include_tree.hpp"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <set>
#include <utility>

#include "protocol/limits.hpp"
#include "protocol/sources/build_options.hpp"
#include "protocol/sources/macros.hpp"

namespace clique::protocol {

namespace {

/// How often the operands of computed includes are expanded. Programs compute a few.
constexpr std::size_t kMostExpansions = 10'000;
/// How many paths are tried. Programs have some dozens of includes and a few folders.
constexpr std::size_t kMostLookups = 1'000'000;

std::string folder_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

class Tree {
 public:
  Tree(const IncludingSource& program, const OpenFile& open) : program_(program), open_(open) {
    search_.push_back(program.folder);
    for (const OptionValue& value : option_values(program.options, "-I"))
      search_.push_back(absolute_path(value.text, program.folder));
    for (const auto& [name, text] : program.headers) headers_[absolute_path(name, program.folder)] = text;
  }

  std::vector<SourceText> take() {
    add({}, program_.source, 0, false);
    for (std::size_t next = 0; next < texts_.size(); ++next) {
      for (std::size_t i = 0; i < texts_[next].inclusions.size(); ++i)
        if (texts_[next].inclusions[i].include.form == Include::Form::Computed) {
          computed_.emplace_back(next, i);
        } else {
          follow(next, i, texts_[next].inclusions[i].include);
        }
      // Macros of later texts may be what earlier ones compute with.
      if (next + 1 == texts_.size()) follow_computed();
    }
    return std::move(texts_);
  }

 private:
  void add(const std::string& path, std::string_view text, std::size_t depth, bool header) {
    if (depth > kMaxIncludeDepth)
      throw TooMuchIncluded("'" + path + "' is included at depth " + std::to_string(depth) +
                            "; the limit is " + std::to_string(kMaxIncludeDepth));
    if (texts_.size() > kMaxProgramFiles)
      throw TooMuchIncluded("the program includes more than " + std::to_string(kMaxProgramFiles) +
                            " files, which is the limit");
    bytes_ += texts_.empty() ? 0 : text.size();
    if (bytes_ > kMaxProgramFileBytes)
      throw TooMuchIncluded("the program includes more than " + std::to_string(kMaxProgramFileBytes / kMiB) +
                            " MiB of files, which is the limit; '" + path + "' exceeds it");
    known_.insert(path);
    depths_.push_back(depth);
    SourceText made{path, text, header};
    for (Include& include : find_includes(text)) made.inclusions.push_back({std::move(include)});
    texts_.push_back(std::move(made));
  }

  /// The paths at which an include of the text may find its file, in their order.
  std::vector<std::string> candidates(const SourceText& text, const Include& include) const {
    if (include.name.starts_with('/')) return {absolute_path(include.name, program_.folder)};
    std::vector<std::string> folders;
    const std::string own = text.path.empty() ? program_.folder : folder_of(text.path);
    if (include.form == Include::Form::Quoted && !include.next) folders.push_back(own);
    auto first = search_.begin();
    if (include.next)
      if (const auto found = std::find(search_.begin(), search_.end(), own); found != search_.end())
        first = found + 1;
    folders.insert(folders.end(), first, search_.end());
    std::vector<std::string> paths;
    paths.reserve(folders.size());
    for (const std::string& folder : folders) paths.push_back(absolute_path(include.name, folder));
    return paths;
  }

  /// Adds the file that the include means, unless it is there already or does not exist.
  void follow(std::size_t from, std::size_t inclusion, const Include& include) {
    // Neither can be a file's name, and a path that long cannot be opened.
    if (include.name.empty() || include.name.find('\0') != std::string::npos ||
        include.name.size() > kMaxPath)
      return;
    auto paths = candidates(texts_[from], include);
    if (!include.name.starts_with('/'))
      paths.insert(paths.begin(), absolute_path(include.name, program_.folder));
    lookups_ += paths.size();
    if (lookups_ > kMostLookups)
      throw TooMuchIncluded("the program's includes have too many places to be looked for: more than " +
                            std::to_string(kMostLookups) + " paths, which is the limit");
    bool first = !include.name.starts_with('/');
    for (const std::string& path : paths) {
      const auto header = headers_.find(path);
      // What was put first are the headers, which come before any file.
      if (std::exchange(first, false) && header == headers_.end()) continue;
      if (!known_.contains(path)) {
        const auto text = header != headers_.end() ? std::optional(header->second) : open_(path);
        if (!text) continue;
        add(path, *text, depths_[from] + 1, header != headers_.end());
      }
      auto& found = texts_[from].inclusions[inclusion].paths;
      if (std::find(found.begin(), found.end(), path) == found.end()) found.push_back(path);
      return;
    }
  }

  void follow_computed() {
    if (computed_.empty()) return;
    if (read_ == 0)
      for (const OptionValue& value : option_values(program_.options, "-D")) {
        // Some compilers remove quotes from options, others do not.
        macros_.define_by_option(value.text);
        if (value.raw != value.text) macros_.define_by_option(value.raw);
      }
    for (; read_ < texts_.size(); ++read_)
      for (const std::string& definition : find_definitions(texts_[read_].text)) macros_.define(definition);
    for (const auto& [text, inclusion] : computed_) {
      if (++expansions_ > kMostExpansions)
        throw TooMuchIncluded("the program has too many computed includes: their operands were expanded " +
                              std::to_string(kMostExpansions) + " times, which is the limit");
      auto& meanings = texts_[text].inclusions[inclusion].meanings;
      meanings = macros_.expansions(texts_[text].inclusions[inclusion].include);
      for (const Include& include : std::vector(meanings)) follow(text, inclusion, include);
    }
  }

  const IncludingSource& program_;
  const OpenFile& open_;
  std::vector<std::string> search_;
  std::map<std::string, std::string_view> headers_;  // by path
  std::vector<SourceText> texts_;
  std::vector<std::size_t> depths_;                            // of texts_
  std::set<std::string> known_;                                // their paths
  std::vector<std::pair<std::size_t, std::size_t>> computed_;  // text, inclusion
  Macros macros_;
  std::size_t read_ = 0;  // texts whose macros are known
  std::size_t bytes_ = 0;
  std::size_t expansions_ = 0;
  std::size_t lookups_ = 0;
};

}  // namespace

std::string absolute_path(std::string_view path, const std::string& folder) {
  std::filesystem::path joined = (std::filesystem::path(folder) / path).lexically_normal();
  // However many slashes name it.
  if (!joined.has_relative_path()) return "/";
  // "/folder/" and "/folder" are the same folder.
  if (!joined.has_filename()) joined = joined.parent_path();
  return joined.string();
}

std::vector<SourceText> include_tree(const IncludingSource& program, const OpenFile& open) {
  return Tree(program, open).take();
}

}  // namespace clique::protocol
