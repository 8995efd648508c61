// Packets between cliqued and the processes that it starts, and what these write to standard error.
#include "daemon/common/control.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "daemon/server/processes/worker_lines.hpp"
#include "protocol/codec.hpp"
#include "protocol/decode_error.hpp"
#include "tests/fuzz/filler.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz::target_control {
namespace {

using namespace clique::daemon;

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

constexpr pid_t kWorker = 7;

/// A line that says it is the worker's is one line, without commands to terminals, and in its format.
void read_line(std::string_view line) {
  const auto controls = [](const std::string& text) {
    return std::any_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  };
  const std::string text = own_line_of_worker(line, kWorker, LogFormat::Text);
  require(!controls(text), "a line of text has no control characters");
  require(text.empty() || text.find("worker[7] ") != std::string::npos, "a line of text names its worker");
  const std::string json = own_line_of_worker(line, kWorker, LogFormat::Json);
  if (json.empty()) return;
  require(!controls(json) && std::none_of(json.begin(), json.end(), [](char c) { return (c & 0x80) != 0; }),
          "an object is ASCII");
  const auto object = nlohmann::json::parse(json, nullptr, false);
  require(object.is_object() && object.at("process") == "worker" && object.at("pid") == kWorker,
          "an object names its worker");
}

std::vector<std::string> seeds() {
  const protocol::Bytes answer = to_bytes(filled<DialAnswer>());
  const protocol::Buffer request = protocol::encode(filled<StartWorkers>());
  return {
      packet_of(filled<protocol::DeviceDescription>()),
      packet_of(filled<WorkerReady>()),
      packet_of(filled<protocol::Driver>()),
      packet_of(std::vector{filled<ListedPlatform>(), ListedPlatform{}}),
      packet_of(filled<Notice>()),
      packet_of(filled<SessionRecord>()),
      packet_of(filled<FileRequest>()),
      packet_of(filled<DialRequest>()),
      packet_of(std::vector{filled<Finding>()}),
      std::string(answer.begin(), answer.end()),
      std::string(text_of(request.bytes())),
      "2026-11-27 00:00:00.000 worker[7] error: it has failed\x1b[2J",
      R"({"time":"now","level":"info","process":"worker","pid":7,"message":"\u001b \u00e9 \ud83d\ude00","n":1.5e300})",
      packet_of(std::string("no driver"))};
}

void test(const std::uint8_t* data, std::size_t size) {
  const auto packet = std::as_bytes(std::span(data, size));
  run([&] { parse_worker(packet); });
  run([&] { parse_platforms(packet); });
  run([&] { parse_driver(packet); });
  run([&] { parse_start_workers(packet); });
  run([&] { parse_findings(packet); });
  run([&] {
    const DialAnswer answer = parse_dial_answer({data, data + size});
    require(parse_dial_answer(to_bytes(answer)).fields() == answer.fields(),
            "an answer is the same after a round trip");
  });
  read_line(text_of(packet));
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
}

const Registration kTarget{"control", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_control
