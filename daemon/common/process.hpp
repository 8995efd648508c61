#pragma once

namespace clique::daemon {

/// Makes this process die with its parent, even while it does not look at the control channel. To be called
/// before anything else in a child.
void die_with_parent();

}  // namespace clique::daemon
