// Batches on every socket, in both directions. What is decoded is encoded again, which must give the same.
#include "protocol/messages.hpp"

#include "protocol/decode_error.hpp"
#include "tests/fuzz/filler.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz::target_messages {
namespace {

using namespace clique::protocol;

constexpr std::size_t kMostFrames = 4;

/// Calls action(list) with the list of messages number `which`.
template <typename Action>
void with_list(std::uint8_t which, Action action) {
  switch (which % 8) {
    case 0:
      return action(ClientMessages{});
    case 1:
      return action(WorkerMessages{});
    case 2:
      return action(PeerMessages{});
    case 3:
      return action(BulkMessages{});
    case 4:
      return action(LineMessages{});
    case 5:
      return action(HandshakeMessages{});
    case 6:
      return action(RecordedMessages{});
    default:
      // What a daemon accepts.
      return action(MessageList<Hello, Steer, Choice>{});
  }
}

/// Decodes a batch, and encodes it again. The payloads of the result point into the input.
template <typename List>
Batch decoded(List list, std::span<const std::byte> records, std::span<const Payload> frames) {
  static BatchReader reader;
  Batch batch;
  reader.read(list, records, frames, nullptr, [&](auto&& message) { batch.add(message); });
  return batch;
}

template <typename List>
void run(List list, std::span<const std::byte> records, std::span<const Payload> frames) {
  Batch first;
  try {
    first = decoded(list, records, frames);
  } catch (const DecodeError&) {
    return;
  }
  const Batch second = decoded(list, first.records(), first.payloads());
  require(std::ranges::equal(first.records(), second.records()), "a batch is the same after a round trip");
  require(std::ranges::equal(first.payloads(), second.payloads(),
                             [](const Payload& a, const Payload& b) {
                               return a.bytes.data() == b.bytes.data() && a.bytes.size() == b.bytes.size();
                             }),
          "payloads are the same after a round trip");
}

/// An input is the list's number, the number of frames, the size of each, the frames, and the records.
std::string seed(std::uint8_t list, const Batch& batch, std::span<const std::byte> frame = {}) {
  Output output;
  output.number(list).number(static_cast<std::uint8_t>(frame.empty() ? 0 : 1));
  if (!frame.empty()) output.number(static_cast<std::uint16_t>(frame.size())).bytes(frame);
  return output.bytes(batch.records()).text();
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (std::uint8_t which = 0; which < 8; ++which)
    with_list(which, [&]<typename... M>(MessageList<M...> list) {
      all.push_back(seed(which, filled_batch(list)));
      Batch defaults;
      (defaults.add(M{}), ...);
      all.push_back(seed(which, defaults));
    });
  const std::vector<std::byte> large(kInlinePayload + 1);
  Batch batch;
  batch.add(PeerData{1, 2, 0, {large, nullptr}});
  all.push_back(seed(3, batch, large));
  return all;
}

void test(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const auto list = input.number<std::uint8_t>();
  std::vector<Payload> frames(input.number<std::uint8_t>() % (kMostFrames + 1));
  for (Payload& frame : frames) {
    const auto bytes = input.block(input.number<std::uint16_t>());
    frame = {*bytes, bytes};
  }
  const auto rest = input.rest();
  const std::vector<std::byte> records(rest.begin(), rest.end());
  with_list(list, [&](auto messages) { run(messages, records, frames); });
}

const Registration kTarget{"messages", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_messages
