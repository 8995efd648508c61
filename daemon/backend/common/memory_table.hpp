#pragma once

#include "daemon/backend/common/checks.hpp"
#include "daemon/backend/common/table.hpp"

namespace clique::daemon {

/// Buffers and images by their ids. Main thread.
/// @tparam Memory has `size` in bytes, is_image(), transfer_unit(), the bytes of a pixel of an image or 1,
/// and `placed`, which is true for a buffer at an address that the client chose
template <typename Memory>
class MemoryTable : public Table<Memory> {
 public:
  using Ref = std::shared_ptr<Memory>;

  MemoryTable() : Table<Memory>("memory object") {}

  // Like get(), these throw RuleBroken and ClError.

  const Ref& buffer(protocol::ObjectId id) const {
    const Ref& memory = this->get(id);
    if (memory->is_image()) throw RuleBroken("image " + std::to_string(id) + " was used as a buffer");
    return memory;
  }
  const Ref& image(protocol::ObjectId id) const {
    const Ref& memory = this->get(id);
    if (!memory->is_image()) throw RuleBroken("buffer " + std::to_string(id) + " was used as an image");
    return memory;
  }
  /// A buffer that kernels may have pointers into.
  const Ref& placed(protocol::ObjectId id) const {
    const Ref& memory = buffer(id);
    if (!memory->placed)
      throw RuleBroken("a kernel has a pointer into buffer " + std::to_string(id) +
                       ", which was created without an address");
    return memory;
  }

  /// What a push reads.
  struct Pushed {
    Ref memory;
    Ref content_size;  ///< null: all of the range is pushed
  };
  Pushed pushed(const protocol::Push& message) const {
    Pushed result{this->get(message.object), nullptr};
    check_transfer(message.offset, message.size, result.memory->size, result.memory->transfer_unit(),
                   "a push");
    if (message.content_size == 0) return result;
    result.content_size = this->get(message.content_size);
    check_content_size(
        message, {result.memory->is_image(), result.content_size->is_image(), result.content_size->size});
    return result;
  }
  /// Where an expected transfer goes.
  const Ref& expected(const protocol::Expect& message) const {
    const Ref& memory = this->get(message.object);
    check_transfer(message.offset, message.size, memory->size, memory->transfer_unit(),
                   "an expected transfer");
    return memory;
  }
};

}  // namespace clique::daemon
