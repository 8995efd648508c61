#include "protocol/security/openssl.hpp"

#include <openssl/crypto.h>

namespace clique::protocol {

void prepare_openssl() {
  // Further calls do nothing.
  OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);
}

}  // namespace clique::protocol
