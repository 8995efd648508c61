#pragma once

#include <openssl/err.h>

#include <string>

#include "protocol/security/public_key.hpp"

namespace clique::protocol {

/// Throws SecurityError for a call of OpenSSL that has just failed: "WHAT: OpenSSL's reason". Clears
/// OpenSSL's error queue of this thread.
[[noreturn]] inline void throw_openssl_error(const std::string& what) {
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  const char* const reason = error != 0 ? ERR_reason_error_string(error) : nullptr;
  throw SecurityError(reason != nullptr ? what + ": " + reason : what);
}

}  // namespace clique::protocol
