#pragma once

namespace clique::daemon {

class ControlChannel;

/// `cliqued embedded`: starts one worker for each driver of this host, for the application at the other end
/// of the control channel, and ends when that closes it. @returns the exit status.
int run_embedded(const ControlChannel& control);

}  // namespace clique::daemon
