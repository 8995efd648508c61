#include "daemon/common/process.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "protocol/printable.hpp"

namespace clique::daemon {

namespace {
/// The most descriptors that a process asks for: some libraries close every descriptor that could be open
/// before they start a program.
constexpr rlim_t kMostDescriptors = 1U << 20U;

/// In bytes. Names of nodes and clients may be longer.
constexpr std::size_t kLongestTitle = 255;

/// The memory of this process's arguments, which the kernel shows as its command line.
std::span<char> title_memory;
}  // namespace

void set_up_process() {
  rlimit descriptors{};
  if (::getrlimit(RLIMIT_NOFILE, &descriptors) == 0 && descriptors.rlim_cur < kMostDescriptors) {
    descriptors.rlim_cur = std::min(descriptors.rlim_max, kMostDescriptors);
    ::setrlimit(RLIMIT_NOFILE, &descriptors);
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
}

void name_process(const std::string& role, std::span<char* const> arguments) {
  ::prctl(PR_SET_NAME, ("cliqued-" + role).c_str());
  if (arguments.empty()) return;
  // The kernel puts one behind the other.
  char* end = arguments[0];
  for (char* const argument : arguments) {
    if (argument != end) break;
    end = argument + std::strlen(argument) + 1;
  }
  title_memory = {arguments[0], end};
}

void set_process_title(const std::string& title) {
  if (title_memory.empty()) return;
  std::string text = protocol::printable(title, title_memory.size());
  std::size_t length = std::min({text.size(), title_memory.size() - 1, kLongestTitle});
  // Not in the midst of a character.
  while (length < text.size() && length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0U) == 0x80)
    --length;
  text.resize(length);
  std::fill(std::copy(text.begin(), text.end(), title_memory.begin()), title_memory.end(), '\0');
}

void die_with_parent() {
  const pid_t parent = ::getppid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before the call.
  if (::getppid() != parent) std::_Exit(EXIT_SUCCESS);
}

}  // namespace clique::daemon
