#pragma once

#include <memory>

#include "protocol/transport/line.hpp"
#include "protocol/transport/repair.hpp"

namespace clique::icd {

/// A line (protocol/transport/line.hpp) to a worker, and the state of its repair.
struct TendedLine {
  std::shared_ptr<protocol::Line> line;
  protocol::Repair repair = {};
};

}  // namespace clique::icd
