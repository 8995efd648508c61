#pragma once

#include <string>

namespace clique::protocol {

/// What tells this running host, which may be a virtual machine, from all others: the kernel's boot_id. Empty
/// if it cannot be read. Thread-safe.
std::string host_id();

}  // namespace clique::protocol
