// Recordings: commands that a client defines once and runs several times.
#include "daemon/worker/recordings.hpp"

#include "protocol/decode_error.hpp"
#include "tests/fuzz/fake_backend.hpp"
#include "tests/fuzz/filler.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz::target_recordings {
namespace {

using namespace clique::daemon;

template <typename M>
void add(protocol::Batch& batch, std::vector<protocol::CommandId> waits) {
  auto message = filled<M>();
  message.command = {0, 0, 0, std::move(waits)};
  batch.add(message);
}

template <typename... M>
std::string seed(protocol::MessageList<M...> /*list*/) {
  protocol::Batch batch;
  (add<M>(batch, {}), ...);
  (add<M>(batch, {0, 3}), ...);
  return std::string(text_of(batch.records()));
}

std::vector<std::string> seeds() {
  protocol::Batch one;
  add<protocol::FillBuffer>(one, {});
  protocol::Batch launches;
  for (int i = 0; i < 2; ++i) add<protocol::RunKernel>(launches, {});
  return {seed(protocol::RecordedMessages{}), std::string(text_of(one.records())),
          std::string(text_of(launches.records()))};
}

void test(const std::uint8_t* data, std::size_t size) {
  FakeBackend backend;
  WaitingData waiting(0);
  Recordings recordings(waiting);
  try {
    recordings.define({1, {data, data + size}});
    recordings.run({{5, 2, 0, {4}}, 1}, backend);
    recordings.run({{6, 2, protocol::Command::kReport, {}}, 1}, backend);
    try {
      recordings.update({1, {0, 1}, {data, data + size}}, backend);
    } catch (const protocol::DecodeError&) {
      // Not all that a recording may contain is a launch.
    } catch (const RuleBroken&) {
    }
    recordings.run({{7, 2, protocol::Command::kReport, {}}, 1}, backend);
    require(recordings.release(1), "a recording can be released");
  } catch (const protocol::DecodeError&) {
    return;
  } catch (const RuleBroken&) {
    return;
  }
}

const Registration kTarget{"recordings", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_recordings
