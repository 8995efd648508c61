#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "daemon/backend/cuda/execution/access_checks.hpp"
#include "daemon/backend/cuda/execution/module.hpp"
#include "daemon/backend/cuda/execution/pinned_memory.hpp"
#include "daemon/backend/cuda/execution/printf_buffers.hpp"
#include "daemon/backend/cuda/handlers/commands.hpp"
#include "daemon/backend/cuda/handlers/programs.hpp"

namespace clique::daemon::cuda {

struct Kernel {
  std::shared_ptr<const Module> module;
  const Function* function = nullptr;    ///< in `module`
  std::vector<std::uint8_t> parameters;  ///< the parameter block, with the arguments set so far
  struct Arg {
    bool set = false;
    bool object = false;               ///< whether `target` must still exist at a launch
    std::weak_ptr<const void> target;  ///< the buffer, image or sampler
    std::uint64_t local_size = 0;      ///< bytes, of a __local argument
    protocol::ObjectId sparse = 0;     ///< the sparse buffer that it is; 0: none
    CUdeviceptr memory = 0;            ///< of a buffer, or an image over one; 0: there is no linear memory
    std::uint64_t memory_size = 0;     ///< bytes; of an image, of its pixels without gaps if it has no memory
    CUdeviceptr image = 0;             ///< of an image, its clique_image; 0: it is none
  };
  std::vector<Arg> args;
};

/// Kernels: their arguments and launches, and what clients ask about them. Main thread.
class Kernels {
 public:
  /// What kernels use.
  struct Uses {
    const Device& device;
    Reporter& reporter;
    DeviceMemory& device_memory;
    PinnedMemory& pinned;
    Commands& commands;
    const Capture& capture;
    const Objects& objects;
    Programs& programs;
  };
  explicit Kernels(const Uses& uses) : uses_(uses), printf_buffers_(uses.device_memory) {}
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  void handle(protocol::CreateKernel&& message);
  void handle(protocol::QueryWorkGroup&& message);
  void handle(protocol::RunKernel&& message);
  /// @returns whether it was a kernel.
  bool release(protocol::ObjectId id) { return kernels_.erase(id); }

 private:
  void set_arg(Kernel& kernel, const protocol::KernelArg& arg) const;
  /// The parameter block of a launch: the arguments, with offsets in place of __local ones.
  struct Parameters {
    std::vector<std::uint8_t> block;
    std::uint32_t local_memory = 0;  ///< bytes of all __local arguments
  };

  // These throw ClError if the device cannot do what the launch asks for.

  /// @param choose_local whether the launch gives no local size
  /// @param expected RunKernel::expected
  Work launch(const Kernel& kernel, NdRange range, bool choose_local,
              const std::vector<protocol::ExpectedAccess>& expected);
  /// What the launch checks; null: nothing.
  std::shared_ptr<const AccessChecks> checks_of(const Kernel& kernel,
                                                const std::vector<protocol::ExpectedAccess>& expected) const;
  /// Gives a launch the memory of the sparse buffers that it uses.
  void hold_sparse(const Kernel& kernel, const std::vector<protocol::SparseUse>& uses, Work& work) const;
  void check_sizes(const Function& function, const NdRange& range) const;
  static Parameters parameters_of(const Kernel& kernel);
  /// The grids that the range is run as.
  std::vector<Grid> grids_of(const compiler::Kernel& kernel, const NdRange& range) const;
  /// Puts one grid into the stream.
  void launch_grid(const Function& function, const Grid& grid, Parameters& parameters, CUstream stream) const;

  const Uses uses_;
  PrintfBuffers printf_buffers_;
  Table<Kernel> kernels_{"kernel"};
};

}  // namespace clique::daemon::cuda
