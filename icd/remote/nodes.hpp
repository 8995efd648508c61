#pragma once

#include <memory>
#include <string>
#include <vector>

#include "icd/remote/link.hpp"

namespace clique::icd {

/// The nodes of this process, opened: one link per worker, in the order of configuration.
/// Nodes come from CLIQUE_NODES, else ~/.config/clique/nodes.toml, else /etc/clique/nodes.toml, else private
/// workers are started on this host. All are opened at the same time; one that cannot be reached is reported
/// once on stderr with its cause and left out.
/// @param zmq has to outlive the links.
std::vector<std::unique_ptr<Link>> open_nodes(zmq::context_t& zmq);

}  // namespace clique::icd
