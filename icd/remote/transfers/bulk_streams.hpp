// The streams for large transfers.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "icd/remote/transfers/uploads.hpp"
#include "protocol/streams/stream_set.hpp"

namespace clique::icd {

class LinkControl;
class ReportDispatch;
struct WorkerEndpoint;

/// The streams (protocol/streams) between this process and one worker, which carry large transfers in both
/// directions. They are opened when they are first needed. Thread-safe.
class BulkStreams final : public Uploads::Way, private protocol::StreamSet::Owner {
 public:
  /// @param dispatch knows who takes what arrives
  BulkStreams(const WorkerEndpoint& worker, ReportDispatch& dispatch, LinkControl& control)
      : worker_(worker), dispatch_(dispatch), control_(control) {}

  /// Whether the worker has streams. Otherwise large transfers travel through BulkLines.
  bool usable() const;
  /// Sets the properties of streams that are opened from now on.
  /// @param patience how long a stream may be without a connection; 0: it ends with its connection
  /// @param round_trip of the link: if it is long, more streams are needed to use its bandwidth
  void configure(std::chrono::milliseconds patience, std::chrono::nanoseconds round_trip);
  /// Opens the streams. Does not wait for their connections.
  void open();
  /// Sends a part through one of the streams, which are opened if need be. Never waits.
  void send(protocol::PeerData&& part) override;
  /// Closes the streams, and opens none from now on. Returns when nothing uses the application's memory any
  /// more. Not for the streams' own threads.
  void close();

 private:
  // protocol::StreamSet::Owner
  /// The application may look into its memory at any time.
  bool exposes_memory() const override { return true; }
  std::shared_ptr<std::byte> place(const protocol::RecordHeader& part) override;
  void arrived(protocol::PeerData&& part) override;
  void failed(const std::string& reason) override;

  protocol::StreamSet* opened();

  const WorkerEndpoint& worker_;
  ReportDispatch& dispatch_;
  LinkControl& control_;
  std::mutex mutex_;  // guards the members below
  std::unique_ptr<protocol::StreamSet> set_;
  std::chrono::milliseconds patience_{0};
  std::chrono::nanoseconds round_trip_{0};
  bool closed_ = false;
};

}  // namespace clique::icd
