#include "icd/remote/bulk_connection.hpp"

#include "protocol/transport/zmq.hpp"

namespace clique::icd {

BulkConnection::BulkConnection(zmq::context_t& zmq, const std::string& endpoint, const std::string& token,
                               bool to_client)
    : socket_(zmq, zmq::socket_type::dealer), monitor_(zmq, socket_) {
  protocol::configure(socket_);
  try {
    socket_.connect(endpoint);
    protocol::Batch batch;
    batch.add(protocol::AttachBulk{token, to_client});
    protocol::send(socket_, batch);
  } catch (...) {
    close();
    throw;
  }
}

void BulkConnection::close() {
  if (!socket_) return;
  monitor_.stop(socket_);
  socket_.close();
}

}  // namespace clique::icd
