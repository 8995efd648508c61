// Times of the kernels that a library enqueues, however many, and whether or not it gives their events.
#pragma once

#include <functional>

namespace bench::kernels {

/// The nanoseconds that the device spends in kernels which this process enqueues during `work`, on queues
/// that profile. All of them have ended when it returns.
double kernel_nanoseconds(const std::function<void()>& work);

}  // namespace bench::kernels
