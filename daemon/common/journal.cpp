#include "daemon/common/journal.hpp"

#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "daemon/common/environment.hpp"

namespace clique::daemon {

namespace {

/// Whether standard error goes to the journal: processes that others have started inherit the variable, and
/// may write elsewhere (systemd.exec(5)).
bool goes_to_journal() {
  const auto stream = environment("JOURNAL_STREAM");
  struct stat info{};
  return stream && ::fstat(STDERR_FILENO, &info) == 0 &&
         *stream == std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino);
}

}  // namespace

std::optional<Journal> Journal::open() {
  if (!goes_to_journal()) return std::nullopt;
  // Never closed: the log is used until the process ends.
  void* const library = ::dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
  void* const send = library != nullptr ? ::dlsym(library, "sd_journal_sendv") : nullptr;
  if (send == nullptr) return std::nullopt;
  return Journal(reinterpret_cast<Send>(send));
}

bool Journal::send(const std::vector<std::string>& fields) const {
  std::vector<iovec> parts;
  parts.reserve(fields.size());
  for (const std::string& field : fields) parts.push_back({const_cast<char*>(field.data()), field.size()});
  return send_(parts.data(), static_cast<int>(parts.size())) >= 0;
}

}  // namespace clique::daemon
