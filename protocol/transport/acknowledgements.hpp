#pragma once

#include <cstddef>

#include "protocol/limits.hpp"
#include "protocol/transport/incoming.hpp"

namespace clique::protocol {

/// Tells the receiving end of a line when to acknowledge what has arrived. One thread at a time.
class Acknowledgements {
 public:
  /// To be called after every batch. @returns whether an acknowledgement is due.
  bool due_after(const Incoming& incoming) {
    ++batches_;
    bytes_ += bytes_of(incoming);
    if (batches_ < kBatchesToAcknowledge && bytes_ < kBytesToAcknowledge) return false;
    *this = {};
    return true;
  }

 private:
  // Since the last acknowledgement.
  unsigned batches_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace clique::protocol
