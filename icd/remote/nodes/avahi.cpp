#include "icd/remote/nodes/avahi.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>

#include "icd/remote/nodes/deadline.hpp"

namespace clique::icd {

namespace {

/// How long hosts may take to answer. Avahi's own clients take it that all have after this time.
constexpr std::chrono::milliseconds kAvahiPatience{1000};
/// The most services that are looked at.
constexpr std::size_t kMostServices = 1024;

// The part of Avahi's interface that is needed. The numbers in the libraries' names guarantee that it stays
// the same.
using AvahiObject = void;
constexpr int kAny = -1;  // AVAHI_IF_UNSPEC, AVAHI_PROTO_UNSPEC
enum class AvahiBrowserEvent : int { New = 0, Remove = 1, CacheExhausted = 2, AllForNow = 3, Failure = 4 };
enum class AvahiResolverEvent : int { Found = 0, Failure = 1 };
using AvahiClientCallback = void(AvahiObject* client, int state, void* data);
using AvahiBrowserCallback = void(AvahiObject* browser, int interface, int protocol, AvahiBrowserEvent event,
                                  const char* name, const char* type, const char* domain, int flags,
                                  void* data);
using AvahiResolverCallback = void(AvahiObject* resolver, int interface, int protocol,
                                   AvahiResolverEvent event, const char* name, const char* type,
                                   const char* domain, const char* host, const void* address,
                                   std::uint16_t port, void* text, int flags, void* data);

struct AvahiFunctions {
  AvahiObject* (*avahi_simple_poll_new)();
  const void* (*avahi_simple_poll_get)(AvahiObject*);
  int (*avahi_simple_poll_iterate)(AvahiObject*, int milliseconds);
  void (*avahi_simple_poll_free)(AvahiObject*);
  const char* (*avahi_strerror)(int);
  AvahiObject* (*avahi_client_new)(const void* poll, int flags, AvahiClientCallback*, void*, int* error);
  void (*avahi_client_free)(AvahiObject*);
  AvahiObject* (*avahi_service_browser_new)(AvahiObject* client, int interface, int protocol,
                                            const char* type, const char* domain, int flags,
                                            AvahiBrowserCallback*, void*);
  AvahiObject* (*avahi_service_resolver_new)(AvahiObject* client, int interface, int protocol,
                                             const char* name, const char* type, const char* domain,
                                             int address_protocol, int flags, AvahiResolverCallback*, void*);

  /// Throws std::runtime_error.
  AvahiFunctions() {
    // Never closed: libdbus, which it uses, keeps data.
    void* const library = ::dlopen("libavahi-client.so.3", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(::dlerror());
    const auto find = [library](auto& function, const char* name) {
      // Those of libavahi-common.so.3 are found as well, which the library needs.
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      if (function == nullptr) throw std::runtime_error(std::string("libavahi-client.so.3 lacks ") + name);
    };
    find(avahi_simple_poll_new, "avahi_simple_poll_new");
    find(avahi_simple_poll_get, "avahi_simple_poll_get");
    find(avahi_simple_poll_iterate, "avahi_simple_poll_iterate");
    find(avahi_simple_poll_free, "avahi_simple_poll_free");
    find(avahi_strerror, "avahi_strerror");
    find(avahi_client_new, "avahi_client_new");
    find(avahi_client_free, "avahi_client_free");
    find(avahi_service_browser_new, "avahi_service_browser_new");
    find(avahi_service_resolver_new, "avahi_service_resolver_new");
  }
};

struct AvahiSearch {
  const AvahiFunctions& avahi;
  AvahiObject* client = nullptr;
  std::vector<Announced> found = {};
  std::size_t begun = 0;     ///< services whose host was asked for
  std::size_t resolved = 0;  ///< those of them that have an answer
  bool from_cache = false;   ///< all that Avahi knew already has come
  bool complete = false;     ///< all that there is has come, or nothing more will

  /// What is known already is enough: nodes announce themselves once and for all.
  bool over() const { return complete || (from_cache && begun > 0) ? resolved == begun : false; }

  static void on_client(AvahiObject*, int, void*) {}
  static void on_service(AvahiObject*, int interface, int protocol, AvahiBrowserEvent event, const char* name,
                         const char* type, const char* domain, int, void* data) {
    auto& self = *static_cast<AvahiSearch*>(data);
    if (event == AvahiBrowserEvent::CacheExhausted) self.from_cache = true;
    if (event == AvahiBrowserEvent::AllForNow || event == AvahiBrowserEvent::Failure) self.complete = true;
    if (event != AvahiBrowserEvent::New || self.begun == kMostServices) return;
    if (self.avahi.avahi_service_resolver_new(self.client, interface, protocol, name, type, domain, kAny, 0,
                                              on_host, data) != nullptr)
      ++self.begun;
  }
  static void on_host(AvahiObject*, int, int, AvahiResolverEvent event, const char*, const char*, const char*,
                      const char* host, const void*, std::uint16_t port, void*, int, void* data) {
    auto& self = *static_cast<AvahiSearch*>(data);
    ++self.resolved;
    if (event == AvahiResolverEvent::Found && host != nullptr) self.found.push_back({host, port});
  }
};

}  // namespace

std::vector<Announced> ask_avahi(const std::string& type, std::chrono::steady_clock::time_point deadline) {
  const AvahiFunctions avahi;
  const std::unique_ptr<AvahiObject, void (*)(AvahiObject*)> poll(avahi.avahi_simple_poll_new(),
                                                                  avahi.avahi_simple_poll_free);
  if (!poll) throw std::runtime_error("there is not enough memory");
  AvahiSearch search{avahi};
  int error = 0;
  const std::unique_ptr<AvahiObject, void (*)(AvahiObject*)> client(
      avahi.avahi_client_new(avahi.avahi_simple_poll_get(poll.get()), 0, AvahiSearch::on_client, &search,
                             &error),
      avahi.avahi_client_free);
  if (!client) throw std::runtime_error(avahi.avahi_strerror(error));
  search.client = client.get();
  // The client frees it, and the resolvers.
  if (avahi.avahi_service_browser_new(client.get(), kAny, kAny, type.c_str(), nullptr, 0,
                                      AvahiSearch::on_service, &search) == nullptr)
    throw std::runtime_error("it cannot look for services");
  const auto until = std::min(deadline, std::chrono::steady_clock::now() + kAvahiPatience);
  while (!search.over() && std::chrono::steady_clock::now() < until)
    if (avahi.avahi_simple_poll_iterate(poll.get(), static_cast<int>(left_until(until).count()) + 1) != 0)
      break;
  // The order in which hosts answer is not the same twice.
  std::sort(search.found.begin(), search.found.end());
  return search.found;
}

}  // namespace clique::icd
