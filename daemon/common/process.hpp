#pragma once

namespace clique::daemon {

/// Sets up what all processes of cliqued have in common, and their children inherit: as many file descriptors
/// as the hard limit allows, and no signal that another process's end or a terminal's causes: SIGPIPE and
/// SIGHUP are ignored (the daemon reads SIGHUP; run_daemon()). To be called before anything else.
void set_up_process();

/// Makes this process die with its parent, even while it does not look at the control channel. To be called
/// before anything else in a child.
void die_with_parent();

}  // namespace clique::daemon
