#include "daemon/backend/opencl/pinned_source.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "daemon/compiler/contract/build_options.hpp"
#include "daemon/compiler/contract/pinned_includes.hpp"
#include "protocol/digest.hpp"
#include "protocol/sources/build_options.hpp"

namespace clique::daemon::opencl {

namespace {

constexpr std::string_view kDescriptors = "/proc/self/fd/";
/// The program's own source in messages, as clique-compiler calls it.
constexpr const char* kSourceName = "program.cl";

[[noreturn]] void fail(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

Fd make_file() {
  Fd file(::memfd_create("clique-included-file", MFD_CLOEXEC));
  if (!file) fail("memfd_create");
  return file;
}

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(file, text.data(), text.size());
    if (put <= 0) fail("write");
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

/// A directive that makes messages and __FILE__ name the text. It has one line, whatever the client calls it.
std::string line_directive(const std::string& name) {
  std::string directive = "#line 1 \"";
  for (const char c : name) {
    if (c == '"' || c == '\\') directive += '\\';
    directive += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return directive + "\"\n";
}

/// The name of a text in messages.
std::string name_of_text(const protocol::SourceText& text, const std::string& folder) {
  if (text.path.empty()) return kSourceName;
  // Headers have the name that the application gave.
  const std::string below = folder == "/" ? folder : folder + "/";
  return text.header && text.path.starts_with(below) ? text.path.substr(below.size()) : text.path;
}

/// Drivers cache what they compile. Not all of them look at what files contain, so the source tells.
std::string cache_key(const std::vector<protocol::SourceText>& texts) {
  protocol::DigestBuilder builder;
  for (const protocol::SourceText& text : texts) {
    const std::array<std::uint64_t, 2> sizes{text.path.size(), text.text.size()};
    builder.add({reinterpret_cast<const char*>(sizes.data()), sizeof sizes}).add(text.path).add(text.text);
  }
  return protocol::text_of(builder.digest());
}

/// Whether the option makes a compiler read or write a file, or load code.
bool names_files(const std::string& word) {
  constexpr std::array kPrefixes{"@",           "-include",    "-imacros",       "-isystem", "-iquote",
                                 "-idirafter",  "-isysroot",   "-ivfsoverlay",   "-iprefix", "-iwithprefix",
                                 "--include",   "--imacros",   "--sysroot",      "--config", "-Xclang",
                                 "-Xassembler", "-Xlinker",    "-Xpreprocessor", "-Wa,",     "-Wl,",
                                 "-Wp,",        "-fplugin",    "-fpass-plugin",  "-fmodule", "-load",
                                 "-save-temps", "--save-temps"};
  return word == "-o" || std::any_of(kPrefixes.begin(), kPrefixes.end(),
                                     [&](const char* prefix) { return word.starts_with(prefix); });
}

}  // namespace

PinnedSource::PinnedSource(std::string_view source, std::string_view options, const FileSet& files,
                           const Headers& headers) {
  const auto open = [&files](const std::string& path) -> std::optional<std::string_view> {
    const auto found = files.files.find(path);
    if (found == files.files.end()) return std::nullopt;
    return *found->second;
  };
  const auto texts = protocol::include_tree({source, options, files.folder, headers}, open);
  includes_ = !texts.front().inclusions.empty();
  if (!includes_) return;
  std::map<std::string, int> descriptors;  // by path
  for (const protocol::SourceText& text : texts) {
    if (text.path.empty()) continue;
    files_.push_back(make_file());
    descriptors[text.path] = files_.back().get();
    names_[files_.back().get()] = name_of_text(text, files.folder);
  }
  const auto name_of = [&](const std::string& path) {
    return std::string(kDescriptors) + std::to_string(descriptors.at(path));
  };
  for (const protocol::SourceText& text : texts) {
    const std::string name = name_of_text(text, files.folder);
    const std::string pinned =
        line_directive(name) + compiler::pin_includes(text, name_of, compiler::UnknownIncludes::Absent);
    if (text.path.empty()) {
      text_ = pinned + "\n/* #include " + cache_key(texts) + " */\n";
    } else {
      write_all(descriptors[text.path], pinned);
    }
  }
}

std::string PinnedSource::with_client_names(const std::string& log) const {
  std::string result;
  std::size_t done = 0;
  for (std::size_t at = 0; (at = log.find(kDescriptors, at)) != std::string::npos;) {
    std::size_t end = at + kDescriptors.size();
    int descriptor = 0;
    for (; end < log.size() && log[end] >= '0' && log[end] <= '9' && descriptor < 100'000'000; ++end)
      descriptor = descriptor * 10 + (log[end] - '0');
    const auto name = names_.find(descriptor);
    if (name != names_.end() && end > at + kDescriptors.size()) {
      result += log.substr(done, at - done) + name->second;
      done = end;
    }
    at = end;
  }
  return compiler::without_no_file(result + log.substr(done));
}

std::string driver_options(compiler::Request::Kind kind, std::string_view options) {
  const auto words = protocol::option_words(options);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i].text;
    // The value of the option before it, as of `-D NAME`.
    const bool value =
        i > 0 && (words[i - 1].text == "-D" || words[i - 1].text == "-U" || words[i - 1].text == "-I");
    if (value) continue;
    const bool path = !word.starts_with('-') && word.find('/') != std::string::npos;
    if (names_files(word) || path)
      throw compiler::InvalidOptions(
          compiler::options_status(kind),
          "error: option '" + word +
              "' would name files of the node, which programs cannot use; files of the "
              "program's own host are included by #include and -I\n");
  }
  std::string result;
  std::size_t done = 0;
  for (const protocol::OptionValue& folder : protocol::option_values(options, "-I")) {
    result += options.substr(done, folder.begin - done);
    done = folder.end;
  }
  result += options.substr(done);
  return result;
}

}  // namespace clique::daemon::opencl
