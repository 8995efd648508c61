// TLS 1.3 (RFC 8446) between a client and a node's daemon. Each side proves that it has an Ed25519 private
// key. The caller decides whether to trust the key.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "protocol/batch.hpp"
#include "protocol/fd.hpp"
#include "protocol/security/identity.hpp"
#include "protocol/security/message_stream.hpp"

// OpenSSL's SSL_CTX, SSL and BIO.
struct ssl_ctx_st;
struct ssl_st;
struct bio_st;

namespace clique::protocol {

/// The configuration that all TLS connections of a process share. Thread-safe.
class TlsContext {
 public:
  enum class Role : std::uint8_t { Client, Node };
  /// Throws SecurityError.
  TlsContext(Role role, const Identity& identity);

  Role role() const { return role_; }
  ssl_ctx_st* get() const { return context_.get(); }

 private:
  Role role_;
  std::shared_ptr<ssl_ctx_st> context_;
};

/// Messages over one TLS connection. Each message is the records of a batch without payload frames
/// (MessageStream). No function blocks. One thread at a time.
class TlsChannel {
 public:
  /// @param socket a non-blocking stream socket that is connected or connecting
  /// @param longest message to accept, in bytes
  TlsChannel(const TlsContext& context, Fd socket, std::size_t longest);
  ~TlsChannel();
  TlsChannel(const TlsChannel&) = delete;
  TlsChannel& operator=(const TlsChannel&) = delete;

  int fd() const { return socket_.get(); }

  /// Receives and sends as much as possible without waiting. Receives at most a few KiB, so that no peer can
  /// keep the caller busy. Throws SecurityError if the other end violates TLS, or sends a message that is too
  /// long.
  void work();
  /// Whether work() has more to send, so that the caller should wait until the socket is writable.
  bool wants_to_send() const;
  /// The handshake is complete: the other end has proven its key.
  bool open() const { return open_; }
  /// The other end has closed the connection, or it broke.
  bool ended() const { return ended_; }
  /// The other end's key. Only if open().
  const PublicKey& peer() const { return peer_; }
  /// Whether the other end does not speak TLS. Known after the first byte.
  bool foreign() const { return foreign_; }

  /// Queues messages without payload frames. Only if open(). Call work() afterwards.
  void send(const Batch& batch);
  /// The same for one message.
  template <typename M>
  void send(const M& message) {
    Batch batch;
    batch.add(message);
    send(batch);
  }
  /// The records of the next message that has arrived; null if there is none.
  std::shared_ptr<const std::string> receive();

  /// A value that only the two ends of this connection know (RFC 9266, tls-exporter). Only if open().
  std::array<std::uint8_t, 32> binding() const;

 private:
  /// Moves bytes between the socket and OpenSSL. @returns whether any were moved
  bool receive_bytes();
  bool send_bytes();
  void shake_hands();
  void decrypt();

  const Fd socket_;
  MessageStream plain_;  // decrypted
  std::unique_ptr<ssl_st, void (*)(ssl_st*)> tls_;
  bio_st* incoming_;  // encrypted bytes from and to the socket; owned by tls_
  bio_st* outgoing_;
  std::string unsent_;  // encrypted
  PublicKey peer_;
  bool first_ = true;
  bool open_ = false;
  bool ended_ = false;
  bool foreign_ = false;
};

}  // namespace clique::protocol
