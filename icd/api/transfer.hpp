// What the entry points that transfer, copy, fill and map memory objects have in common.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "icd/api/arguments.hpp"
#include "icd/core/commands/work.hpp"

namespace clique::icd::api {

/// Enqueues the command of an entry point whose own arguments have been checked.
template <typename M>
cl_int enqueue(Queue& queue, Work<M> work, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
               cl_event* event) {
  const auto waits = wait_list(*queue.context(), num_events_in_wait_list, event_wait_list);
  give_event(queue.enqueue(std::move(work), waits, report_if(event != nullptr)), event);
  return CL_SUCCESS;
}

/// True if two ranges of `size` bytes, which begin at a and b in the same content, overlap.
inline bool meet(std::uint64_t a, std::uint64_t b, std::uint64_t size) {
  return a < b ? b - a < size : a - b < size;
}

/// Checks the origin and region of a command on an image (sections 5.3.3 and following). Throws
/// Error(CL_INVALID_VALUE).
void check_region(const Image& image, const protocol::Triple& origin, const protocol::Triple& region);

}  // namespace clique::icd::api
