#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "protocol/payload.hpp"

namespace clique::protocol {

/// One received batch. Everything it holds stays alive as long as a payload's owner does.
struct Incoming {
  std::string routing_id;  ///< of the sender, on ROUTER sockets
  std::span<const std::byte> records;
  std::vector<Payload> frames;
  std::shared_ptr<const void> owner;
};

}  // namespace clique::protocol
