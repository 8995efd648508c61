#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

namespace clique::cli::trace_summary {

/// Reads the file of a trace packet by packet.
class TraceFile {
 public:
  /// Throws Failed if the file cannot be read, or is empty.
  explicit TraceFile(const std::string& path);

  /// @returns the next packet; nothing at the end. Throws Failed if the file is not a trace.
  std::optional<std::string> next();
  /// Whether the file ended within a packet.
  bool cut_off() const { return cut_off_; }

 private:
  std::optional<std::uint64_t> varint();

  const std::string path_;
  std::ifstream stream_;
  bool cut_off_ = false;
};

}  // namespace clique::cli::trace_summary
