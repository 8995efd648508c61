// Measuring all kernels that a library enqueues, whether or not it returns their events.
#pragma once

#include <functional>

namespace bench::kernels {

/// The nanoseconds that the device spends in the kernels that this process enqueues during `work`, on queues
/// with profiling. All of them have completed when the function returns.
double kernel_nanoseconds(const std::function<void()>& work);

}  // namespace bench::kernels
