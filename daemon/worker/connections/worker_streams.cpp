#include "daemon/worker/connections/worker_streams.hpp"

#include <algorithm>
#include <utility>

#include "daemon/common/log.hpp"
#include "protocol/random.hpp"

namespace clique::daemon {

using protocol::StreamRequest;

namespace {

/// As the reason for a refusal says it.
const char* protection(protocol::StreamCipher cipher) {
  switch (protocol::sealing(cipher)) {
    case protocol::Sealing::None:
      break;
    case protocol::Sealing::Records:
      return "that is encrypted";
    case protocol::Sealing::Headers:
      return "whose headers alone are protected";
    case protocol::Sealing::Pieces:
      return "that is encrypted in pieces";
  }
  return "that is not encrypted";
}

}  // namespace

WorkerStreams::WorkerStreams(const protocol::Authenticator& authenticator, const Surroundings& surroundings,
                             Backend& backend, Dispatcher& dispatcher, PeerInbox& peers)
    : authenticator_(authenticator),
      ucx_(surroundings.ucx),
      from_client_(surroundings, backend, dispatcher, Dispatcher::Sender::Client),
      from_peers_(surroundings, backend, dispatcher, Dispatcher::Sender::Peer),
      peer_inbox_(peers),
      to_client_(from_client_, surroundings.compression),
      peers_(from_peers_, surroundings.compression) {}

protocol::Bytes WorkerStreams::new_address() {
  protocol::Bytes address(std::tuple_size_v<protocol::StreamAddress>);
  protocol::fill_random(address);
  return address;
}

bool WorkerStreams::accept(Fd connection, const protocol::Bytes& request, const std::string& address) {
  StreamRequest::Message message{};
  std::optional<StreamRequest> decoded;
  if (request.size() == message.size()) {
    std::copy(request.begin(), request.end(), message.begin());
    decoded = StreamRequest::decode(message);
  }
  const bool client = decoded && decoded->role == StreamRequest::Role::Client;
  using Role = protocol::Authenticator::Role;
  const protocol::Pass& pass = authenticator_.pass(client ? Role::Client : Role::Peer);
  if (!decoded || !StreamRequest::authentic(message, pass.stream_key)) {
    warn_limited(strangers_,
                 fmt::format("closed a connection of {}: it does not know the session's key", address));
    return false;
  }
  if (!StreamRequest::accepts(pass.encryption(), decoded->content, decoded->cipher))
    throw protocol::DecodeError(
        fmt::format("a connection for {} {}, where the node's encryption is {}",
                    decoded->content == StreamRequest::Content::Batches ? "messages" : "large transfers",
                    protection(decoded->cipher), to_text(pass.encryption())));
  if (decoded->content == StreamRequest::Content::Batches) {
    if (!client) {
      peer_inbox_.accept(std::move(connection), *decoded, pass.stream_key);
      return false;
    }
    if (decoded->line != protocol::kCommandsLine)
      throw protocol::DecodeError(fmt::format("line {} for messages", decoded->line));
    return client_line_->accept(std::move(connection), *decoded, pass.stream_key);
  }
  if (decoded->content == StreamRequest::Content::UcxParts) {
    if (!ucx_) throw protocol::DecodeError(std::string(kNoUcx));
    if (!client_ucx_ && !peer_ucx_) spdlog::info("the session's large transfers travel through UCX");
    (client ? client_ucx_ : peer_ucx_) = true;
  }
  (client ? to_client_ : peers_).accept(std::move(connection), *decoded, pass.stream_key);
  if (client) client_connected_.store(true, std::memory_order_relaxed);
  return false;
}

std::shared_ptr<std::byte> WorkerStreams::Inward::place(const protocol::RecordHeader& part) {
  // Counted before the data arrives, or a client with many streams could have the worker take any amount.
  std::shared_ptr<std::byte> block = backend_.memory_for_part(part.size);
  std::byte* const bytes = block.get();
  return {bytes, [block = std::move(block), share = surroundings_.waiting.count(part.size)](std::byte*) {}};
}

void WorkerStreams::Inward::arrived(protocol::PeerData&& part) {
  surroundings_.tasks.post(
      [this, part = std::move(part)]() mutable { dispatcher_.queue_part(std::move(part), sender_); });
}

void WorkerStreams::Inward::failed(const std::string& reason) {
  surroundings_.tasks.post([reason] { throw RuleBroken(reason); });
}

}  // namespace clique::daemon
