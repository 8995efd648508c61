#pragma once

#include <mutex>
#include <optional>
#include <zmq.hpp>

namespace clique::protocol {

/// ZeroMQ's context of a process. It opens ZeroMQ's library and starts its threads when it is first used,
/// which sessions over streams never do. Outlives the sockets that were made with it.
class ZmqContext {
 public:
  /// @param io_threads how many threads receive and send
  explicit ZmqContext(int io_threads) : io_threads_(io_threads) {}
  ZmqContext(const ZmqContext&) = delete;
  ZmqContext& operator=(const ZmqContext&) = delete;

  /// Thread-safe. Throws std::runtime_error if ZeroMQ's library is missing (open_zmq_library), and
  /// zmq::error_t.
  zmq::context_t& get();

 private:
  const int io_threads_;
  std::mutex mutex_;
  std::optional<zmq::context_t> context_;
};

}  // namespace clique::protocol
