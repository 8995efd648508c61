#include "daemon/server/nvidia_driver.hpp"

#include <stdexcept>

namespace clique::daemon {

NvidiaDriver parse_nvidia_driver(const std::string& text) {
  if (text == "cuda") return NvidiaDriver::Cuda;
  if (text == "opencl") return NvidiaDriver::OpenCl;
  throw std::invalid_argument("'" + text + "' is not a way to use NVIDIA GPUs; write 'cuda' or 'opencl'");
}

}  // namespace clique::daemon
