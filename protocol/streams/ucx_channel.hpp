// The connection of a stream through UCX, the library for RDMA (openucx.org).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "protocol/streams/keys.hpp"
#include "protocol/streams/record.hpp"
#include "protocol/streams/ucx_message.hpp"

namespace clique::protocol {

/// UCX cannot be used, or does not reach the other end: another connection would not help.
class UcxError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Opens UCX, when it is first called. Any thread. @returns why this process cannot use it; empty: it can
const std::string& ucx_missing();

/// One end of a stream that goes through UCX. Both ends tell each other their addresses, and connect(). All
/// channels of a process share one thread, which lives while there is a channel, and sleeps while nothing
/// happens. One thread sends and one receives; others may shut().
///
/// What fails throws StreamBroken, or UcxError if nothing has ever come through.
class UcxChannel {
 public:
  /// Throws UcxError.
  /// @param socket the stream's connection. Its end is the channel's end, and where UCX goes through TCP, it
  /// uses this socket's interface. Must be open while the channel exists
  static std::unique_ptr<UcxChannel> open(int socket);
  /// Waits until UCX uses no memory any more that it was given.
  virtual ~UcxChannel() = default;
  UcxChannel(const UcxChannel&) = delete;
  UcxChannel& operator=(const UcxChannel&) = delete;

  /// What the other end needs for connect(): at most kMaxUcxAddress bytes.
  virtual std::vector<std::byte> address() const = 0;
  /// @param address of the other end. UCX believes it.
  virtual void connect(std::span<const std::byte> address) = 0;

  /// Sends a record. Waits until the other end has its data, or nothing uses them any more.
  virtual void send(const RecordHeader::Message& header, const RecordTag& tag,
                    std::span<const std::byte> data) = 0;
  /// Sends a record without data. Does not wait.
  virtual void post(const RecordHeader::Message& header, const RecordTag& tag) = 0;

  /// Waits for the next record.
  virtual UcxRecord next() = 0;
  /// Receives the data of that record, if it has any. @param to of its size
  virtual void receive(const UcxRecord& record, std::span<std::byte> to) = 0;
  /// Releases the data of a record that next() returned, instead of receive().
  virtual void drop(const UcxRecord& record) = 0;
  /// Whether the next record has arrived.
  virtual bool more() = 0;

  /// Ends the channel: calls of other threads throw. Does not wait. Any thread.
  virtual void shut() = 0;

 protected:
  UcxChannel() = default;
};

}  // namespace clique::protocol
