#include "daemon/worker/transfers/cufile_use.hpp"

#include <stdexcept>

#include "daemon/common/environment.hpp"

namespace clique::daemon {

CuFileUse parse_cufile_use(const std::string& text) {
  if (text == "auto") return CuFileUse::Auto;
  if (text == "always") return CuFileUse::Always;
  if (text == "never") return CuFileUse::Never;
  throw std::invalid_argument("'" + text + "' does not say when to use cuFile; write auto, always or never");
}

void prepare_cufile(CuFileUse use) {
  if (use == CuFileUse::Never) return;
  // Without compatibility mode, cuFile refuses what it would have to copy through the host's memory.
  set_environment("CUFILE_ALLOW_COMPAT_MODE", use == CuFileUse::Always ? "true" : "false");
  // It would write to the working directory, which is not this process's to write to.
  if (!environment("CUFILE_LOGFILE_PATH")) set_environment("CUFILE_LOGFILE_PATH", "/dev/null");
}

}  // namespace clique::daemon
