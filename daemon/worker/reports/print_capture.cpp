#include "daemon/worker/reports/print_capture.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace clique::daemon {

namespace {
/// The most text of one Print; the rest follows in the next one.
constexpr std::uint64_t kMaxText = 4U << 20U;
}  // namespace

PrintCapture::PrintCapture() : file_(::memfd_create("clique-printf", MFD_CLOEXEC)) {
  if (!file_ || ::fcntl(file_.get(), F_SETFL, O_APPEND) < 0 || ::dup2(file_.get(), STDOUT_FILENO) < 0)
    throw std::system_error(errno, std::generic_category(), "memfd for printf");
  // Drivers that print through stdio must not buffer their output.
  std::setvbuf(stdout, nullptr, _IONBF, 0);
}

protocol::Bytes PrintCapture::take() {
  struct stat info{};
  if (::fstat(file_.get(), &info) < 0) return {};
  const auto end = static_cast<std::uint64_t>(info.st_size);
  if (end <= taken_) return {};
  protocol::Bytes text(std::min(end - taken_, kMaxText));
  const ssize_t size = ::pread(file_.get(), text.data(), text.size(), static_cast<off_t>(taken_));
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  taken_ += text.size();
  // Frees the pages of the text that was taken, although the file's size grows.
  ::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(taken_));
  return text;
}

}  // namespace clique::daemon
