// A process that is handed a connection could dissolve it (connect() with AF_UNSPEC), and then connect the
// socket to anything else, or have it listen. A filter on the socket (SO_ATTACH_FILTER) prevents that: the
// kernel drops all packets but those of one peer before they reach the socket, and whoever has the socket
// cannot undo it. Linux may refuse filters of TCP sockets to unprivileged processes.
#pragma once

namespace clique::daemon::confinement {

/// From now on the socket receives nothing from others than its present peer. Does nothing to sockets that
/// can have no other peer, those that are not TCP's, and in processes that cannot (can_fix_peers()). Any
/// thread. Throws std::system_error, also if the connection has ended: a process must not get the socket
/// then.
void fix_peer(int socket);

/// Throws std::runtime_error with the reason if this process cannot fix peers: kernels may demand
/// CAP_NET_ADMIN.
void try_fixing_a_peer();

/// Whether this process can fix peers, as it could when it was first asked. Any thread.
bool can_fix_peers();

}  // namespace clique::daemon::confinement
