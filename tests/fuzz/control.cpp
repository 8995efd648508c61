// Packets between cliqued and the processes that it starts.
#include "daemon/common/control.hpp"

#include <sys/socket.h>

#include <array>

#include "protocol/decode_error.hpp"
#include "tests/fuzz/filler.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace clique;
using namespace clique::daemon;
using namespace clique::fuzz;

/// The packet that a message travels in.
template <typename T>
std::string packet_of(const T& message) {
  std::array<int, 2> ends{};
  require(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0,
          "the system has sockets");
  const ControlChannel from{Fd(ends[0])};
  const ControlChannel to{Fd(ends[1])};
  from.send(message);
  const auto packet = to.receive();
  require(packet.has_value(), "a packet arrives");
  return std::string(text_of(*packet));
}

template <typename Parse>
void run(Parse parse) {
  try {
    parse();
  } catch (const std::runtime_error&) {
    // A DecodeError, or the reason that the other process states.
    return;
  }
}

}  // namespace

std::vector<std::string> clique::fuzz::seeds() {
  return {packet_of(filled<protocol::DeviceDescription>()),
          packet_of(filled<WorkerReady>()),
          packet_of(std::vector{filled<WorkerReady>()}),
          packet_of(std::vector{filled<ListedPlatform>(), ListedPlatform{}}),
          packet_of(filled<Notice>()),
          packet_of(filled<SessionRecord>()),
          packet_of(filled<FileRequest>()),
          packet_of(filled<DialRequest>()),
          packet_of(std::string("no driver"))};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto packet = std::as_bytes(std::span(data, size));
  run([&] { parse_worker(packet); });
  run([&] { parse_platforms(packet); });
  run([&] {
    const auto said = parse_from_session(packet);
    if (const auto* request = std::get_if<FileRequest>(&said)) {
      const auto again = std::get<FileRequest>(parse_from_session(bytes_of(packet_of(*request))));
      require(again.fields() == request->fields(), "a request is the same after a round trip");
      return;
    }
    if (const auto* request = std::get_if<DialRequest>(&said)) {
      const auto again = std::get<DialRequest>(parse_from_session(bytes_of(packet_of(*request))));
      require(again.fields() == request->fields(), "a request is the same after a round trip");
      return;
    }
    const auto& record = std::get<SessionRecord>(said);
    const auto again = std::get<SessionRecord>(parse_from_session(bytes_of(packet_of(record))));
    require(again.end == record.end && again.usage.fields() == record.usage.fields() &&
                again.links.client.fields() == record.links.client.fields() &&
                again.links.peers.fields() == record.links.peers.fields(),
            "a record is the same after a round trip");
  });
  run([&] {
    const Notice notice = parse_notice(packet);
    const Notice again = parse_notice(bytes_of(packet_of(notice)));
    require(again.fields() == notice.fields(), "a notice is the same after a round trip");
  });
  return 0;
}
