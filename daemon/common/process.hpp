#pragma once

#include <span>
#include <string>

namespace clique::daemon {

/// Sets up what all processes of cliqued have in common, and their children inherit: as many file descriptors
/// as the hard limit allows, and no signal that another process's end or a terminal's causes: SIGPIPE and
/// SIGHUP are ignored (the daemon reads SIGHUP; run_daemon()). To be called before anything else.
void set_up_process();

/// Names this process for tools that show only the file's name otherwise ("exe"), such as ss:
/// "cliqued-worker" for the role "worker". @param arguments of main(), whose memory set_process_title() uses
/// from now on; the process must have read them before
void name_process(const std::string& role, std::span<char* const> arguments);

/// Sets what tools such as ps show as this process's command line. Cut off to the length of the arguments
/// that it was started with. The text may come from others: protocol::printable() escapes it. One thread.
void set_process_title(const std::string& title);

/// Makes this process die with its parent, even while it does not look at the control channel. To be called
/// before anything else in a child.
void die_with_parent();

}  // namespace clique::daemon
