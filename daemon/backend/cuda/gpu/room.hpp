// A process that has used most of a GPU's memory needs up to a second to end, and the program whose session
// it served is gone by then. The next program must not fail for that.
#pragma once

#include <functional>

#include "daemon/backend/cuda/gpu/driver.hpp"

namespace clique::daemon::cuda {

/// Calls allocate(), and again while it returns CUDA_ERROR_OUT_OF_MEMORY and other processes hold an eighth
/// of the memory of the current context's GPU or more. Waits for 2 s altogether, counting all calls in this
/// process, so that a session whose GPU stays full fails as it does without. Any thread.
/// @returns the last result
CUresult when_there_is_room(const std::function<CUresult()>& allocate);

}  // namespace clique::daemon::cuda
