#include "icd/core/transfers/host_content.hpp"

#include <algorithm>
#include <new>

#include "icd/common/error.hpp"

namespace clique::icd {

HostBlock allocate_host_block(std::size_t size) {
  // Mapped memory has to be aligned for the largest OpenCL type: 16 components of 8 bytes.
  constexpr std::align_val_t kAlignment{128};
  auto* bytes =
      static_cast<std::byte*>(::operator new[](std::max<std::size_t>(1, size), kAlignment, std::nothrow));
  require(bytes != nullptr, CL_OUT_OF_HOST_MEMORY, "cannot allocate ", size, " bytes of host memory");
  return {bytes, [](std::byte* block) { ::operator delete[](block, kAlignment); }};
}

protocol::Payload payload(const HostContent& content, const std::byte* at, const protocol::Triple& bytes) {
  const std::size_t size = bytes[0] * bytes[1] * bytes[2];
  const Pitches packed = dense(bytes);
  const bool rows_join = bytes[1] == 1 || content.pitches.row == packed.row;
  const bool slices_join = bytes[2] == 1 || content.pitches.slice == packed.slice;
  // Messages copy small payloads anyway.
  const bool may_refer = !content.copy || size <= protocol::kInlinePayload;
  if (rows_join && slices_join && may_refer) return {{at, size}, content.owner};
  HostBlock block = allocate_host_block(size);
  copy_box(block.get(), packed, at, content.pitches, bytes);
  return {{block.get(), size}, block};
}

}  // namespace clique::icd
