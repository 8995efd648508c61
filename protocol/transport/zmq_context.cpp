#include "protocol/transport/zmq_context.hpp"

#include "protocol/transport/zmq_library.hpp"

namespace clique::protocol {

zmq::context_t& ZmqContext::get() {
  const std::lock_guard lock(mutex_);
  if (!context_) {
    open_zmq_library();
    context_.emplace(io_threads_);
  }
  return *context_;
}

}  // namespace clique::protocol
