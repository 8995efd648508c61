#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/trace/trace_slice.hpp"

namespace clique::cli::trace_summary {

/// Time spans, which may overlap.
class Spans {
 public:
  void add(std::int64_t begin, std::int64_t end) { spans_.emplace_back(begin, end); }
  std::size_t count() const { return spans_.size(); }
  /// The time, in ns, during which there is at least one.
  std::int64_t covered() const;

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> spans_;
};

/// How often something happened, and how long it took altogether, in ns.
struct Sum {
  std::size_t count = 0;
  std::int64_t time = 0;

  void add(const TraceSlice& slice) {
    ++count;
    time += slice.end - slice.begin;
  }
};

/// The figures of a trace. Times in ns.
struct Figures {
  struct Device {
    Spans busy;
    std::map<std::string, Sum> kernels;  ///< by name
  };
  struct Transfers {
    Spans spans;
    std::uint64_t bytes = 0;
  };
  struct Migrations {
    Sum sum;
    std::uint64_t bytes = 0;
    std::string route;
  };

  void add(const TraceSlice& slice);
  bool empty() const { return begin > end; }

  std::int64_t begin = INT64_MAX;
  std::int64_t end = INT64_MIN;
  std::map<std::string, Device> devices;         ///< by name
  std::map<std::string, Sum> api;                ///< by entry point
  std::map<std::string, Sum> waits;              ///< by what was waited for
  std::map<std::string, Transfers> transfers;    ///< by their places and way
  std::map<std::string, Sum> compilations;       ///< by node
  std::map<std::string, Migrations> migrations;  ///< by their reason
};

}  // namespace clique::cli::trace_summary
