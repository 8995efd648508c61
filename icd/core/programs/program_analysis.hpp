#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "icd/core/workers/replies.hpp"
#include "protocol/messages/programs.hpp"

namespace clique::icd {

class Worker;
struct IncludedFiles;

/// What the kernels of one build of a program read and write, as the first member of a combined device has
/// found out. Any thread.
class ProgramAnalysis {
 public:
  /// Asks the worker. Does not wait.
  /// @param request without the number and the files
  static std::shared_ptr<ProgramAnalysis> begin(Worker& worker, protocol::AnalyseProgram request,
                                                const IncludedFiles& files);

  /// Waits for the worker's answer. Receives while it waits.
  void wait() { replies_->wait(); }
  /// Whether the answer is there.
  bool known() const { return known_.load(std::memory_order_acquire); }
  /// The footprint of a kernel; null if nothing is known of it. Valid as long as this object. To be called
  /// once the answer is there.
  const protocol::Footprint* find(std::string_view kernel) const;
  /// Why nothing is known of any kernel; empty if the kernels are described.
  const std::string& failure() const { return failure_; }

 private:
  ProgramAnalysis() = default;

  std::shared_ptr<Replies<protocol::ProgramAnalysed>> replies_;
  std::atomic<bool> known_{false};
  // Set before known_.
  std::string failure_;
  std::vector<protocol::Footprint> footprints_;
};

}  // namespace clique::icd
