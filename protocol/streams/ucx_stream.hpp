// A stream whose records travel through UCX.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "protocol/streams/stream.hpp"
#include "protocol/streams/ucx_channel.hpp"

namespace clique::protocol {

/// The connection that was made through the daemon's port admits the other end, and tells that it has gone.
/// On it both ends exchange their addresses as the first record; everything else goes through UCX, as the
/// same records, sealed by the same ciphers.
class UcxStream final : public Stream {
 public:
  using Stream::Stream;
  ~UcxStream() override;

  void send(const RecordHeader& header, std::span<const std::byte> payload) override;
  bool try_send(const RecordHeader& header) override;
  void flush() override {}
  /// The first call exchanges the addresses. Throws UcxError, too.
  RecordHeader receive_header() override;
  void receive_payload(const RecordHeader& header, std::byte* to) override;
  bool more() const override;
  /// Unknown, so that nothing is compressed unless that is asked for: RDMA is faster.
  std::optional<double> rate() const override { return std::nullopt; }
  /// Unknown: the connection carries no parts.
  std::optional<Delivery> delivery() const override { return std::nullopt; }
  void shut() const override;

 private:
  void meet();
  /// Waits for the channel, for other threads than the one that receives. Throws StreamBroken.
  UcxChannel& channel();
  void send_sealed(UcxChannel& to, const RecordHeader& header, std::span<const std::byte> payload);

  mutable std::mutex mutex_;
  mutable std::condition_variable met_;
  std::unique_ptr<UcxChannel> channel_;  // set once, under mutex_, by the thread that receives
  mutable bool shut_ = false;            // under mutex_
  std::vector<std::byte> sealed_payload_;
  UcxRecord record_;  // that is being received
};

}  // namespace clique::protocol
