// OpenSSL while the process exits.
#pragma once

namespace clique::protocol {

/// To be called before OpenSSL is used. If this process has not used it yet, OpenSSL is not cleaned up when
/// the process exits: threads, and destructors of static objects, may use it until the end. If the
/// application has used it before, functions given to OPENSSL_atexit are called before that. Any thread.
void prepare_openssl();

/// Something that uses OpenSSL on threads that may still run when the process exits. If the application has
/// OpenSSL clean itself up, it is told before.
class OpensslUser {
 public:
  virtual ~OpensslUser() = default;
  OpensslUser(const OpensslUser&) = delete;
  OpensslUser& operator=(const OpensslUser&) = delete;

 protected:
  OpensslUser() = default;
  /// To be called when the object is complete, and before it is destroyed. Not from stop_use(). end_use() may
  /// be called several times. Any thread.
  void begin_use();
  void end_use();

 private:
  /// Called for all users before stop_use() is called for the first one, with the same restrictions: the last
  /// opportunity to send something.
  virtual void before_stop() {}
  /// Has to return when no thread uses OpenSSL for this object any more. Called between begin_use() and
  /// end_use().
  virtual void stop_use() = 0;
  friend class OpensslUsers;
};

}  // namespace clique::protocol
