#include "protocol/transport/authentication.hpp"

#include <cerrno>
#include <vector>

#include "protocol/no_signals.hpp"
#include "protocol/random.hpp"

namespace clique::protocol {

namespace {

/// Size of a key in Z85, with the terminating zero.
constexpr std::size_t kKeyText = 41;
constexpr std::size_t kKeyBytes = 32;
/// The user name for PLAIN. It has no meaning: the domain determines the role.
constexpr const char* kUser = "clique";
/// Frames of a ZAP request before the credentials.
enum Frame : std::size_t { kZapVersion, kId, kDomain, kAddress, kIdentity, kMechanism, kCredentials };

struct KeyPair {
  std::string public_key;
  std::string secret_key;
};

KeyPair new_keys() {
  std::array<char, kKeyText> public_key{};
  std::array<char, kKeyText> secret_key{};
  if (zmq_curve_keypair(public_key.data(), secret_key.data()) != 0) throw zmq::error_t();
  return {public_key.data(), secret_key.data()};
}

Bytes random_bytes() {
  Bytes bytes(kKeyBytes);
  fill_random(bytes);
  return bytes;
}

std::string random_password() {
  const Bytes bytes = random_bytes();
  std::array<char, kKeyText> text{};
  if (zmq_z85_encode(text.data(), bytes.data(), bytes.size()) == nullptr) throw zmq::error_t();
  return text.data();
}

std::string domain_of(Authenticator::Role role) {
  return role == Authenticator::Role::Client ? "client" : "peer";
}

/// Compares in constant time.
bool same_secret(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

/// All frames of a message. @returns false if there is none, or the socket's context ends
bool receive_frames(zmq::socket_t& socket, std::vector<std::string>& frames) {
  frames.clear();
  bool more = true;
  while (more) {
    zmq::message_t frame;
    while (zmq_msg_recv(frame.handle(), socket.handle(), ZMQ_DONTWAIT) < 0)
      if (zmq_errno() != EINTR) return false;
    more = frame.more();
    frames.emplace_back(frame.data<char>(), frame.size());
  }
  return true;
}

}  // namespace

void present(zmq::socket_ref socket, const Pass& pass) {
  if (pass.secret.empty()) return;
  if (pass.worker.empty()) {
    socket.set(zmq::sockopt::plain_username, kUser);
    socket.set(zmq::sockopt::plain_password, pass.secret);
    return;
  }
  std::array<char, kKeyText> public_key{};
  if (zmq_curve_public(public_key.data(), pass.secret.c_str()) != 0) throw zmq::error_t();
  socket.set(zmq::sockopt::curve_serverkey, pass.worker);
  socket.set(zmq::sockopt::curve_publickey, public_key.data());
  socket.set(zmq::sockopt::curve_secretkey, pass.secret);
}

Authenticator::Authenticator(zmq::context_t& context, Encryption encryption)
    : requests_(context, zmq::socket_type::rep),
      stop_here_(context, zmq::socket_type::pair),
      stop_there_(context, zmq::socket_type::pair) {
  const bool encrypt = encryption != Encryption::None;
  const KeyPair own = encrypt ? new_keys() : KeyPair{};
  secret_key_ = own.secret_key;
  for (RoleKeys& role : roles_) {
    if (!encrypt) {
      role.pass = {"", random_password(), random_bytes()};
      continue;
    }
    const KeyPair keys = new_keys();
    role.pass = {.worker = own.public_key,
                 .secret = keys.secret_key,
                 .stream_key = random_bytes(),
                 .clear_parts = encryption == Encryption::Commands,
                 .sealed_headers = true,
                 .sealed_pieces = true};
    role.public_key.resize(kKeyBytes);
    if (zmq_z85_decode(reinterpret_cast<std::uint8_t*>(role.public_key.data()), keys.public_key.c_str()) ==
        nullptr)
      throw zmq::error_t();
  }
  requests_.set(zmq::sockopt::linger, 0);
  requests_.bind("inproc://zeromq.zap.01");
  stop_here_.bind("inproc://authenticator");
  stop_there_.connect("inproc://authenticator");
  const NoSignals quiet;
  thread_ = std::thread([this] { serve(); });
}

Authenticator::~Authenticator() {
  stop_there_.send(zmq::message_t(), zmq::send_flags::dontwait);
  thread_.join();
}

void Authenticator::guard(zmq::socket_ref socket, Role role) const {
  socket.set(zmq::sockopt::zap_domain, domain_of(role));
  if (secret_key_.empty()) {
    socket.set(zmq::sockopt::plain_server, true);
  } else {
    socket.set(zmq::sockopt::curve_server, true);
    socket.set(zmq::sockopt::curve_secretkey, secret_key_);
  }
}

void Authenticator::serve() {
  try {
    std::vector<zmq::pollitem_t> items{{requests_.handle(), 0, ZMQ_POLLIN, 0},
                                       {stop_here_.handle(), 0, ZMQ_POLLIN, 0}};
    std::vector<std::string> request;
    for (;;) {
      if (zmq_poll(items.data(), static_cast<int>(items.size()), -1) < 0 && zmq_errno() != EINTR) return;
      if (items[1].revents != 0) return;
      while (receive_frames(requests_, request)) {
        const bool admitted = admits(request);
        const std::array<std::string, 6> answer{"1.0",
                                                request.size() > kId ? request[kId] : "",
                                                admitted ? "200" : "400",
                                                admitted ? "OK" : "the pass is wrong",
                                                "",
                                                ""};
        for (std::size_t i = 0; i < answer.size(); ++i)
          requests_.send(zmq::buffer(answer.at(i)),
                         i + 1 < answer.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
      }
    }
  } catch (const zmq::error_t&) {
    // The context was terminated, which ends all connections.
  }
}

bool Authenticator::admits(const std::vector<std::string>& request) const {
  if (request.size() <= kCredentials) return false;
  for (const Role role : {Role::Client, Role::Peer}) {
    if (request[kDomain] != domain_of(role)) continue;
    const RoleKeys& keys = roles_.at(static_cast<std::size_t>(role));
    if (!secret_key_.empty())
      return request[kMechanism] == "CURVE" && same_secret(request[kCredentials], keys.public_key);
    return request[kMechanism] == "PLAIN" && request.size() == kCredentials + 2 &&
           same_secret(request[kCredentials + 1], keys.pass.secret);
  }
  return false;
}

}  // namespace clique::protocol
