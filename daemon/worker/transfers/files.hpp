#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "daemon/common/control.hpp"
#include "daemon/common/file_status.hpp"
#include "daemon/worker/backend.hpp"
#include "daemon/worker/transfers/file_threads.hpp"
#include "daemon/worker/transfers/transfers.hpp"
#include "protocol/fd.hpp"
#include "protocol/messages/files.hpp"

namespace clique::daemon {

/// The files of the node that a session reads and writes (docs/decisions/0034). The starter opens them: it
/// knows what the client may open, and this process sees no files of others. Content goes in parts of
/// kPartSize, as it does between workers: what is read is pushed to an Expect, here or elsewhere, and what is
/// written comes from a Push. Main thread.
class Files {
 public:
  /// Asks the starter for a file, which opened() answers.
  using Ask = std::function<void(const FileRequest&)>;

  Files(const Surroundings& surroundings, Backend& backend, Ask ask);
  /// Where reads for this worker go. To be called before the first one.
  void use(Transfers& transfers) { transfers_ = &transfers; }
  ~Files();
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  // What the client asks for. They throw RuleBroken.

  void open(protocol::CreateFile&& message);
  void query(const protocol::QueryFile& message);
  void read(protocol::ReadFile&& message);
  /// @returns where the transfer goes, which the message announces
  std::unique_ptr<TransferSink> write(const protocol::WriteFile& message);
  /// @returns whether it is a file
  bool release(protocol::ObjectId id) { return files_.erase(id) > 0; }

  /// The starter has answered. @param descriptor of the file; without one, the notice says why
  void opened(const Notice& answer, Fd descriptor);
  /// Whether the starter has yet to answer.
  bool waiting() const { return !unanswered_.empty(); }

 private:
  struct File;
  class ReadJob;
  class WriteJob;
  class Sink;
  using FileRef = std::shared_ptr<File>;

  const FileRef& get(protocol::ObjectId id) const;
  /// Calls `action` when it is known whether the file could be opened.
  static void when_known(const FileRef& file, std::function<void()> action);
  /// The starter has nothing else to answer: asks for the next file.
  void ask_next();
  /// Opens the file that the starter was asked for last for the device, too.
  /// @param descriptor of the same file with O_DIRECT; without one, `failure` says why
  void open_direct(const FileRef& file, Fd descriptor, const std::string& failure);
  /// It is known what has become of the file that the starter was asked for last.
  void make_known();
  /// Logs that the device does not read the file. Any thread.
  void note_refusal(const File& file, const std::string& why);
  /// Starts the next ReadJobs, if there may be more.
  void start_reads();
  /// Tells the client, for people, why a command on the file has failed. Any thread.
  void explain(const File& file, const char* verb, const FileError& error) const;

  const Surroundings surroundings_;
  Backend& backend_;
  const Ask ask_;
  Transfers* transfers_ = nullptr;
  FileThreads threads_;
  std::map<protocol::ObjectId, FileRef> files_;
  std::deque<FileRef> unanswered_;     // the starter knows the first one only
  std::atomic<bool> refused_ = false;  // the log names a file that the device does not read
  std::deque<std::shared_ptr<ReadJob>> reads_;
  unsigned reading_ = 0;
};

}  // namespace clique::daemon
