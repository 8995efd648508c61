// The handshake of a stream: a connection that is made to a daemon's port and handed to a worker there.
// protocol/security.md specifies it. Each side sends one message of fixed size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "protocol/encryption.hpp"
#include "protocol/pass.hpp"
#include "protocol/payload.hpp"
#include "protocol/streams/keys.hpp"

namespace clique::protocol {

/// By which the daemon finds the worker that a stream is for. Random; of the worker.
using StreamAddress = std::array<std::uint8_t, 16>;

/// From the side that connects.
struct StreamRequest {
  /// The first byte. TLS begins with another one, so that the daemon's port can tell them apart.
  static constexpr std::uint8_t kFirstByte = 'C';
  static constexpr std::size_t kBytes = 112;
  using Message = std::array<std::uint8_t, kBytes>;

  /// Who connects. Each has a pass of its own.
  enum class Role : std::uint8_t { Client = 0, Peer = 1 };
  /// What the records carry.
  enum class Content : std::uint8_t {
    Parts = 0,    ///< of large transfers, both ways
    Batches = 1,  ///< of messages: the client's commands one way and reports the other; or a peer's messages
    UcxParts = 2  ///< as Parts, but through UCX; the connection itself carries their addresses there only
  };

  /// Whether records with this content are encrypted.
  static constexpr bool encrypts(Encryption encryption, Content content) {
    return encryption >= (content == Content::Batches ? Encryption::Commands : Encryption::All);
  }
  /// What protects records with this content, as the side that connects chooses it.
  /// @param known Pass::known_ciphers()
  static StreamCipher cipher_for(Encryption encryption, Content content, KnownCiphers known);
  /// Whether a worker with this encryption accepts records with this content that the cipher protects.
  static bool accepts(Encryption encryption, Content content, StreamCipher cipher);

  StreamAddress worker{};
  Role role = Role::Client;
  StreamCipher cipher = StreamCipher::None;
  Content content = Content::Parts;
  std::uint32_t attempt = 0;  ///< counts the connections of the line, from 1
  LineId line = 0;
  std::uint64_t received = 0;  ///< records of the line that the side that connects has received
  StreamNonce nonce{};

  /// @param secret Pass::stream_key of the role
  Message encode(std::span<const std::uint8_t> secret) const;
  /// Reads a message whose sender is not known yet. @returns nothing if it is not a StreamRequest
  static std::optional<StreamRequest> decode(const Message& message);
  /// The worker that a message is for, whoever sent it. @returns nothing if it is not a StreamRequest
  static std::optional<StreamAddress> worker_of(const Message& message);
  /// Whether the sender of a message knows the secret.
  static bool authentic(const Message& message, std::span<const std::uint8_t> secret);
};

/// The worker's answer. A request that the worker does not accept has none: the connection ends.
struct StreamAnswer {
  static constexpr std::size_t kBytes = 72;
  using Message = std::array<std::uint8_t, kBytes>;

  /// The daemon's answer if it has no such worker. Nobody vouches for it: whoever could forge it could as
  /// well keep the connection from being made.
  static constexpr Message kNoSuchWorker{};

  std::uint64_t received = 0;  ///< records of the line that the worker has received
  StreamNonce nonce{};

  /// @param to the request, to which the answer is bound
  Message encode(std::span<const std::uint8_t> secret, const StreamRequest& to) const;
  /// @returns nothing unless it is the answer to this request, of somebody who knows the secret
  static std::optional<StreamAnswer> decode(const Message& message, std::span<const std::uint8_t> secret,
                                            const StreamRequest& to);
};

}  // namespace clique::protocol
