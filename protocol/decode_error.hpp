#pragma once

#include <stdexcept>

namespace clique::protocol {

/// A message that violates the protocol. what() says which one and how, for the log and for the sender.
class DecodeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace clique::protocol
