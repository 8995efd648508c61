#pragma once

#include <CL/cl.h>

#include <stdexcept>
#include <string>

namespace clique::icd {

/// A failed call: what the entry point returns, and for people, why. Thrown inside, caught at the API's
/// boundary.
class Error : public std::runtime_error {
 public:
  explicit Error(cl_int status, const std::string& why = {}) : std::runtime_error(why), status_(status) {}
  cl_int status() const { return status_; }

 private:
  cl_int status_;
};

/// One clause of the specification: throws Error(status, why) unless `condition` holds.
inline void require(bool condition, cl_int status, const char* why = "") {
  if (!condition) throw Error(status, why);
}

}  // namespace clique::icd
