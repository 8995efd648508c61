#include "daemon/worker/connections/admission.hpp"

#include <utility>

#include "protocol/limits.hpp"

namespace clique::daemon {

template <typename M, typename Handler>
void Admission::read_first(const protocol::Incoming& incoming, Handler&& handler) {
  // Nobody knows who sent it, so it must cost nothing.
  if (incoming.records.size() > protocol::Limits::kFirstBatchBytes || !incoming.frames.empty())
    throw protocol::DecodeError(fmt::format(
        "it has {} bytes and {} payload frames; a connection's first message has {} bytes and no such frame "
        "at most",
        incoming.records.size(), incoming.frames.size(), protocol::Limits::kFirstBatchBytes));
  reader_.read(protocol::MessageList<M>{}, incoming.records, incoming.frames, incoming.owner,
               std::forward<Handler>(handler));
}

void Admission::attach(const protocol::Incoming& incoming, std::string& routing_id, const char* socket) {
  const bool taken = !routing_id.empty();
  try {
    read_first<protocol::Attach>(incoming, [&](protocol::Attach&& /*message*/) {
      if (!routing_id.empty()) throw protocol::DecodeError("the session has a client already");
      routing_id = incoming.routing_id;
    });
  } catch (const protocol::DecodeError& error) {
    if (!taken && !routing_id.empty()) throw;
    drop(socket, error);
  }
}

protocol::AttachLine Admission::attach_line(const protocol::Incoming& incoming) {
  protocol::AttachLine line;
  read_first<protocol::AttachLine>(incoming, [&](const protocol::AttachLine& message) { line = message; });
  return line;
}

void Admission::drop(const char* socket, const protocol::DecodeError& error) {
  warn_limited(strangers_, fmt::format("dropped a message on the {} socket that does not attach: {}", socket,
                                       error.what()));
}

}  // namespace clique::daemon
