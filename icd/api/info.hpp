// The one place that writes the answers of clGet*Info.
#pragma once

#include <CL/cl.h>

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "icd/common/error.hpp"

namespace clique::icd {

/// The error of a query whose param_name is not defined.
inline Error unknown_param(cl_uint param_name) {
  return Error(CL_INVALID_VALUE, "param_name is ", Hex{param_name}, ", which is not defined for this query");
}

/// Writes an answer the way every clGet*Info does: the value if the application gave memory for it, and its
/// size if the application asked for it. Each function throws Error(CL_INVALID_VALUE) if `param_value` is
/// given and too small.
class InfoWriter {
 public:
  InfoWriter(size_t size, void* value, size_t* size_ret) : size_(size), value_(value), size_ret_(size_ret) {}

  void bytes(std::span<const std::byte> answer) const {
    require(value_ == nullptr || size_ >= answer.size(), CL_INVALID_VALUE, "param_value_size is ", size_,
            "; the answer has ", answer.size(), " bytes");
    if (value_ != nullptr && !answer.empty()) std::memcpy(value_, answer.data(), answer.size());
    if (size_ret_ != nullptr) *size_ret_ = answer.size();
  }
  template <typename T>
    requires std::is_trivially_copyable_v<T> && (!std::is_convertible_v<T, std::string_view>)
  void operator()(const T& answer) const {
    bytes(std::as_bytes(std::span(&answer, 1)));
  }
  /// A string is written with its closing zero.
  void operator()(const std::string& answer) const {
    bytes(std::as_bytes(std::span(answer.c_str(), answer.size() + 1)));
  }
  void operator()(const char* answer) const { (*this)(std::string(answer)); }
  template <typename T>
  void operator()(const std::vector<T>& answer) const {
    bytes(std::as_bytes(std::span(answer)));
  }

 private:
  size_t size_;
  void* value_;
  size_t* size_ret_;
};

}  // namespace clique::icd
