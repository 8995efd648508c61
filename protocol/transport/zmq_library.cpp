#include "protocol/transport/zmq_library.hpp"

#include <dlfcn.h>
#include <zmq.h>

#include <stdexcept>
#include <string>

namespace clique::protocol {

namespace {

constexpr const char* kZmqLibrary = "libzmq.so.5";

/// The library's own functions, with the types of those that this file defines.
struct ZmqFunctions {
  ZmqFunctions() {
    void* const handle = ::dlopen(kZmqLibrary, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* const why = ::dlerror();
      throw std::runtime_error(std::string("ZeroMQ cannot be opened (") +
                               (why != nullptr ? why : kZmqLibrary) +
                               "). Install it; Debian's package is libzmq5");
    }
    const auto find = [handle]<typename F>(F& function, const char* name) {
      function = reinterpret_cast<F>(::dlsym(handle, name));
      if (function == nullptr)
        throw std::runtime_error(std::string(kZmqLibrary) + " has no function " + name +
                                 ". Install ZeroMQ 4.3 or later");
    };
    find(bind, "zmq_bind");
    find(close, "zmq_close");
    find(connect, "zmq_connect");
    find(ctx_new, "zmq_ctx_new");
    find(ctx_set, "zmq_ctx_set");
    find(ctx_term, "zmq_ctx_term");
    find(curve_keypair, "zmq_curve_keypair");
    find(curve_public, "zmq_curve_public");
    find(disconnect, "zmq_disconnect");
    find(errno_of_thread, "zmq_errno");
    find(getsockopt, "zmq_getsockopt");
    find(msg_close, "zmq_msg_close");
    find(msg_copy, "zmq_msg_copy");
    find(msg_data, "zmq_msg_data");
    find(msg_get, "zmq_msg_get");
    find(msg_init, "zmq_msg_init");
    find(msg_init_data, "zmq_msg_init_data");
    find(msg_init_size, "zmq_msg_init_size");
    find(msg_more, "zmq_msg_more");
    find(msg_recv, "zmq_msg_recv");
    find(msg_send, "zmq_msg_send");
    find(msg_size, "zmq_msg_size");
    find(poll, "zmq_poll");
    find(send, "zmq_send");
    find(setsockopt, "zmq_setsockopt");
    find(socket, "zmq_socket");
    find(socket_monitor, "zmq_socket_monitor");
    find(strerror, "zmq_strerror");
    find(z85_decode, "zmq_z85_decode");
    find(z85_encode, "zmq_z85_encode");
  }

  decltype(&zmq_bind) bind = nullptr;
  decltype(&zmq_close) close = nullptr;
  decltype(&zmq_connect) connect = nullptr;
  decltype(&zmq_ctx_new) ctx_new = nullptr;
  decltype(&zmq_ctx_set) ctx_set = nullptr;
  decltype(&zmq_ctx_term) ctx_term = nullptr;
  decltype(&zmq_curve_keypair) curve_keypair = nullptr;
  decltype(&zmq_curve_public) curve_public = nullptr;
  decltype(&zmq_disconnect) disconnect = nullptr;
  decltype(&zmq_errno) errno_of_thread = nullptr;
  decltype(&zmq_getsockopt) getsockopt = nullptr;
  decltype(&zmq_msg_close) msg_close = nullptr;
  decltype(&zmq_msg_copy) msg_copy = nullptr;
  decltype(&zmq_msg_data) msg_data = nullptr;
  decltype(&zmq_msg_get) msg_get = nullptr;
  decltype(&zmq_msg_init) msg_init = nullptr;
  decltype(&zmq_msg_init_data) msg_init_data = nullptr;
  decltype(&zmq_msg_init_size) msg_init_size = nullptr;
  decltype(&zmq_msg_more) msg_more = nullptr;
  decltype(&zmq_msg_recv) msg_recv = nullptr;
  decltype(&zmq_msg_send) msg_send = nullptr;
  decltype(&zmq_msg_size) msg_size = nullptr;
  decltype(&zmq_poll) poll = nullptr;
  decltype(&zmq_send) send = nullptr;
  decltype(&zmq_setsockopt) setsockopt = nullptr;
  decltype(&zmq_socket) socket = nullptr;
  decltype(&zmq_socket_monitor) socket_monitor = nullptr;
  decltype(&zmq_strerror) strerror = nullptr;
  decltype(&zmq_z85_decode) z85_decode = nullptr;
  decltype(&zmq_z85_encode) z85_encode = nullptr;
};

const ZmqFunctions& zmq_functions() {
  // Never destroyed, and never closed: ZeroMQ's threads may run while the process exits.
  static const ZmqFunctions& once = *new ZmqFunctions;
  return once;
}

}  // namespace

void open_zmq_library() {
  zmq_functions();
}

}  // namespace clique::protocol

// The functions of zmq.h, for cppzmq.
using clique::protocol::zmq_functions;

int zmq_bind(void* socket, const char* address) {
  return zmq_functions().bind(socket, address);
}
int zmq_close(void* socket) {
  return zmq_functions().close(socket);
}
int zmq_connect(void* socket, const char* address) {
  return zmq_functions().connect(socket, address);
}
void* zmq_ctx_new() {
  return zmq_functions().ctx_new();
}
int zmq_ctx_set(void* context, int option, int value) {
  return zmq_functions().ctx_set(context, option, value);
}
int zmq_ctx_term(void* context) {
  return zmq_functions().ctx_term(context);
}
int zmq_curve_keypair(char* public_key, char* secret_key) {
  return zmq_functions().curve_keypair(public_key, secret_key);
}
int zmq_curve_public(char* public_key, const char* secret_key) {
  return zmq_functions().curve_public(public_key, secret_key);
}
int zmq_disconnect(void* socket, const char* address) {
  return zmq_functions().disconnect(socket, address);
}
int zmq_errno() {
  return zmq_functions().errno_of_thread();
}
int zmq_getsockopt(void* socket, int option, void* value, size_t* size) {
  return zmq_functions().getsockopt(socket, option, value, size);
}
int zmq_msg_close(zmq_msg_t* message) {
  return zmq_functions().msg_close(message);
}
int zmq_msg_copy(zmq_msg_t* to, zmq_msg_t* from) {
  return zmq_functions().msg_copy(to, from);
}
void* zmq_msg_data(zmq_msg_t* message) {
  return zmq_functions().msg_data(message);
}
int zmq_msg_get(const zmq_msg_t* message, int property) {
  return zmq_functions().msg_get(message, property);
}
int zmq_msg_init(zmq_msg_t* message) {
  return zmq_functions().msg_init(message);
}
int zmq_msg_init_data(zmq_msg_t* message, void* data, size_t size, zmq_free_fn* release, void* hint) {
  return zmq_functions().msg_init_data(message, data, size, release, hint);
}
int zmq_msg_init_size(zmq_msg_t* message, size_t size) {
  return zmq_functions().msg_init_size(message, size);
}
int zmq_msg_more(const zmq_msg_t* message) {
  return zmq_functions().msg_more(message);
}
int zmq_msg_recv(zmq_msg_t* message, void* socket, int flags) {
  return zmq_functions().msg_recv(message, socket, flags);
}
int zmq_msg_send(zmq_msg_t* message, void* socket, int flags) {
  return zmq_functions().msg_send(message, socket, flags);
}
size_t zmq_msg_size(const zmq_msg_t* message) {
  return zmq_functions().msg_size(message);
}
int zmq_poll(zmq_pollitem_t* items, int count, long timeout) {
  return zmq_functions().poll(items, count, timeout);
}
int zmq_send(void* socket, const void* data, size_t size, int flags) {
  return zmq_functions().send(socket, data, size, flags);
}
int zmq_setsockopt(void* socket, int option, const void* value, size_t size) {
  return zmq_functions().setsockopt(socket, option, value, size);
}
void* zmq_socket(void* context, int type) {
  return zmq_functions().socket(context, type);
}
int zmq_socket_monitor(void* socket, const char* address, int events) {
  return zmq_functions().socket_monitor(socket, address, events);
}
const char* zmq_strerror(int error) {
  return zmq_functions().strerror(error);
}
uint8_t* zmq_z85_decode(uint8_t* to, const char* text) {
  return zmq_functions().z85_decode(to, text);
}
char* zmq_z85_encode(char* to, const uint8_t* data, size_t size) {
  return zmq_functions().z85_encode(to, data, size);
}
