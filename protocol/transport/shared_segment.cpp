#include "protocol/transport/shared_segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "protocol/decode_error.hpp"
#include "protocol/throw_errno.hpp"

namespace clique::protocol {

std::shared_ptr<SharedSegment> SharedSegment::create(std::size_t size) {
  Fd memory(::memfd_create("clique", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory) throw_errno("memfd_create");
  if (::ftruncate(memory.get(), static_cast<off_t>(size)) != 0) throw_errno("ftruncate");
  // Otherwise one process could shrink the memory, and the other would fault when it uses it.
  if (::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    throw_errno("F_ADD_SEALS");
  return std::shared_ptr<SharedSegment>(new SharedSegment(std::move(memory), size));
}

std::shared_ptr<SharedSegment> SharedSegment::open(Fd memory, std::size_t size) {
  struct stat status{};
  if (::fstat(memory.get(), &status) != 0) throw_errno("fstat");
  const int seals = ::fcntl(memory.get(), F_GET_SEALS);
  if (size == 0 || status.st_size != static_cast<off_t>(size) || seals < 0 || (seals & F_SEAL_SHRINK) == 0)
    throw DecodeError("a shared segment has another size or kind than announced");
  return std::shared_ptr<SharedSegment>(new SharedSegment(std::move(memory), size));
}

std::shared_ptr<SharedSegment> SharedSegment::part_of(const Fd& file, std::uint64_t at, std::size_t size) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) throw_errno("fstat");
  const auto whole = static_cast<std::uint64_t>(status.st_size);
  if (size == 0 || !S_ISREG(status.st_mode) || size > whole || at > whole - size)
    throw DecodeError("a part of a shared file lies outside of it");
  void* mapped =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), static_cast<off_t>(at));
  if (mapped == MAP_FAILED) throw_errno("mmap");
  return std::shared_ptr<SharedSegment>(new SharedSegment(static_cast<std::byte*>(mapped), size));
}

SharedSegment::SharedSegment(Fd memory, std::size_t size) : memory_(std::move(memory)), size_(size) {
  void* mapped = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, memory_.get(), 0);
  if (mapped == MAP_FAILED) throw_errno("mmap");
  data_ = static_cast<std::byte*>(mapped);
}

SharedSegment::~SharedSegment() {
  ::munmap(data_, size_);
}

}  // namespace clique::protocol
