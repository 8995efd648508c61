#include "protocol/security/openssl.hpp"

#include <openssl/crypto.h>

#include <mutex>
#include <set>

namespace clique::protocol {

void prepare_openssl() {
  // Further calls do nothing.
  OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);
}

/// The users in this process. Never destroyed, since it is used while the process exits.
class OpensslUsers {
 public:
  static OpensslUsers& instance() {
    static auto* const users = new OpensslUsers;
    return *users;
  }
  void add(OpensslUser& user) {
    const std::lock_guard lock(mutex_);
    users_.insert(&user);
  }
  void remove(OpensslUser& user) {
    const std::lock_guard lock(mutex_);
    users_.erase(&user);
  }

 private:
  OpensslUsers() {
    prepare_openssl();
    OPENSSL_atexit([] { instance().stop(); });
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    for (OpensslUser* user : users_) user->before_stop();
    for (OpensslUser* user : users_) user->stop_use();
  }

  std::mutex mutex_;
  std::set<OpensslUser*> users_;
};

void OpensslUser::begin_use() {
  OpensslUsers::instance().add(*this);
}

void OpensslUser::end_use() {
  OpensslUsers::instance().remove(*this);
}

}  // namespace clique::protocol
