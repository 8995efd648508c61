#include "daemon/server/configuration/nvidia_driver.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <system_error>

#include "daemon/common/environment.hpp"
#include "daemon/common/spawn.hpp"

namespace clique::daemon {

NvidiaDriver parse_nvidia_driver(const std::string& text) {
  if (text == "cuda") return NvidiaDriver::Cuda;
  if (text == "opencl") return NvidiaDriver::OpenCl;
  throw std::invalid_argument("'" + text + "' is not a way to use NVIDIA GPUs; write 'cuda' or 'opencl'");
}

void make_nvidia_devices(NvidiaDriver driver) {
  constexpr const char* kProgram = "/usr/bin/nvidia-modprobe";
  const auto exists = [](const char* path) { return ::access(path, F_OK) == 0; };
  if (driver != NvidiaDriver::Cuda || !exists(kProgram) ||
      (exists("/dev/nvidiactl") && exists("/dev/nvidia-uvm")))
    return;
  NewProcess process;
  process.program = kProgram;
  process.arguments = {kProgram, "-u", "-c", "0"};
  process.environment = environment_without({});
  process.null_io = true;
  try {
    const pid_t pid = spawn(std::move(process), kProgram);
    ::waitpid(pid, nullptr, 0);
  } catch (const std::system_error&) {
    // Then there are no GPUs to use, which the list of devices tells.
  }
}

}  // namespace clique::daemon
