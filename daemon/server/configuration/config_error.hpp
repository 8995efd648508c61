#pragma once

#include <stdexcept>

namespace clique::daemon {

/// A setting has a value that cannot be used. what() says which value, where it was given, and what to write
/// instead.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace clique::daemon
