#include "daemon/worker/admission.hpp"

namespace clique::daemon {

namespace {

/// Compares in a time that does not depend on how many characters are right.
bool same_secret(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace

void Admission::check(const std::string& token) const {
  if (!same_secret(token, token_)) throw protocol::DecodeError("the token is wrong");
}

void Admission::attach(const protocol::Incoming& incoming, std::string& routing_id, const char* socket) {
  const bool taken = !routing_id.empty();
  try {
    reader_.read(protocol::MessageList<protocol::Attach>{}, incoming.records, incoming.frames, incoming.owner,
                 [&](protocol::Attach&& message) {
                   if (!routing_id.empty()) throw protocol::DecodeError("the session has a client already");
                   check(message.token);
                   routing_id = incoming.routing_id;
                 });
  } catch (const protocol::DecodeError& error) {
    if (!taken && !routing_id.empty()) throw;
    drop(socket, error);
  }
}

protocol::AttachLine Admission::attach_line(const protocol::Incoming& incoming) {
  protocol::AttachLine line;
  reader_.read(protocol::MessageList<protocol::AttachLine>{}, incoming.records, incoming.frames,
               incoming.owner, [&](protocol::AttachLine&& message) { line = std::move(message); });
  check(line.token);
  return line;
}

void Admission::drop(const char* socket, const protocol::DecodeError& error) {
  warn_limited(strangers_,
               fmt::format("dropped a stranger's message on the {} socket: {}", socket, error.what()));
}

}  // namespace clique::daemon
