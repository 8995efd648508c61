#pragma once

#include <CL/cl.h>

#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace clique::icd {

/// A number that a message shows in hexadecimal, as flags are: 0x14.
struct Hex {
  std::uint64_t value;
};

namespace detail {
void append(std::string& text, std::string_view piece);
void append(std::string& text, Hex piece);
template <std::integral T>
void append(std::string& text, T piece) {
  append(text, std::string_view(std::to_string(piece)));
}
template <typename... Piece>
std::string joined(const Piece&... pieces) {
  std::string text;
  (append(text, pieces), ...);
  return text;
}
}  // namespace detail

/// A failed call: the status that the entry point returns, and the reason for people. The API's boundary
/// catches it.
class Error : public std::runtime_error {
 public:
  /// @param why pieces of the reason, which are joined: texts, integers and Hex.
  template <typename... Piece>
  explicit Error(cl_int status, const Piece&... why)
      : std::runtime_error(detail::joined(why...)), status_(status) {}
  cl_int status() const { return status_; }

 private:
  cl_int status_;
};

namespace detail {
template <typename... Piece>
[[noreturn, gnu::cold, gnu::noinline]] void fail(cl_int status, const Piece&... why) {
  throw Error(status, why...);
}
}  // namespace detail

/// Checks one clause of the specification: throws Error(status, why…) unless `condition` holds. Joins the
/// pieces of the reason only then.
template <typename... Piece>
void require(bool condition, cl_int status, const Piece&... why) {
  if (!condition) detail::fail(status, why...);
}

}  // namespace clique::icd
