#pragma once

#include <cstdint>
#include <memory>

namespace clique::daemon {

class Backend;
struct Surroundings;

/// Makes the backend that drives one NVIDIA GPU through CUDA's driver API. Built only where CLIQUE_HAS_CUDA
/// is defined.
/// @param device the GPU's number in CUDA's order
/// Throws std::runtime_error with a message for the user if the GPU cannot be used.
std::unique_ptr<Backend> make_cuda_backend(const Surroundings& surroundings, std::uint32_t device);

}  // namespace clique::daemon
