#pragma once

#include <string>

namespace clique::protocol {

/// Whether a ZeroMQ endpoint is tcp://HOST:PORT, with a name, an IPv4 address or an IPv6 address in brackets.
/// One that another process names must be nothing else: ZeroMQ has endpoints for sockets of the host and of
/// the process itself, and for the address to connect from.
bool is_tcp_endpoint(const std::string& endpoint);

}  // namespace clique::protocol
