#include "cli/trace/trace_figures.hpp"

#include <algorithm>

#include "icd/trace/names.hpp"

namespace clique::cli::trace_summary {

using namespace icd::trace;

std::int64_t Spans::covered() const {
  auto spans = spans_;
  std::sort(spans.begin(), spans.end());
  std::int64_t total = 0;
  std::int64_t until = INT64_MIN;
  for (const auto& [begin, end] : spans) {
    if (end <= until) continue;
    total += end - std::max(begin, until);
    until = end;
  }
  return total;
}

void Figures::add(const TraceSlice& slice) {
  begin = std::min(begin, slice.begin);
  end = std::max(end, slice.end);
  if (slice.category == kApi) {
    // The time of a call within another one is that of the other, too.
    if (slice.facts.find(kWithin) == slice.facts.end()) api[slice.name].add(slice);
  } else if (slice.category == kWait) {
    waits[slice.name].add(slice);
  } else if (slice.category == kKernel || slice.category == kCommand) {
    Device& device = devices[slice.text(icd::trace::kDevice)];
    device.busy.add(slice.begin, slice.end);
    if (slice.category == kKernel) device.kernels[slice.name].add(slice);
  } else if (slice.category == kTransfer || slice.category == kMigration) {
    const std::string route = slice.text(kFrom) + " → " + slice.text(kTo) + ", " + slice.text(kWay);
    Transfers& sum = transfers[route];
    sum.spans.add(slice.begin, slice.end);
    sum.bytes += slice.number(kBytes);
    if (slice.category == kMigration) {
      Migrations& one = migrations[slice.text(kReason)];
      one.sum.add(slice);
      one.bytes += slice.number(kBytes);
      one.route = route;
    }
  } else if (slice.category == kCompilation) {
    compilations[slice.text(kNode)].add(slice);
  }
}

}  // namespace clique::cli::trace_summary
