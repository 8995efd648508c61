#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "icd/remote/nodes/discovery.hpp"

namespace clique::icd {

/// The services of a type that Avahi's daemon finds in the local network: those that it knows, or if it knows
/// none, those that answer until the deadline. Opens libavahi-client.so.3 at run time. Throws
/// std::runtime_error if there is no Avahi.
std::vector<Announced> ask_avahi(const std::string& type, std::chrono::steady_clock::time_point deadline);

}  // namespace clique::icd
