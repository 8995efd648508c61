#pragma once

#include <string>

namespace clique::daemon {

/// Reports a state of this process to systemd, as sd_notify(3) does. Does nothing when systemd did not start
/// it.
void notify_systemd(const std::string& state);

}  // namespace clique::daemon
