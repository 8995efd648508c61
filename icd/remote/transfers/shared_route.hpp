#pragma once

#include <memory>

#include "icd/remote/transfers/uploads.hpp"

namespace clique::protocol {
class SharedMemory;
}

namespace clique::icd {

class Outbox;

/// Sends the parts of large transfers to a worker that shares memory with this process.
class SharedRoute final : public Uploads::Way {
 public:
  SharedRoute(std::shared_ptr<protocol::SharedMemory> shared, Outbox& outbox);
  void send(protocol::PeerData&& part) override;

 private:
  const std::shared_ptr<protocol::SharedMemory> shared_;
  Outbox& outbox_;
};

}  // namespace clique::icd
