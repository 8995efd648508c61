#pragma once

#include <cstdint>
#include <string>

namespace clique::daemon {

/// When GPUs read files through NVIDIA's cuFile (docs/decisions/0041).
enum class CuFileUse : std::uint8_t {
  Auto,    ///< where the content goes from the disk to the GPU, past the host's memory
  Always,  ///< also where cuFile itself copies it through the host's memory
  Never
};

/// "auto", "always" or "never". Throws std::invalid_argument.
CuFileUse parse_cufile_use(const std::string& text);

/// Sets the environment by which cuFile, which reads it when it is opened, does what is wanted. To be called
/// while the process has one thread.
void prepare_cufile(CuFileUse use);

}  // namespace clique::daemon
