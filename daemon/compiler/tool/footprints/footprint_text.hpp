// Footprints as text, for people who want to see what the analysis has understood.
#pragma once

#include <string>

#include "protocol/footprint.hpp"

namespace clique::daemon::compiler {

/// One line for the kernel and one for each access, such as
/// `  writes 4 bytes of argument 0 at (4 * sext(id(0))) if (id(0) < arg(1)), line 12`.
std::string footprint_text(const protocol::Footprint& footprint);

}  // namespace clique::daemon::compiler
