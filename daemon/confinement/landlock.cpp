#include "daemon/confinement/landlock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "daemon/confinement/throw_failure.hpp"
#include "protocol/fd.hpp"

namespace clique::daemon::confinement {

namespace {

// The numbers are the same on all architectures.
constexpr long kCreateRuleset = 444;
constexpr long kAddRule = 445;
constexpr long kRestrictSelf = 446;
constexpr unsigned kVersion = 1;   // flag of landlock_create_ruleset
constexpr int kPathBeneath = 1;    // kind of rule
constexpr int kOldestVersion = 2;  // version 1, up to Linux 5.18, does not allow moving files between folders

// struct landlock_ruleset_attr of version 6.
struct RulesetAttributes {
  std::uint64_t file_rights;
  std::uint64_t tcp_rights;
  std::uint64_t scoped;
};

// struct landlock_path_beneath_attr.
struct __attribute__((packed)) PathBeneath {
  std::uint64_t rights;
  std::int32_t parent;
};

using Rights = std::uint64_t;
constexpr Rights kExecute = 1U << 0U;
constexpr Rights kWriteFile = 1U << 1U;
constexpr Rights kReadFile = 1U << 2U;
constexpr Rights kReadFolder = 1U << 3U;
constexpr Rights kRemoveFolder = 1U << 4U;
constexpr Rights kRemoveFile = 1U << 5U;
constexpr Rights kMakeFolder = 1U << 7U;
constexpr Rights kMakeFile = 1U << 8U;
constexpr Rights kMakeSocket = 1U << 9U;
constexpr Rights kMakePipe = 1U << 10U;
constexpr Rights kMakeLink = 1U << 12U;
constexpr Rights kMove = 1U << 13U;      // version 2
constexpr Rights kTruncate = 1U << 14U;  // version 3
constexpr Rights kControl = 1U << 15U;   // version 5: ioctl() of devices

/// All rights that a version of Landlock knows.
Rights known_rights(int version) {
  Rights rights = (kMove << 1U) - 1;
  if (version >= 3) rights |= kTruncate;
  if (version >= 5) rights |= kControl;
  return rights;
}

/// The rights that apply to a file that is not a folder; the kernel refuses others.
constexpr Rights kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate | kControl;

Rights rights_of(FileAccess access) {
  switch (access) {
    case FileAccess::Read:
      return kReadFile | kReadFolder;
    case FileAccess::Execute:
      return kReadFile | kReadFolder | kExecute;
    case FileAccess::Device:
      return kReadFile | kReadFolder | kWriteFile | kTruncate | kControl;
    case FileAccess::Write:
      return kReadFile | kReadFolder | kWriteFile | kTruncate | kRemoveFolder | kRemoveFile | kMakeFolder |
             kMakeFile | kMakeSocket | kMakePipe | kMakeLink | kMove;
  }
  return 0;
}

void add_rule(int ruleset, const FileRule& rule, Rights known) {
  const Fd file(::open(rule.path.c_str(), O_PATH | O_CLOEXEC));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0) return;
  Rights rights = rights_of(rule.access) & known;
  if (!S_ISDIR(status.st_mode)) rights &= kOfFiles;
  const PathBeneath beneath{rights, file.get()};
  if (::syscall(kAddRule, ruleset, kPathBeneath, &beneath, 0) != 0)
    throw_failure("landlock_add_rule for " + rule.path.string());
}

}  // namespace

bool restrict_file_rights(const FileRules& rules, LandlockScope scope) {
  const long version = ::syscall(kCreateRuleset, nullptr, 0, kVersion);
  if (version < 0)
    throw std::runtime_error(
        errno == EOPNOTSUPP
            ? "Landlock is disabled; add landlock to the kernel's boot parameter lsm="
            : "this kernel has no Landlock; it needs Linux 5.19 or later, built with Landlock");
  if (version < kOldestVersion)
    throw std::runtime_error("this kernel's Landlock has version " + std::to_string(version) +
                             "; version 2 (Linux 5.19) or later is needed");
  RulesetAttributes attributes{known_rights(static_cast<int>(version)), 0, 0};
  if (scope.no_tcp && version >= 4) attributes.tcp_rights = 3;  // bind, connect
  // Bit 0: abstract names of UNIX sockets, bit 1: signals.
  if (version >= 6) attributes.scoped = scope.no_abstract_sockets ? 3 : 2;
  const Fd ruleset(static_cast<int>(::syscall(kCreateRuleset, &attributes, sizeof attributes, 0)));
  if (!ruleset) throw_failure("landlock_create_ruleset");
  for (const FileRule& rule : rules) add_rule(ruleset.get(), rule, attributes.file_rights);
  if (::syscall(kRestrictSelf, ruleset.get(), 0) != 0) throw_failure("landlock_restrict_self");
  return version >= 6;
}

bool landlock_knows_tcp() {
  constexpr long kSinceVersion = 4;
  return ::syscall(kCreateRuleset, nullptr, 0, kVersion) >= kSinceVersion;
}

}  // namespace clique::daemon::confinement
