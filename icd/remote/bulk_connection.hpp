#pragma once

#include <string>
#include <zmq.hpp>

#include "icd/remote/monitor.hpp"

namespace clique::icd {

/// A further connection to a worker, which carries parts of large transfers in one direction.
class BulkConnection {
 public:
  /// Connects and attaches, without waiting for it.
  /// @param endpoint of the worker's commands. Throws zmq::error_t.
  BulkConnection(zmq::context_t& zmq, const std::string& endpoint, const std::string& token, bool to_client);
  /// close().
  ~BulkConnection() { close(); }
  BulkConnection(const BulkConnection&) = delete;
  BulkConnection& operator=(const BulkConnection&) = delete;

  /// For one thread at a time.
  zmq::socket_ref socket() { return socket_; }
  /// Any thread.
  Monitor& monitor() { return monitor_; }
  /// Nothing more is sent. On the thread that has the socket.
  void close();

 private:
  zmq::socket_t socket_;
  Monitor monitor_;
};

}  // namespace clique::icd
