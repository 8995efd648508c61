#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz {

MemoryFile::MemoryFile(std::span<const std::byte> content) : file_(::memfd_create("input", MFD_CLOEXEC)) {
  const ssize_t size = static_cast<ssize_t>(content.size());
  require(file_ && ::fchmod(file_.get(), S_IRUSR | S_IWUSR) == 0 &&
              ::write(file_.get(), content.data(), content.size()) == size,
          "the system has memory for a file");
}

}  // namespace clique::fuzz
