// The parts of a worker behind its sockets, with a backend that has no device.
#pragma once

#include "daemon/worker/dispatcher.hpp"
#include "daemon/worker/reports/print_capture.hpp"
#include "daemon/worker/transfers/files.hpp"
#include "daemon/worker/transfers/segments.hpp"
#include "protocol/decode_error.hpp"
#include "protocol/transport/shared_segment.hpp"
#include "tests/fuzz/fake_backend.hpp"

namespace clique::fuzz {

/// One session. The client shares a segment, and can place others as one in a virtual machine.
struct FakeWorker {
  static constexpr protocol::ObjectId kSegment = 7;

  FakeWorker() {
    backend.use(segments);
    segments.add(kSegment, protocol::SharedSegment::create(4096));
    segments.use_memory(protocol::SharedSegment::create(8192));
  }
  ~FakeWorker() { tasks.run(); }
  FakeWorker(const FakeWorker&) = delete;
  FakeWorker& operator=(const FakeWorker&) = delete;

  /// ZeroMQ and the standard output are the process's.
  static zmq::context_t& zmq() {
    static zmq::context_t one;
    return one;
  }
  static daemon::PrintCapture& prints() {
    static daemon::PrintCapture one;
    return one;
  }

  daemon::WaitingData waiting{daemon::WaitingData::kLeast};
  daemon::Tasks tasks;
  daemon::Reporter reporter{zmq::socket_t(), prints(), tasks, waiting};
  daemon::ReportOrder order{reporter};
  daemon::PeerLinks peers{zmq(), {}, std::chrono::milliseconds(0)};
  daemon::MemoryBudget memory{0};
  FakeBackend backend;
  daemon::Segments segments{backend, tasks, memory};
  daemon::Pacer pacer{tasks};
  const daemon::Surroundings surroundings{reporter, order, peers, tasks, memory, waiting, pacer};
  /// Whose starter opens none.
  daemon::Files files{surroundings, backend, [this](const daemon::FileRequest& /*request*/) {
                        tasks.post([this] { files.opened({daemon::Notice::Kind::File, "no file"}, {}); });
                      }};
  daemon::Dispatcher dispatcher{surroundings, backend, segments, files};
};

/// Whether the batch asks the worker to connect to somebody, which no target lets it do.
inline bool connects(const protocol::Incoming& batch) {
  static protocol::BatchReader reader;
  bool found = false;
  try {
    reader.read(protocol::ClientMessages{}, batch.records, batch.frames, nullptr,
                [&]([[maybe_unused]] auto&& message) {
                  found =
                      found || std::is_same_v<std::remove_cvref_t<decltype(message)>, protocol::ConnectPeer>;
                });
  } catch (const protocol::DecodeError&) {
    // The messages before the invalid one are handled, too.
    return found;
  }
  return found;
}

/// Calls a function that may end the session, in one of the ways in which sessions end.
template <typename Function>
void may_be_refused(Function function) {
  try {
    function();
  } catch (const protocol::DecodeError&) {
    return;
  } catch (const daemon::RuleBroken&) {
    return;
  } catch (const daemon::DeviceFailed&) {
    return;
  } catch (const daemon::SessionOver&) {
    return;
  }
}

}  // namespace clique::fuzz
