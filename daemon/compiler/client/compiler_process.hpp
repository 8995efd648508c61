// The worker's side of clique-compiler. The compiler is a process of its own, because LLVM must not share a
// process with the node's other drivers, and because a program may crash the compiler or keep it busy for
// ever.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "daemon/common/find_compiler.hpp"
#include "daemon/compiler/client/cache.hpp"
#include "daemon/compiler/contract/request.hpp"

namespace clique::daemon::compiler {

/// Runs one clique-compiler. It starts with the first request or with warm(), stays for further requests, and
/// is started again if it has died. It handles one request at a time; not thread-safe.
class CompilerProcess {
 public:
  /// @param program path of clique-compiler; empty: every request fails
  explicit CompilerProcess(std::string program, Cache cache = Cache::from_environment());
  ~CompilerProcess();

  /// Does in advance what the first request would wait for: hashes the compiler's files for the cache key and
  /// starts the process. Does not wait until the process is ready.
  void warm();

  /// Answers the request from the cache or lets the process compile. If the process dies or takes longer than
  /// `limit`, it is killed, and the result is a failure whose log says so.
  Result run(const Request& request, std::chrono::seconds limit);

 private:
  class Process;
  Process& running();
  Result compile(const Request& request, std::chrono::seconds limit);
  /// Hash of the files that the compiler consists of: the program, the device library and libdevice.
  const CacheKey& identity();
  CacheKey key_of(const Request& request);

  std::string program_;
  Cache cache_;
  std::unique_ptr<Process> process_;
  std::optional<CacheKey> compiler_;  ///< what identity() returns, once computed
};

}  // namespace clique::daemon::compiler
