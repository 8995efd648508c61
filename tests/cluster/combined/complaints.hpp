#pragma once

#include <CL/cl.h>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace clique::test::division {

/// What nodes say of commands that fail: the calls of a context's error callback. Has to outlive the context.
/// Any thread.
class Complaints {
 public:
  /// For clCreateContext.
  static void CL_CALLBACK note(const char* text, const void* /*data*/, std::size_t /*size*/,
                               void* complaints) {
    auto& self = *static_cast<Complaints*>(complaints);
    const std::lock_guard lock(self.mutex_);
    self.texts_.emplace_back(text);
  }

  /// The first one; empty: there is none.
  std::string first() const {
    const std::lock_guard lock(mutex_);
    return texts_.empty() ? std::string() : texts_.front();
  }
  /// Whether one of them contains the text.
  bool mention(const std::string& part) const {
    const std::lock_guard lock(mutex_);
    return std::any_of(texts_.begin(), texts_.end(),
                       [&](const std::string& text) { return text.find(part) != std::string::npos; });
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> texts_;
};

}  // namespace clique::test::division
