// The streams between two processes, over which large transfers travel beside the commands.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/fd.hpp"
#include "protocol/ids.hpp"
#include "protocol/messages/transfers.hpp"
#include "protocol/security/openssl.hpp"
#include "protocol/streams/busy_time.hpp"
#include "protocol/streams/dial.hpp"
#include "protocol/streams/line_count.hpp"
#include "protocol/streams/packing.hpp"
#include "protocol/streams/record.hpp"

namespace clique::protocol {

class Stream;

/// Number of streams over which this process spreads large transfers to another one, and back.
/// @param round_trip of the way to it; 0 if it is not known. What the system keeps under way on one
/// connection is limited, so a long way needs several.
/// @param encryption if it covers the transfers, they take several times as much of a processor per byte
unsigned stream_count(std::chrono::nanoseconds round_trip, Encryption encryption);

/// How many bytes of large transfers may be under way to another process at a time: enough for the streams
/// and for the stages of a transfer at both ends to be busy, and no more, since transfers that begin later
/// wait for these. The parameters are those of stream_count().
std::size_t window_size(std::chrono::nanoseconds round_trip, Encryption encryption);

/// Bytes of the parts of a transfer that `streams` streams carry, each about the same amount: at most
/// kPartSize, and at least kLeastPartSize.
std::size_t part_size(std::uint64_t size, unsigned streams);

/// Lines (protocol/README.md) that carry parts of large transfers in both directions at the same time, each
/// on a connection of its own. Two threads serve a line: one sends what is queued for all lines, the other
/// one receives. One end connects, and connects again when a connection breaks; the other end accepts. What
/// the other end has not acknowledged is kept, and sent again on the line's next connection. Thread-safe.
class StreamSet : private OpensslUser {
 public:
  /// Receives what arrives. The functions are called on threads of the set, by several of them at a time.
  class Owner {
   public:
    virtual ~Owner() = default;
    /// Whether others may read the memory of place() before arrived(). Then nothing is written there that
    /// would have to be authentic and is not yet.
    virtual bool exposes_memory() const = 0;
    /// Memory for the payload of a part, which is about to arrive. It is released after arrived(), or when
    /// the connection breaks: then the part comes again. May throw DecodeError, and is called only for parts
    /// with a payload.
    /// @returns null: the payload is to arrive in memory of the set
    virtual std::shared_ptr<std::byte> place(const RecordHeader& part) = 0;
    /// A part has arrived. May throw DecodeError.
    /// @param part its payload's owner is what place() returned; if that was null, the bytes are valid during
    /// the call only
    virtual void arrived(PeerData&& part) = 0;
    /// The set is of no use any more: a line could not be restored in time, or the other end has broken the
    /// rules. Called once. Must not call the set.
    virtual void failed(const std::string& reason) = 0;
  };

  /// The end that accepts, and waits for connections as long as the other end needs. `owner` must live until
  /// close() has returned.
  explicit StreamSet(Owner& owner, Compression compression = Compression::Auto);
  /// The end that connects.
  /// @param patience how long a line may be without a connection; 0: a connection that ends is an error
  /// @param sending measures Traffic::sending, of several sets together if they share it
  StreamSet(Owner& owner, std::chrono::milliseconds patience, StreamTarget target,
            std::shared_ptr<BusyTime> sending = std::make_shared<BusyTime>());
  /// close().
  ~StreamSet() override;
  StreamSet(const StreamSet&) = delete;
  StreamSet& operator=(const StreamSet&) = delete;

  /// Opens lines until there are `count`; fewer if this process has many already, but at least one. Does not
  /// wait for their connections. For the end that connects.
  /// @param ids the number of the first line, if the other end has lines of this end only; 0: random numbers
  void open(unsigned count, LineId first);
  /// Goes on with a line on this connection, whose request is authentic. For the end that accepts. Waits for
  /// other threads of the set only.
  /// @returns false if the connection is older than the line's present one, or has ended already
  /// Throws DecodeError if the request breaks the rules.
  bool accept(Fd socket, const StreamRequest& request, std::span<const std::uint8_t> secret);

  /// Queues a part. It is sent when a line can take it; what is queued while there is no line waits. Dropped
  /// after failed() and close(). Never waits. Its owner is released, on any thread, when the other end has
  /// the part, or by close().
  void send(PeerData&& part);
  /// Whether parts wait for a line that can take them.
  bool busy();

  struct Traffic {
    /// Bytes of the parts that were sent, each time, and that have arrived, as they are without compression.
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t lines = 0;  ///< that have carried data
    /// The time in which the other end had not acknowledged all that was sent. If connections cannot be
    /// resumed, nothing is acknowledged: the time in which the system was taking parts.
    std::chrono::nanoseconds sending{0};
    /// The time in which at least one part was arriving: its header had come, and not all of it.
    std::chrono::nanoseconds receiving{0};
  };
  Traffic traffic();

  /// Ends all connections and threads, and drops what is queued. Returns when no thread of the set runs and
  /// no payload is read any more. Not for a thread of the set. Further calls do nothing.
  void close();

 private:
  // OpensslUser: ends all connections and threads. The set cannot be used from now on.
  void stop_use() override;

  struct Line;
  /// Memory of a thread that receives.
  struct Scratch {
    std::vector<std::byte> content;
    std::vector<std::byte> packed;
  };
  using Lock = std::unique_lock<std::mutex>;

  Line& add_line(LineId id);
  /// The body of a line's thread that sends.
  void write(Line& line);
  /// Waits for something to send, and sends it. @returns false when this is no longer the line's connection
  bool send_next(Line& line, const std::shared_ptr<Stream>& stream);
  /// The line's connection, which this makes if need be. @returns null at the end
  std::shared_ptr<Stream> connection(Line& line);
  /// connection() for the end that connects: one attempt. @returns why it failed; empty if it did not
  std::string dial(Line& line, Lock& lock);

  /// The body of a line's thread that receives.
  void read(Line& line);
  void receive_one(Line& line, Stream& stream, Scratch& scratch);
  void take_part(Line& line, Stream& stream, const RecordHeader& header, Scratch& scratch);
  void acknowledge(Line& line, Stream& stream);

  // Under mutex_:

  bool ended() const { return closed_ || failed_; }
  /// From now on `stream` is the line's connection.
  /// @param received parts that the other end has
  /// @returns payloads' owners to be released without the lock. Throws DecodeError.
  std::vector<PeerData> install(Line& line, std::shared_ptr<Stream> stream, std::uint64_t received);
  /// The other end has this many parts. @returns as install()
  std::vector<PeerData> received_there(Line& line, std::uint64_t parts);
  /// Notes that the line carries data.
  void note_use(Line& line);
  /// Whether the line takes its share of what is queued.
  bool takes_part(const Line& line) const;
  /// Waits for something to send on this connection. Throws StreamBroken.
  void await_work(Line& line, const std::shared_ptr<Stream>& stream, Lock& lock);
  /// To be called when a line has gained or lost its connection: which of them take part, and over what way.
  /// @returns what the connections have carried together
  Delivery choose_lines();
  /// Measures the lines that take part, now and then, and changes their number.
  void measure_lines();
  /// Wakes all threads that have a connection to send on.
  void wake_writers();
  /// Waits until no thread receives from the line's last connection, which has ended.
  void await_reader(Line& line, Lock& lock);
  void shut_all();
  /// The part of close() that stop_use() does.
  void end_threads();

  /// The connection has ended.
  void drop(Line& line, const std::shared_ptr<Stream>& stream, const std::string& why);
  /// The same, and nothing has come through it, for a reason that has to do with UCX.
  void drop_fruitless(Line& line, const std::shared_ptr<Stream>& stream, const std::string& why);
  /// To be called while an exception of the stream is handled: drops the stream, or fails if another one
  /// would not help.
  void end_failed(Line& line, const std::shared_ptr<Stream>& stream);
  void fail(const std::string& reason);

  Owner& owner_;
  const std::chrono::milliseconds patience_;
  const std::optional<StreamTarget> target_;  // for the end that connects
  const Compression compression_;
  const std::shared_ptr<BusyTime> sending_;
  BusyTime receiving_;

  std::mutex mutex_;                 // guards the members below
  std::condition_variable work_;     // for threads that have a connection to send on, if it takes part
  std::condition_variable aside_;    // for those whose connection does not
  std::condition_variable changed_;  // for all other reasons to wait
  std::map<LineId, std::unique_ptr<Line>> lines_;
  std::deque<PeerData> queue_;
  LineCount count_;  // of the lines that take parts from queue_
  Traffic traffic_;  // without its times
  bool failed_ = false;
  bool closed_ = false;
};

}  // namespace clique::protocol
