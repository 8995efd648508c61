// The exceptions that backends and the session throw while they handle messages.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace clique::daemon {

/// The client broke a rule of the protocol. Ends the session; what() goes to the client and into the log.
class RuleBroken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The device cannot be used any more. Ends the session; what() goes to the client and into the log.
class DeviceFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A command or an object fails with an OpenCL error code, and the session goes on. what() names the call or
/// the limit that refused it.
class ClError : public std::runtime_error {
 public:
  /// @param status the OpenCL error code (a cl_int)
  ClError(std::int32_t status, const std::string& what) : std::runtime_error(what), status_(status) {}
  std::int32_t status() const { return status_; }

 private:
  std::int32_t status_;
};

}  // namespace clique::daemon
