// What drives UCX in a process. Only for channels (ucx_channel.cpp).
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "protocol/fd.hpp"
#include "protocol/streams/ucx_library.hpp"
#include "protocol/streams/ucx_message.hpp"

namespace clique::protocol {

using UcxClock = std::chrono::steady_clock;
using UcxLock = std::unique_lock<std::mutex>;

/// The number of Clique's active messages.
inline constexpr unsigned kUcxMessage = 1;

/// UCX's functions. Throws UcxError.
const UcxLibrary& ucx();

/// Throws UcxError. @param what the step that has failed
[[noreturn]] void throw_ucx(const char* what, ucs_status_t status);

/// A variable of UCX's own; empty if it is not set.
std::string_view ucx_variable(const char* name);

/// A channel as the engine's thread sees it. All functions are called under the engine's mutex.
class UcxEnd {
 public:
  virtual ~UcxEnd() = default;
  /// A record arrives. @returns whether it keeps the data
  virtual bool take(const UcxHeader& header, std::size_t size, void* data) = 0;
  /// The channel is of no use any more.
  virtual void end(const std::string& why) = 0;
  /// After end(): gives UCX everything back.
  virtual void close() = 0;
  /// Whether UCX knows nothing of it any more.
  virtual bool closed() const = 0;
};

/// UCX in this process: its context, one worker, and the thread that drives it while there are channels.
/// Never destroyed, since UCX's own threads use it until the process ends. While the process exits, UCX's
/// libraries clean up; nothing may call UCX from then on.
class UcxEngine {
 public:
  /// That of a network interface. Throws UcxError.
  /// @param interface empty: UCX chooses
  static UcxEngine& at(const std::string& interface);
  /// To be called before UCX's libraries clean up.
  static void stop_all();

  std::mutex mutex;  // guards UCX's worker, and the channels
  ucp_worker_h worker = nullptr;
  bool exits = false;  // the process exits; under `mutex`

  /// Adds a channel under a random number that strangers cannot guess. Throws StreamBroken. @returns the
  /// number
  std::uint64_t add(UcxEnd& channel);
  void remove(std::uint64_t number);

  // Under `mutex`:

  /// Has the thread look after what was just begun.
  void wake() const {
    if (sleeps_) ucx().worker_signal(worker);
  }
  /// From now on the end of this connection ends the channel.
  void watch(int socket, std::uint64_t number) const;
  void unwatch(int socket) const;
  /// Has the thread close the channel's endpoint.
  void close(UcxEnd& channel) {
    closing_.push_back(&channel);
    wake();
  }

 private:
  explicit UcxEngine(const std::string& interface);
  void stop();
  static ucs_status_t take(void* engine, const void* header, std::size_t header_size, void* data,
                           std::size_t size, const ucp_am_recv_param_t* how);
  void run();
  void sleep(UcxLock& lock);

  static std::mutex engines_lock;
  static std::map<std::string, UcxEngine*>& engines();  // under engines_lock

  const pid_t process_ = ::getpid();
  Fd events_;        // an epoll instance
  std::mutex life_;  // guards thread_
  std::thread thread_;
  // Under mutex:
  std::map<std::uint64_t, UcxEnd*> channels_;
  std::vector<UcxEnd*> closing_;
  bool sleeps_ = false;
  bool stops_ = false;
};

}  // namespace clique::protocol
