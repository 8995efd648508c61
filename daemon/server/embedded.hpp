#pragma once

namespace clique::daemon {

/// `cliqued embedded`: starts one worker for each driver of this host, for the application at the other end
/// of the control channel, and ends when that closes it. @returns the exit status.
int run_embedded(int control_fd);

}  // namespace clique::daemon
