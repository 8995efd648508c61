// The worker's side of clique-compiler: a process of its own, because LLVM must not share one with the node's
// other drivers, and because what it is given may crash it or keep it busy for ever.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "daemon/compiler/client/cache.hpp"
#include "daemon/compiler/contract/request.hpp"

namespace clique::daemon::compiler {

/// The clique-compiler of this build or installation: what $CLIQUE_COMPILER says, else the one beside this
/// program. Empty where there is none.
std::string find_compiler();

/// A clique-compiler that is started when first needed (or by warm()), kept, and started again when it died.
/// One request at a time: for one thread.
class CompilerProcess {
 public:
  /// @param program path of clique-compiler
  explicit CompilerProcess(std::string program, Cache cache = Cache::from_environment());
  ~CompilerProcess();

  /// Does ahead what the first request would wait for: reads what the compiler consists of, and starts it, if
  /// it does not run. Does not wait until it is up.
  void warm();

  /// Answers from the cache, or has the process compile. A process that dies or takes longer than `limit` is
  /// killed; the result is then a failure whose log says so.
  Result run(const Request& request, std::chrono::seconds limit);

 private:
  class Process;
  Process& running();
  Result compile(const Request& request, std::chrono::seconds limit);
  /// Of what the compiler consists of.
  const CacheKey& identity();
  CacheKey key_of(const Request& request);

  std::string program_;
  Cache cache_;
  std::unique_ptr<Process> process_;
  std::optional<CacheKey> compiler_;  ///< once identity() was needed
};

}  // namespace clique::daemon::compiler
