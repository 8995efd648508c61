#include "daemon/compiler/tool/common/options.hpp"

#include <algorithm>
#include <charconv>
#include <map>

namespace clique::daemon::compiler {

namespace {

using Flag = bool Options::*;

constexpr std::string_view kCheckFootprints = "-clique-check-footprints";

const std::map<std::string_view, Flag>& compile_flags() {
  static const std::map<std::string_view, Flag> flags{
      {"-cl-single-precision-constant", &Options::single_precision_constant},
      {"-cl-denorms-are-zero", &Options::denorms_are_zero},
      {"-cl-fp32-correctly-rounded-divide-sqrt", &Options::correctly_rounded_divide_sqrt},
      {"-cl-opt-disable", &Options::opt_disable},
      {"-cl-strict-aliasing", &Options::strict_aliasing},
      {"-cl-mad-enable", &Options::mad_enable},
      {"-cl-no-signed-zeros", &Options::no_signed_zeros},
      {"-cl-unsafe-math-optimizations", &Options::unsafe_math},
      {"-cl-finite-math-only", &Options::finite_math_only},
      {"-cl-fast-relaxed-math", &Options::fast_relaxed_math},
      {"-cl-uniform-work-group-size", &Options::uniform_work_group_size},
      {"-g", &Options::debug},
  };
  return flags;
}

const std::map<std::string_view, Flag>& link_flags() {
  static const std::map<std::string_view, Flag> flags{
      {"-cl-denorms-are-zero", &Options::denorms_are_zero},
      {"-cl-no-signed-zeros", &Options::no_signed_zeros},
      {"-cl-unsafe-math-optimizations", &Options::unsafe_math},
      {"-cl-finite-math-only", &Options::finite_math_only},
      {"-cl-fast-relaxed-math", &Options::fast_relaxed_math},
      {"-create-library", &Options::create_library},
      {"-enable-link-options", &Options::enable_link_options},
  };
  return flags;
}

unsigned language_of(std::string_view name) {
  static const std::map<std::string_view, unsigned> languages{
      {"CL1.0", 100}, {"CL1.1", 110}, {"CL1.2", 120}, {"CL2.0", 200}, {"CL3.0", 300}};
  const auto found = languages.find(name);
  return found == languages.end() ? 0 : found->second;
}

/// Parses the words of one call's options.
class Parser {
 public:
  Parser(Request::Kind kind, std::string_view text) : kind_(kind), words_(split_options(text)) {}

  Options parse() {
    for (; at_ < words_.size(); ++at_) {
      const bool known = kind_ == Request::Kind::Link ? link_option() : compile_option();
      if (!known) fail("unknown option '" + words_[at_] + "'");
    }
    if (options_.enable_link_options && !options_.create_library)
      fail("option '-enable-link-options' is only valid together with '-create-library'");
    return std::move(options_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw InvalidOptions(options_status(kind_), "error: " + why + "\n");
  }

  bool flag(const std::map<std::string_view, Flag>& flags) {
    const auto found = flags.find(words_[at_]);
    if (found == flags.end()) return false;
    options_.*(found->second) = true;
    return true;
  }

  /// The rest of the word after `prefix` or, if there is none, the next word.
  std::string value_of(std::string_view prefix) {
    const std::string& word = words_[at_];
    if (word.size() > prefix.size()) return word.substr(prefix.size());
    if (at_ + 1 == words_.size()) fail("option '" + std::string(prefix) + "' needs a value");
    return words_[++at_];
  }

  unsigned number_of(const std::string& name) {
    std::string text = value_of(name);
    if (text.starts_with("=")) text.erase(0, 1);
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
      fail("option '" + name + "' needs a number, not '" + text + "'");
    return number;
  }

  bool link_option() { return words_[at_] == "-cl-no-subgroup-ifp" || flag(link_flags()); }

  bool compile_option() {
    const std::string& word = words_[at_];
    if (flag(compile_flags())) return true;
    for (const char* prefix : {"-D", "-U", "-I"})
      if (word.starts_with(prefix)) {
        options_.preprocessor.push_back(prefix + value_of(prefix));
        return true;
      }
    if (word.starts_with("-cl-std=")) {
      options_.language = language_of(std::string_view(word).substr(8));
      if (options_.language == 0)
        fail("option '" + word +
             "' does not name a version of OpenCL C: use CL1.0, CL1.1, CL1.2, CL2.0 or CL3.0");
      return true;
    }
    if (word == "-w" || word.starts_with("-W")) {
      options_.warnings.push_back(word);
      return true;
    }
    return vendor_option(word) || without_effect(word);
  }

  bool vendor_option(const std::string& word) {
    if (word == "-cl-nv-verbose") return true;
    if (kind_ != Request::Kind::Compile && word.starts_with(kCheckFootprints)) {
      // The client takes as many bytes away from what it expects (icd/core/programs/program_build.cpp).
      if (word != kCheckFootprints) number_of(std::string(kCheckFootprints));
      options_.check_footprints = true;
      return true;
    }
    if (word.starts_with("-cl-nv-maxrregcount")) {
      options_.max_registers = number_of("-cl-nv-maxrregcount");
      return true;
    }
    if (word.starts_with("-cl-nv-opt-level")) {
      if (number_of("-cl-nv-opt-level") == 0) options_.opt_disable = true;
      return true;
    }
    return false;
  }

  /// Options that ask for what is always the case, or that other compilers treat as hints.
  static bool without_effect(std::string_view word) {
    return word == "-cl-kernel-arg-info" || word == "-cl-no-subgroup-ifp" || word == "-O0" || word == "-O1" ||
           word == "-O2" || word == "-O3" || word == "-O" || word == "-Os";
  }

  Request::Kind kind_;
  std::vector<std::string> words_;
  std::size_t at_ = 0;
  Options options_;
};

}  // namespace

void add_common_options(Options& options, const std::vector<Options>& of_objects) {
  if (of_objects.empty()) return;
  for (const Flag flag : {&Options::denorms_are_zero, &Options::unsafe_math, &Options::fast_relaxed_math,
                          &Options::correctly_rounded_divide_sqrt, &Options::opt_disable})
    options.*flag = options.*flag || std::all_of(of_objects.begin(), of_objects.end(),
                                                 [&](const Options& object) { return object.*flag; });
  for (const Options& object : of_objects)
    if (object.max_registers != 0) options.max_registers = object.max_registers;
}

Options parse_options(Request::Kind kind, std::string_view text) {
  return Parser(kind, text).parse();
}

}  // namespace clique::daemon::compiler
