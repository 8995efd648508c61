#pragma once

#include <atomic>
#include <string>

#include "icd/remote/link/inbox.hpp"

namespace clique::icd {

class Answers;
class BulkLines;
class GuestSegments;
class LinkControl;
class Reports;
class Uploads;

/// Takes each message of a worker to where it belongs: replies to the requests that wait for them, reports to
/// the link's user, acknowledgements to the uploads. For the receiving thread.
class ReportDispatch {
 public:
  /// @param segments null: the session can place none
  ReportDispatch(Answers& answers, Uploads& uploads, BulkLines& bulk, Inbox& inbox, LinkControl& control,
                 GuestSegments* segments)
      : answers_(answers),
        uploads_(uploads),
        bulk_(bulk),
        inbox_(inbox),
        control_(control),
        segments_(segments) {}

  /// Sets where reports go; until then, the worker must not send any. Any thread.
  void start(Reports& receiver) { receiver_.store(&receiver, std::memory_order_release); }
  /// Null before start(). Any thread.
  Reports* receiver() const { return receiver_.load(std::memory_order_acquire); }

  /// Throws DecodeError if the message is not allowed now.
  void take(WorkerMessage&& message);
  /// The reason with which the worker ended the session; empty if it did not.
  const std::string& last_words() const { return last_words_; }

 private:
  template <typename M>
  void take_one(M&& message);
  void take_report(protocol::Attached&& attached);
  void take_report(protocol::SessionEnded&& end);
  void take_report(protocol::EventState&& state);
  void take_report(protocol::Data&& data);
  void take_report(protocol::Print&& text);
  void take_report(protocol::Failed&& failure);
  void take_report(protocol::PeerLost&& loss);
  void take_report(protocol::PeerSilent&& silence);
  void take_report(protocol::PeerData&& part);
  void take_report(protocol::Taken&& taken);
  void take_report(protocol::SegmentFreed&& freed);
  /// Throws DecodeError before start().
  Reports& reports() const;

  Answers& answers_;
  Uploads& uploads_;
  BulkLines& bulk_;
  Inbox& inbox_;
  LinkControl& control_;
  GuestSegments* const segments_;
  std::atomic<Reports*> receiver_{nullptr};
  std::string last_words_;
};

}  // namespace clique::icd
