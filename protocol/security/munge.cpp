#include "protocol/security/munge.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <ctime>

// As in munge.h, version 2 of the library.
struct munge_ctx;

namespace clique::protocol {

namespace {

constexpr int kSuccess = 0;
constexpr int kOptionSocket = 8;

constexpr const char* kMungeLibrary = "libmunge.so.2";

/// Suppresses SIGPIPE: libmunge writes to a socket whose other end may be closed.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    constexpr timespec kNow{0, 0};
    if (!was_pending_) ::sigtimedwait(&pipe_, nullptr, &kNow);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

}  // namespace

struct Munge::Library {
  using Context = munge_ctx*;

  Library() : handle(::dlopen(kMungeLibrary, RTLD_NOW | RTLD_LOCAL)) {
    if (handle == nullptr)
      throw SecurityError(std::string(kMungeLibrary) + " cannot be opened: " + ::dlerror() +
                          "; install MUNGE (Debian's packages munge and libmunge2), or do without");
    find(create, "munge_ctx_create");
    find(destroy, "munge_ctx_destroy");
    find(set, "munge_ctx_set");
    find(reason, "munge_ctx_strerror");
    find(encode, "munge_encode");
    find(decode, "munge_decode");
  }
  ~Library() { ::dlclose(handle); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  template <typename F>
  void find(F*& function, const char* name) const {
    function = reinterpret_cast<F*>(::dlsym(handle, name));
    if (function == nullptr) throw SecurityError(std::string(kMungeLibrary) + " has no function " + name);
  }

  using OwnedContext = std::unique_ptr<munge_ctx, void (*)(Context)>;
  /// What one call needs: contexts are not thread-safe. Throws SecurityError.
  OwnedContext context(const std::string& socket) const {
    OwnedContext made(create(), destroy);
    if (!made) throw SecurityError("there is not enough memory for a MUNGE context");
    if (!socket.empty() && set(made.get(), kOptionSocket, socket.c_str()) != kSuccess)
      throw SecurityError("MUNGE does not accept the socket '" + socket + "': " + reason(made.get()));
    return made;
  }

  void* handle;
  Context (*create)() = nullptr;
  void (*destroy)(Context) = nullptr;
  int (*set)(Context, int option, ...) = nullptr;
  const char* (*reason)(Context) = nullptr;
  int (*encode)(char** credential, Context, const void* data, int size) = nullptr;
  int (*decode)(const char* credential, Context, void** data, int* size, uid_t*, gid_t*) = nullptr;
};

Munge::Munge(std::string socket) : library_(std::make_shared<const Library>()), socket_(std::move(socket)) {}

std::string Munge::encode(const Binding& binding) const {
  const auto context = library_->context(socket_);
  const NoPipeSignal quiet;
  char* text = nullptr;
  const int status = library_->encode(&text, context.get(), binding.data(), static_cast<int>(binding.size()));
  const std::unique_ptr<char, void (*)(void*)> owner(text, std::free);
  if (status != kSuccess || text == nullptr)
    throw SecurityError(std::string("munged provides no credential: ") + library_->reason(context.get()));
  return text;
}

uid_t Munge::decode(const std::string& credential, const Binding& binding) const {
  const auto context = library_->context(socket_);
  const NoPipeSignal quiet;
  void* data = nullptr;
  int size = 0;
  uid_t user = 0;
  gid_t group = 0;
  const int status = library_->decode(credential.c_str(), context.get(), &data, &size, &user, &group);
  // Data is returned even for a credential that is too old or was used before.
  const std::unique_ptr<void, void (*)(void*)> owner(data, std::free);
  if (status != kSuccess)
    throw SecurityError(std::string("MUNGE rejects the credential: ") + library_->reason(context.get()));
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  if (size != static_cast<int>(binding.size()) || !std::equal(binding.begin(), binding.end(), bytes))
    throw SecurityError("the credential was made for another connection");
  return user;
}

std::optional<std::string> munge_socket(std::string_view text) {
  constexpr std::string_view kName = "munge";
  if (text == kName) return std::string();
  if (!text.starts_with(kName) || text.size() < kName.size() + 2 || text[kName.size()] != ':')
    return std::nullopt;
  return std::string(text.substr(kName.size() + 1));
}

}  // namespace clique::protocol
