#include "daemon/compiler/nvrtc/options.hpp"

#include <algorithm>
#include <map>

#include "daemon/compiler/contract/build_options.hpp"

namespace clique::daemon::compiler {

namespace {

/// OpenCL's build options with their equivalents in NVRTC.
const std::map<std::string_view, std::vector<std::string>> kFlags{
    {"-cl-fast-relaxed-math", {"--use_fast_math"}},
    {"-cl-denorms-are-zero", {"--ftz=true"}},
    {"-cl-mad-enable", {"--fmad=true"}},
    {"-cl-fp32-correctly-rounded-divide-sqrt", {"--prec-div=true", "--prec-sqrt=true"}},
    {"-g", {"--generate-line-info"}},
    {"-w", {"--disable-warnings"}},
};

/// "90a" for "sm_90a" and "compute_90a"; empty if the name is not an architecture.
std::string architecture_of(std::string_view name) {
  for (const std::string_view prefix : {"sm_", "compute_"})
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  const std::string_view variant = name.substr(digits);
  const bool known = digits >= 2 && digits <= 3 && (variant.empty() || variant == "a" || variant == "f");
  return known ? std::string(name) : std::string();
}

}  // namespace

NvrtcOptions nvrtc_options(Request::Kind kind, std::string_view text) {
  const auto fail = [kind](const std::string& why) {
    throw InvalidOptions(options_status(kind), "error: " + why + "\n");
  };
  if (kind != Request::Kind::Build)
    fail(
        "programs in CUDA C++ ('-x cuda') cannot be compiled and linked separately: build them with "
        "clBuildProgram");
  NvrtcOptions options;
  const auto words = split_options(text);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto value_of = [&](std::string_view prefix) {
      if (word.size() > prefix.size()) return word.substr(prefix.size());
      if (i + 1 == words.size()) fail("option '" + word + "' needs a value");
      return words[++i];
    };
    if (const auto flag = kFlags.find(word); flag != kFlags.end()) {
      options.words.insert(options.words.end(), flag->second.begin(), flag->second.end());
    } else if (word == "-Werror") {
      options.warnings_are_errors = true;
    } else if (word == "-x") {
      if (const std::string language = value_of("-x"); language != "cuda")
        fail("options '-x cuda' and '-x " + language + "' exclude each other");
    } else if (word.starts_with("-D") || word.starts_with("-U")) {
      const std::string prefix = word.substr(0, 2);
      options.words.push_back(prefix + value_of(prefix));
    } else if (word.starts_with("-std=")) {
      options.words.push_back("-" + word);
    } else if (word.starts_with("-arch=")) {
      options.architecture = architecture_of(std::string_view(word).substr(6));
      if (options.architecture.empty())
        fail("option '" + word + "' does not name an architecture; a valid one is '-arch=sm_90a'");
    } else if (word.starts_with("-I")) {
      // A folder of the client, whose files come with the request. NVRTC would look for it on this host.
      value_of("-I");
    } else {
      fail("unknown option '" + word +
           "'; docs/extensions/cl_clique_cuda_source.md lists the options for programs in CUDA C++");
    }
  }
  return options;
}

}  // namespace clique::daemon::compiler
