#include "daemon/compiler/nvrtc/ptx_kernels.hpp"

#include <CL/cl.h>
#include <cxxabi.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

namespace clique::daemon::compiler {

namespace {

[[noreturn]] void fail(const std::string& why) {
  throw std::runtime_error("cannot read the PTX that NVRTC wrote: " + why);
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         c == '%' || c == '.';
}

/// Splits PTX into words (names, directives, numbers), quoted strings, and other single characters. Skips
/// comments.
std::vector<std::string_view> tokens_of(std::string_view ptx) {
  std::vector<std::string_view> tokens;
  for (std::size_t at = 0; at < ptx.size();) {
    const std::string_view rest = ptx.substr(at);
    std::size_t length = 1;
    if (rest.starts_with("//")) {
      at += std::min(rest.find('\n'), rest.size());
      continue;
    }
    if (rest.starts_with("/*")) {
      at = std::min(ptx.find("*/", at + 2), ptx.size() - 2) + 2;
      continue;
    }
    if (rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n' || rest[0] == '\r' || rest[0] == '\0') {
      ++at;
      continue;
    }
    if (rest[0] == '"') {
      length = std::min(rest.find('"', 1), rest.size() - 1) + 1;
    } else if (is_word(rest[0])) {
      while (length < rest.size() && is_word(rest[length])) ++length;
    }
    tokens.push_back(rest.substr(0, length));
    at += length;
  }
  return tokens;
}

std::uint32_t number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    fail("'" + std::string(text) + "' is not a number");
  return value;
}

/// "blas::axpy<float>" for "_ZN4blas4axpyIfEEvPT_" ("void blas::axpy<float>(float*)"); empty if the name is
/// not a mangled C++ function.
std::string declared_name(const std::string& entry) {
  // Without this prefix the demangler would read names as types.
  if (!entry.starts_with("_Z")) return {};
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(entry.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || text == nullptr) return {};
  std::string_view name = text.get();
  // The demangler adds the return type to templates; that of a kernel is void.
  constexpr std::string_view kReturn = "void ";
  if (name.starts_with(kReturn)) name.remove_prefix(kReturn.size());
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  int depth = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (name.substr(at).starts_with(kAnonymous)) {
      at += kAnonymous.size() - 1;
    } else if (name[at] == '(' && depth == 0) {
      return std::string(name.substr(0, at));
    } else {
      depth += name[at] == '<' ? 1 : name[at] == '>' ? -1 : 0;
    }
  }
  return {};
}

class Parser {
 public:
  explicit Parser(std::string_view ptx) : tokens_(tokens_of(ptx)) {}

  std::vector<Kernel> parse() {
    while (at_ < tokens_.size()) {
      const std::string_view token = next();
      if (token == ".entry") {
        entry();
      } else if (token == ".func") {
        function();
      } else if (token == ".extern" && !at_end() && peek() == ".shared") {
        dynamic_memory();
      } else if (token == "{") {
        // The initial value of a variable.
        skip_braces();
      }
    }
    finish();
    return std::move(kernels_);
  }

 private:
  bool at_end() const { return at_ == tokens_.size(); }
  std::string_view peek() const {
    if (at_end()) fail("it ends in the middle of a declaration");
    return tokens_[at_];
  }
  std::string_view next() {
    const std::string_view token = peek();
    ++at_;
    return token;
  }
  bool take(std::string_view token) {
    if (peek() != token) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token))
      fail("found '" + std::string(peek()) + "' where '" + std::string(token) + "' was expected");
  }

  /// Skips to the closing brace. The opening brace has been taken.
  /// @returns the words in between
  std::set<std::string_view> skip_braces() {
    std::set<std::string_view> words;
    for (int depth = 1; depth > 0;) {
      const std::string_view token = next();
      depth += token == "{" ? 1 : token == "}" ? -1 : 0;
      if (is_word(token[0])) words.insert(token);
    }
    return words;
  }

  /// .extern .shared .align 16 .b8 NAME[];
  void dynamic_memory() {
    std::string_view name;
    for (std::string_view token = next(); token != ";" && token != "["; token = next()) name = token;
    dynamic_.insert(name);
  }

  /// .func (RESULT) NAME (PARAMETERS) DIRECTIVES { BODY }, or a declaration of it.
  void function() {
    const auto skip_parentheses = [this] {
      while (!take(")")) next();
    };
    if (take("(")) skip_parentheses();
    const std::string_view name = next();
    if (take("(")) skip_parentheses();
    while (peek() != "{" && peek() != ";") next();
    if (take("{")) uses_[name] = skip_braces();
  }

  /// .entry NAME (PARAMETERS) DIRECTIVES { BODY }, or a declaration of it.
  void entry() {
    Kernel kernel;
    kernel.entry = next();
    kernel.one_grid = true;
    if (take("("))
      while (!take(")")) {
        parameter(kernel);
        take(",");
      }
    while (peek() != "{" && peek() != ";")
      if (next() == ".reqntid") required_group(kernel);
    if (!take("{")) return;
    bodies_.push_back(skip_braces());
    kernels_.push_back(std::move(kernel));
  }

  void required_group(Kernel& kernel) {
    kernel.required_group = {1, 1, 1};
    for (std::size_t i = 0; i < 3; ++i) {
      kernel.required_group[i] = number(next());
      if (!take(",")) return;
    }
  }

  /// .param .u64 .ptr .global .align 4 NAME, or .param .align 8 .b8 NAME[16].
  void parameter(Kernel& kernel) {
    expect(".param");
    Arg arg;
    bool pointer = false;
    bool floating = false;
    std::uint32_t alignment = 0;
    std::uint32_t element = 0;
    while (peek()[0] == '.') {
      const std::string_view token = next();
      if (token == ".ptr") {
        pointer = true;
      } else if (token == ".align") {
        const std::uint32_t bytes = number(next());
        // After .ptr it is the alignment of what the pointer points to.
        if (!pointer) alignment = bytes;
      } else if (const std::size_t digit = token.find_first_of("0123456789"); digit != token.npos) {
        element = number(token.substr(digit)) / 8;
        floating = token[1] == 'f';
      }
    }
    next();
    arg.size = element;
    if (take("[")) {
      arg.size = element * number(next());
      expect("]");
    } else if (element == 8 && !floating) {
      arg.kind = pointer ? ArgKind::Global : ArgKind::Any;
    }
    if (element == 0) fail("a parameter of entry '" + kernel.entry + "' has an unknown type");
    alignment = std::max(alignment, element);
    arg.offset = (kernel.params_size + alignment - 1) / alignment * alignment;
    arg.description.access = CL_KERNEL_ARG_ACCESS_NONE;
    if (arg.kind == ArgKind::Value) arg.description.address = CL_KERNEL_ARG_ADDRESS_PRIVATE;
    if (arg.kind == ArgKind::Global) arg.description.address = CL_KERNEL_ARG_ADDRESS_GLOBAL;
    if (arg.kind != ArgKind::Global) arg.description.size = arg.size;
    kernel.params_size = arg.offset + arg.size;
    kernel.args.push_back(std::move(arg));
  }

  /// Adds to the words of a body those of all functions that it calls, directly or indirectly.
  void add_called(std::set<std::string_view>& body) const {
    std::vector<std::string_view> words(body.begin(), body.end());
    while (!words.empty()) {
      const auto function = uses_.find(words.back());
      words.pop_back();
      if (function == uses_.end()) continue;
      for (const std::string_view word : function->second)
        if (body.insert(word).second) words.push_back(word);
    }
  }

  void finish() {
    std::map<std::string, int> users;
    for (Kernel& kernel : kernels_) {
      kernel.name = declared_name(kernel.entry);
      if (kernel.name.empty()) kernel.name = std::exchange(kernel.entry, {});
      ++users[kernel.name];
    }
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      Kernel& kernel = kernels_[i];
      if (users[kernel.name] > 1 && !kernel.entry.empty()) kernel.name = std::exchange(kernel.entry, {});
      std::set<std::string_view>& body = bodies_[i];
      add_called(body);
      kernel.driver_prints = body.contains("vprintf");
      const auto is_used = [&body](std::string_view name) { return body.contains(name); };
      if (std::none_of(dynamic_.begin(), dynamic_.end(), is_used)) continue;
      Arg& memory = kernel.args.emplace_back();
      memory.kind = ArgKind::Dynamic;
      memory.description.address = CL_KERNEL_ARG_ADDRESS_LOCAL;
      memory.description.access = CL_KERNEL_ARG_ACCESS_NONE;
    }
  }

  std::vector<std::string_view> tokens_;
  std::size_t at_ = 0;
  std::set<std::string_view> dynamic_;                           ///< names of extern __shared__ arrays
  std::map<std::string_view, std::set<std::string_view>> uses_;  ///< the words in each function
  std::vector<Kernel> kernels_;
  std::vector<std::set<std::string_view>> bodies_;  ///< the words in each kernel
};

}  // namespace

std::vector<Kernel> kernels_of_ptx(std::string_view ptx) {
  return Parser(ptx).parse();
}

}  // namespace clique::daemon::compiler
