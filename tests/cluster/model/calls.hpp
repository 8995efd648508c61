// What several kinds of steps need for their calls.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "cluster/model/program.hpp"

namespace clique::test::model {

/// Throws Wrong unless the call succeeded.
inline void require_call(cl_int status, const char* what) {
  if (status != CL_SUCCESS) throw Wrong(std::string(what) + " returned " + std::to_string(status));
}

/// The local size of a launch: mostly one of few, because PoCL compiles each kernel for each, which takes
/// most of the time of a test; sometimes the driver's choice.
class LocalSize {
 public:
  /// @param salt random
  /// @param count the global size in the first dimension
  LocalSize(cl_uint salt, std::size_t count)
      : chosen_(salt % 32 != 0), sizes_{count % 16 == 0 ? 16U : 1U, 1} {}
  /// For clEnqueueNDRangeKernel, with one or two dimensions.
  const std::size_t* get() const { return chosen_ ? sizes_.data() : nullptr; }

 private:
  bool chosen_;
  std::array<std::size_t, 2> sizes_;
};

}  // namespace clique::test::model
