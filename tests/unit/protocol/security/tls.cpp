// TLS between a client and a node, over sockets that the test can tamper with.
#include "protocol/security/tls.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>

#include <array>
#include <functional>

#include "protocol/messages.hpp"

namespace clique::protocol {
namespace {

constexpr std::size_t kLongest = 1024;

struct Pair {
  Pair() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
    a = Fd(ends[0]);
    b = Fd(ends[1]);
  }
  Fd a, b;
};

std::string received(const Fd& socket) {
  std::string text(1U << 17U, '\0');
  const ssize_t size = ::recv(socket.get(), text.data(), text.size(), MSG_DONTWAIT);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

void send_bytes(const Fd& socket, const std::string& text) {
  ASSERT_EQ(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
}

Hello hello(const std::string& client) {
  return Hello{7, Wish::Session, client};
}

std::string records_of(const Hello& message) {
  Batch batch;
  batch.add(message);
  return {reinterpret_cast<const char*>(batch.records().data()), batch.records().size()};
}

/// A client and a node, and the test between them.
class Tls : public ::testing::Test {
 protected:
  /// Moves what the ends have sent, until nothing more comes.
  void pump() {
    for (bool moved = true; moved;) {
      client->work();
      node->work();
      const bool from_client = pass(to_client.b, to_node.b);
      const bool from_node = pass(to_node.b, to_client.b);
      moved = from_client || from_node;
    }
  }
  /// @returns whether there were bytes
  static bool pass(const Fd& from, const Fd& to) {
    const std::string bytes = received(from);
    if (!bytes.empty()) send_bytes(to, bytes);
    return !bytes.empty();
  }
  void open() {
    pump();
    ASSERT_TRUE(client->open());
    ASSERT_TRUE(node->open());
  }
  /// What the client sends for a message, encrypted.
  std::string encrypted(const Hello& message) {
    client->send(message);
    client->work();
    return received(to_client.b);
  }

  const Identity client_identity = Identity::generate();
  const Identity node_identity = Identity::generate();
  const TlsContext client_context{TlsContext::Role::Client, client_identity};
  const TlsContext node_context{TlsContext::Role::Node, node_identity};
  // The ends have `a`, the test has `b`.
  Pair to_client;
  Pair to_node;
  std::unique_ptr<TlsChannel> client =
      std::make_unique<TlsChannel>(client_context, std::move(to_client.a), kLongest);
  std::unique_ptr<TlsChannel> node =
      std::make_unique<TlsChannel>(node_context, std::move(to_node.a), kLongest);
};

TEST_F(Tls, BothEndsProveTheirKeys) {
  open();
  EXPECT_EQ(client->peer(), node_identity.public_key());
  EXPECT_EQ(node->peer(), client_identity.public_key());
  EXPECT_FALSE(client->ended() || node->ended() || client->foreign() || node->foreign());
}

TEST_F(Tls, TheBindingIsOfThisConnectionAlone) {
  open();
  EXPECT_EQ(client->binding(), node->binding());
  Pair other;
  TlsChannel other_client(client_context, std::move(other.a), kLongest);
  TlsChannel other_node(node_context, std::move(other.b), kLongest);
  for (int i = 0; i < 5; ++i) {
    other_client.work();
    other_node.work();
  }
  ASSERT_TRUE(other_client.open() && other_node.open());
  EXPECT_EQ(other_client.binding(), other_node.binding());
  EXPECT_NE(other_client.binding(), client->binding());
}

TEST_F(Tls, MessagesArriveWholeAndInOrder) {
  open();
  const std::array messages{hello("first"), hello(std::string(900, 'x')), hello("")};
  for (const Hello& message : messages) client->send(message);
  client->work();
  // Byte by byte.
  for (const char byte : received(to_client.b)) {
    send_bytes(to_node.b, std::string(1, byte));
    node->work();
  }
  for (const Hello& message : messages) {
    const auto records = node->receive();
    ASSERT_NE(records, nullptr);
    EXPECT_EQ(*records, records_of(message));
  }
  EXPECT_EQ(node->receive(), nullptr);
  node->send(Refused{"no"});
  pump();
  EXPECT_NE(client->receive(), nullptr);
}

TEST_F(Tls, NothingReadableIsOnTheWire) {
  open();
  EXPECT_EQ(encrypted(hello("a secret program")).find("secret"), std::string::npos);
}

TEST_F(Tls, WhatDoesNotSpeakTlsIsForeign) {
  for (const std::string& start : {std::string("GET / HTTP/1.1\r\n\r\n"), std::string("SSH-2.0-x\r\n"),
                                   std::string("\xff\0\0\0\0\0\0\0\1\x7f", 10), std::string(64, '\0')}) {
    Pair pair;
    TlsChannel channel(node_context, std::move(pair.a), kLongest);
    send_bytes(pair.b, start);
    EXPECT_THROW(channel.work(), SecurityError) << start;
    EXPECT_TRUE(channel.foreign());
    EXPECT_FALSE(channel.open());
  }
}

TEST_F(Tls, NoiseThatBeginsLikeTlsIsRefused) {
  for (const std::string& noise : {std::string("\x16\x03\x01\x40\x01", 5) + std::string(20000, 'x'),
                                   std::string("\x16\x03\x01\x00\x05\x01\xff\xff\xff\xff", 10),
                                   std::string("\x16\x03\x01\xff\xff", 5) + std::string(20000, '\0')}) {
    Pair pair;
    TlsChannel channel(node_context, std::move(pair.a), kLongest);
    send_bytes(pair.b, noise);
    const auto work = [&] {
      for (int i = 0; i < 4; ++i) channel.work();
    };
    EXPECT_THROW(work(), SecurityError) << noise.size();
    EXPECT_FALSE(channel.foreign());
    EXPECT_FALSE(channel.open());
    EXPECT_EQ(channel.receive(), nullptr);
  }
}

TEST_F(Tls, AMessageThatIsTooLongIsRefusedBeforeItArrives) {
  open();
  const std::string bytes = encrypted(hello(std::string(5 * kLongest, 'x')));
  // The beginning is enough: nothing larger is kept.
  send_bytes(to_node.b, bytes);
  try {
    node->work();
    ADD_FAILURE() << "accepts it";
  } catch (const SecurityError& error) {
    EXPECT_NE(std::string(error.what()).find("at most 1024 are allowed"), std::string::npos) << error.what();
  }
  EXPECT_EQ(node->receive(), nullptr);
}

TEST_F(Tls, OneCallReadsALimitedAmount) {
  open();
  for (int i = 0; i < 200; ++i) client->send(hello(std::string(900, 'x')));
  client->work();
  const std::string bytes = received(to_client.b);
  ASSERT_GT(bytes.size(), 100U << 10U);
  send_bytes(to_node.b, bytes);
  node->work();
  std::size_t count = 0;
  while (node->receive()) ++count;
  EXPECT_GT(count, 0U);
  EXPECT_LT(count, 30U);
}

TEST_F(Tls, AChangedByteEndsTheConnection) {
  open();
  std::string bytes = encrypted(hello("client"));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  send_bytes(to_node.b, bytes);
  EXPECT_THROW(node->work(), SecurityError);
  EXPECT_EQ(node->receive(), nullptr);
}

TEST_F(Tls, ARepeatedOrSwappedRecordEndsTheConnection) {
  open();
  const std::string first = encrypted(hello("first"));
  send_bytes(to_node.b, first);
  node->work();
  ASSERT_NE(node->receive(), nullptr);
  send_bytes(to_node.b, first);
  EXPECT_THROW(node->work(), SecurityError);
  EXPECT_EQ(node->receive(), nullptr);
}

TEST_F(Tls, ALeftOutRecordEndsTheConnection) {
  open();
  encrypted(hello("first"));
  send_bytes(to_node.b, encrypted(hello("second")));
  EXPECT_THROW(node->work(), SecurityError);
  EXPECT_EQ(node->receive(), nullptr);
}

TEST_F(Tls, ACutMessageIsNoMessage) {
  open();
  const std::string bytes = encrypted(hello("client"));
  send_bytes(to_node.b, bytes.substr(0, bytes.size() - 1));
  to_node.b = Fd();
  for (int i = 0; i < 3; ++i) node->work();
  EXPECT_TRUE(node->ended());
  EXPECT_EQ(node->receive(), nullptr);
}

TEST_F(Tls, AnEndThatSendsNoMoreMayStillReceive) {
  open();
  send_bytes(to_node.b, encrypted(hello("client")));
  ASSERT_EQ(::shutdown(to_node.b.get(), SHUT_WR), 0);
  for (int i = 0; i < 3; ++i) node->work();
  EXPECT_TRUE(node->ended());
  EXPECT_NE(node->receive(), nullptr);
}

TEST_F(Tls, AnEndInTheHandshakeEndsTheChannel) {
  client->work();
  to_client.b = Fd();
  client->work();
  EXPECT_TRUE(client->ended());
  EXPECT_FALSE(client->open());
}

/// A client that is not Clique's.
class Stranger {
 public:
  Stranger(EVP_PKEY* key, int version, const std::function<void(SSL_CTX*)>& adjust = {})
      : key_(key, EVP_PKEY_free), context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free) {
    SSL_CTX_set_min_proto_version(context_.get(), version);
    SSL_CTX_set_max_proto_version(context_.get(), version);
    SSL_CTX_set_security_level(context_.get(), 0);
    if (key_) {
      const std::unique_ptr<X509, void (*)(X509*)> certificate(X509_new(), X509_free);
      ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
      X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
      X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 1000);
      X509_set_pubkey(certificate.get(), key_.get());
      const bool own_hash = EVP_PKEY_get_base_id(key_.get()) == EVP_PKEY_ED25519;
      EXPECT_GT(X509_sign(certificate.get(), key_.get(), own_hash ? nullptr : EVP_sha256()), 0);
      EXPECT_EQ(SSL_CTX_use_certificate(context_.get(), certificate.get()), 1);
      EXPECT_EQ(SSL_CTX_use_PrivateKey(context_.get(), key_.get()), 1);
    }
    if (adjust) adjust(context_.get());
    tls_.reset(SSL_new(context_.get()));
  }

  /// Shakes hands with the node. @returns whether the node accepts it
  bool accepted_by(const TlsContext& context) {
    Pair pair;
    SSL_set_fd(tls_.get(), pair.b.get());
    TlsChannel node(context, std::move(pair.a), kLongest);
    try {
      for (int i = 0; i < 6 && !node.open(); ++i) {
        SSL_connect(tls_.get());
        node.work();
      }
    } catch (const SecurityError&) {
      EXPECT_FALSE(node.open());
    }
    return node.open();
  }

 private:
  std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key_;
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_;
  std::unique_ptr<SSL, void (*)(SSL*)> tls_{nullptr, SSL_free};
};

EVP_PKEY* ed25519() {
  return EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
}

TEST_F(Tls, OtherProgramsWithAKeyAreAccepted) {
  // So that what follows is refused for its reason alone.
  EXPECT_TRUE(Stranger(ed25519(), TLS1_3_VERSION).accepted_by(node_context));
}

TEST_F(Tls, AClientWithoutAKeyIsRefused) {
  EXPECT_FALSE(Stranger(nullptr, TLS1_3_VERSION).accepted_by(node_context));
}

TEST_F(Tls, OtherKindsOfKeysAreRefused) {
  EXPECT_FALSE(
      Stranger(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"), TLS1_3_VERSION).accepted_by(node_context));
  EXPECT_FALSE(Stranger(EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", std::size_t{2048}), TLS1_3_VERSION)
                   .accepted_by(node_context));
}

TEST_F(Tls, OlderVersionsAreRefused) {
  EXPECT_FALSE(Stranger(ed25519(), TLS1_2_VERSION).accepted_by(node_context));
  EXPECT_FALSE(Stranger(ed25519(), TLS1_VERSION).accepted_by(node_context));
}

TEST_F(Tls, WeakerCiphersAreRefused) {
  EXPECT_FALSE(Stranger(ed25519(), TLS1_3_VERSION, [](SSL_CTX* context) {
                 SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256");
               }).accepted_by(node_context));
  EXPECT_FALSE(Stranger(ed25519(), TLS1_3_VERSION, [](SSL_CTX* context) {
                 SSL_CTX_set1_groups_list(context, "P-256");
               }).accepted_by(node_context));
}

/// A key pair whose halves do not belong together: somebody's public key, and another private one.
EVP_PKEY* stolen(const PublicKey& key) {
  PublicKey::Bytes public_half = key.bytes();
  PublicKey::Bytes private_half{};
  private_half.fill(9);
  std::array params{OSSL_PARAM_construct_octet_string("pub", public_half.data(), public_half.size()),
                    OSSL_PARAM_construct_octet_string("priv", private_half.data(), private_half.size()),
                    OSSL_PARAM_construct_end()};
  const std::unique_ptr<EVP_PKEY_CTX, void (*)(EVP_PKEY_CTX*)> context(
      EVP_PKEY_CTX_new_from_name(nullptr, "ED25519", nullptr), EVP_PKEY_CTX_free);
  EVP_PKEY* result = nullptr;
  EXPECT_EQ(EVP_PKEY_fromdata_init(context.get()), 1);
  EXPECT_EQ(EVP_PKEY_fromdata(context.get(), &result, EVP_PKEY_KEYPAIR, params.data()), 1);
  EXPECT_EQ(public_key_of(result), key);
  return result;
}

TEST_F(Tls, APublicKeyOfSomebodyElseIsRefused) {
  EXPECT_FALSE(Stranger(stolen(client_identity.public_key()), TLS1_3_VERSION).accepted_by(node_context));
}

}  // namespace
}  // namespace clique::protocol
