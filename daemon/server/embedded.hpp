#pragma once

namespace clique::daemon {

class ControlChannel;

/// `cliqued embedded`: tells the application at the other end of the control channel of this host's drivers,
/// starts the workers that it asks for, and ends when it closes the channel. @returns the exit status.
int run_embedded(const ControlChannel& control);

}  // namespace clique::daemon
