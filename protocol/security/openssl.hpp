#pragma once

namespace clique::protocol {

/// To be called before OpenSSL is used. If this process has not used it yet, OpenSSL is not cleaned up when
/// the process exits: threads, and destructors of static objects, may use it until the end. If the
/// application has used it before, functions given to OPENSSL_atexit are called before that. Any thread.
void prepare_openssl();

}  // namespace clique::protocol
