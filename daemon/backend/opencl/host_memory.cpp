#include "daemon/backend/opencl/host_memory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <thread>

#include "daemon/worker/errors.hpp"
#include "protocol/transport/placed_memory.hpp"

namespace clique::daemon::opencl {

namespace {

/// How long to wait until a driver has released the memory of a former buffer.
constexpr std::chrono::seconds kRelease{1};

/// Tries whether the device writes to a buffer's host memory, and reads what the host has written there,
/// without mapping the buffer.
bool works_in_place(cl_device_id device) {
  constexpr std::size_t kSize = 4096;
  cl_int status = CL_SUCCESS;
  const Handle<cl_context> context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status));
  if (status != CL_SUCCESS) return false;
  const Handle<cl_command_queue> queue(clCreateCommandQueue(context.get(), device, 0, &status));
  if (status != CL_SUCCESS) return false;
  alignas(kSize) std::array<unsigned char, kSize> memory{};
  const Handle<cl_mem> buffer(
      clCreateBuffer(context.get(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, kSize, memory.data(), &status));
  if (status != CL_SUCCESS) return false;
  const unsigned char theirs = 1;
  if (clEnqueueFillBuffer(queue.get(), buffer.get(), &theirs, sizeof theirs, 0, kSize, 0, nullptr, nullptr) !=
          CL_SUCCESS ||
      clFinish(queue.get()) != CL_SUCCESS)
    return false;
  const bool written = std::all_of(memory.begin(), memory.end(), [&](auto byte) { return byte == theirs; });
  const unsigned char ours = 2;
  memory.fill(ours);
  std::array<unsigned char, kSize> seen{};
  return written &&
         clEnqueueReadBuffer(queue.get(), buffer.get(), CL_TRUE, 0, kSize, seen.data(), 0, nullptr,
                             nullptr) == CL_SUCCESS &&
         seen == memory;
}

template <typename T>
T ask(cl_device_id device, cl_device_info name) {
  return get_value<T>([device, name](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetDeviceInfo(device, name, size, value, size_ret);
  });
}

}  // namespace

bool uses_host_memory(cl_device_id device) {
  const auto type = ask<cl_device_type>(device, CL_DEVICE_TYPE);
  const auto svm = ask<cl_device_svm_capabilities>(device, CL_DEVICE_SVM_CAPABILITIES);
  // Devices other than processors reach only memory that their driver has allocated.
  const bool any_pointer = (svm & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM) != 0 ||
                           ((type & CL_DEVICE_TYPE_CPU) != 0 && (svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0);
  return any_pointer && works_in_place(device);
}

bool is_processor(cl_device_id device) {
  return (ask<cl_device_type>(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
}

std::shared_ptr<std::byte> allocate(std::uint64_t size) {
  const std::size_t page = protocol::PlacedMemory::page_size();
  void* memory = nullptr;
  if (size > std::numeric_limits<std::size_t>::max() - page || ::posix_memalign(&memory, page, size) != 0)
    throw ClError(CL_MEM_OBJECT_ALLOCATION_FAILURE,
                  "there is no memory for a buffer of " + std::to_string(size) + " bytes");
  return {static_cast<std::byte*>(memory), [](std::byte* first) { std::free(first); }};
}

cl_bitfield shared_memory_capabilities(cl_device_id device) {
  const cl_bitfield fine_grained = CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL |
                                   CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL |
                                   CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL;
  const auto svm = ask<cl_device_svm_capabilities>(device, CL_DEVICE_SVM_CAPABILITIES);
  return (svm & CL_DEVICE_SVM_ATOMICS) != 0
             ? fine_grained | CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ATOMIC_ACCESS_INTEL
             : fine_grained;
}

std::shared_ptr<std::byte> place(std::uint64_t address, std::uint64_t size) {
  if (address % protocol::PlacedMemory::page_size() != 0 || size == 0 ||
      size > std::numeric_limits<std::uint64_t>::max() - address)
    throw RuleBroken("a buffer of " + std::to_string(size) + " bytes cannot have the address " +
                     std::to_string(address) +
                     ": it must be aligned to a page, and the buffer must have bytes and end "
                     "below 2^64");
  std::shared_ptr<const protocol::PlacedMemory> memory = protocol::PlacedMemory::at(address, size);
  const auto patience = std::chrono::steady_clock::now() + kRelease;
  while (!memory && errno == EEXIST && std::chrono::steady_clock::now() < patience) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    memory = protocol::PlacedMemory::at(address, size);
  }
  if (!memory)
    throw ClError(CL_MEM_OBJECT_ALLOCATION_FAILURE,
                  "a buffer of " + std::to_string(size) +
                      " bytes cannot be allocated at its address, which is in use, "
                      "or there is no memory");
  std::byte* const first = memory->bytes().data();
  return {std::move(memory), first};
}

Handle<cl_mem> buffer_over(cl_context context, cl_mem_flags flags, std::shared_ptr<std::byte> memory,
                           std::uint64_t size) {
  using Keep = std::shared_ptr<std::byte>;
  cl_int status = CL_SUCCESS;
  Handle<cl_mem> buffer(clCreateBuffer(context, flags | CL_MEM_USE_HOST_PTR, size, memory.get(), &status));
  check(status, "clCreateBuffer");
  auto keep = std::make_unique<Keep>(std::move(memory));
  check(clSetMemObjectDestructorCallback(
            buffer.get(), [](cl_mem /*buffer*/, void* data) { delete static_cast<Keep*>(data); }, keep.get()),
        "clSetMemObjectDestructorCallback");
  static_cast<void>(keep.release());
  return buffer;
}

}  // namespace clique::daemon::opencl
