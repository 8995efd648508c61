#include "protocol/security/tls.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <cerrno>

#include "protocol/security/openssl_error.hpp"

namespace clique::protocol {

namespace {

/// The largest number of bytes that one call of work() receives.
constexpr std::size_t kBytesPerTurn = 16 * kKiB;
/// In bytes. Certificates made by Identity have a few hundred.
constexpr long kLongestCertificate = 2048;
/// The first byte of a TLS record that begins a handshake.
constexpr unsigned char kHandshakeRecord = 22;

/// Whether connecting, which the socket began without waiting, has failed.
bool failed_to_connect(int socket) {
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error != 0;
}

}  // namespace

TlsContext::TlsContext(Role role, const Identity& identity)
    : role_(role),
      context_(SSL_CTX_new(role == Role::Node ? TLS_server_method() : TLS_client_method()), SSL_CTX_free) {
  SSL_CTX* const tls = context_.get();
  if (tls == nullptr || SSL_CTX_set_min_proto_version(tls, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_max_proto_version(tls, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(tls, "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256") != 1 ||
      SSL_CTX_set1_groups_list(tls, "X25519") != 1 || SSL_CTX_set1_sigalgs_list(tls, "ed25519") != 1 ||
      SSL_CTX_use_certificate(tls, identity.certificate()) != 1 ||
      SSL_CTX_use_PrivateKey(tls, identity.private_key()) != 1)
    throw_openssl_error("OpenSSL does not offer TLS 1.3 with Ed25519 keys");
  // Accept every certificate, because there is no authority: the caller compares the key in it. TLS still
  // verifies that the other end has the private key.
  SSL_CTX_set_verify(tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_cert_verify_callback(tls, [](X509_STORE_CTX*, void*) { return 1; }, nullptr);
  SSL_CTX_set_max_cert_list(tls, kLongestCertificate);
  // Connections are never resumed, so that their keys are forgotten with them.
  SSL_CTX_set_options(tls, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(tls, 0);
  SSL_CTX_set_session_cache_mode(tls, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(tls, SSL_MODE_RELEASE_BUFFERS);
}

TlsChannel::TlsChannel(const TlsContext& context, Fd socket, std::size_t longest)
    : socket_(std::move(socket)), plain_(longest), tls_(SSL_new(context.get()), SSL_free) {
  incoming_ = BIO_new(BIO_s_mem());
  outgoing_ = BIO_new(BIO_s_mem());
  if (!tls_ || incoming_ == nullptr || outgoing_ == nullptr) {
    BIO_free(incoming_);
    BIO_free(outgoing_);
    throw_openssl_error("a TLS connection could not be made");
  }
  BIO_set_mem_eof_return(incoming_, -1);
  BIO_set_mem_eof_return(outgoing_, -1);
  SSL_set_bio(tls_.get(), incoming_, outgoing_);
  if (context.role() == TlsContext::Role::Node)
    SSL_set_accept_state(tls_.get());
  else
    SSL_set_connect_state(tls_.get());
}

TlsChannel::~TlsChannel() = default;

void TlsChannel::work() {
  // The error queue belongs to the thread, and may contain errors of the application.
  ERR_clear_error();
  receive_bytes();
  try {
    if (!open_) shake_hands();
    if (open_) decrypt();
  } catch (const SecurityError&) {
    // Send the alert with the reason to the other end, if possible.
    send_bytes();
    throw;
  }
  send_bytes();
}

bool TlsChannel::wants_to_send() const {
  return !unsent_.empty() || BIO_ctrl_pending(outgoing_) > 0;
}

bool TlsChannel::receive_bytes() {
  std::array<char, kBytesPerTurn> bytes;
  const ssize_t size = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  // Sockets of vsock say that they are not connected before they are, and also if they never will be.
  if (size < 0 && errno == ENOTCONN && failed_to_connect(socket_.get())) {
    ended_ = true;
    return false;
  }
  if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ENOTCONN))
    return false;
  if (size <= 0) {
    ended_ = true;
    return false;
  }
  if (std::exchange(first_, false) && static_cast<unsigned char>(bytes[0]) != kHandshakeRecord) {
    foreign_ = true;
    throw SecurityError("the other end does not speak TLS");
  }
  return BIO_write(incoming_, bytes.data(), static_cast<int>(size)) == size;
}

bool TlsChannel::send_bytes() {
  bool sent = false;
  for (;;) {
    if (unsent_.empty()) {
      const std::size_t pending = BIO_ctrl_pending(outgoing_);
      if (pending == 0) return sent;
      unsent_.resize(pending);
      BIO_read(outgoing_, unsent_.data(), static_cast<int>(pending));
    }
    const ssize_t size = ::send(socket_.get(), unsent_.data(), unsent_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size < 0) {
      const bool later = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ENOTCONN ||
                         errno == EINPROGRESS;
      if (!later) ended_ = true;
      return sent;
    }
    sent = true;
    unsent_.erase(0, static_cast<std::size_t>(size));
  }
}

void TlsChannel::shake_hands() {
  const int status = SSL_do_handshake(tls_.get());
  if (status != 1) {
    const int error = SSL_get_error(tls_.get(), status);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return;
    throw_openssl_error("the TLS handshake failed");
  }
  const std::unique_ptr<X509, void (*)(X509*)> certificate(SSL_get1_peer_certificate(tls_.get()), X509_free);
  peer_ = public_key_of(certificate ? X509_get0_pubkey(certificate.get()) : nullptr);
  open_ = true;
}

void TlsChannel::decrypt() {
  std::array<char, 4 * kKiB> bytes;
  for (;;) {
    const int size = SSL_read(tls_.get(), bytes.data(), static_cast<int>(bytes.size()));
    if (size <= 0) {
      const int error = SSL_get_error(tls_.get(), size);
      if (error == SSL_ERROR_ZERO_RETURN) ended_ = true;
      if (error == SSL_ERROR_ZERO_RETURN || error == SSL_ERROR_WANT_READ) break;
      throw_openssl_error("the TLS connection failed");
    }
    plain_.append({bytes.data(), static_cast<std::size_t>(size)});
  }
}

void TlsChannel::send(const Batch& batch) {
  const std::string message = MessageStream::framed(batch.records());
  ERR_clear_error();
  if (SSL_write(tls_.get(), message.data(), static_cast<int>(message.size())) <= 0)
    throw_openssl_error("a message could not be encrypted");
}

std::shared_ptr<const std::string> TlsChannel::receive() {
  return plain_.next();
}

std::array<std::uint8_t, 32> TlsChannel::binding() const {
  constexpr std::string_view kLabel = "EXPORTER-Channel-Binding";
  std::array<std::uint8_t, 32> value{};
  if (SSL_export_keying_material(tls_.get(), value.data(), value.size(), kLabel.data(), kLabel.size(),
                                 nullptr, 0, 0) != 1)
    throw_openssl_error("the connection has no channel binding");
  return value;
}

}  // namespace clique::protocol
