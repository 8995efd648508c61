#include "icd/common/say.hpp"

#include <cstdio>
#include <mutex>
#include <set>

#include "protocol/printable.hpp"

namespace clique::icd {

void say(const std::string& text) {
  std::fprintf(stderr, "clique: %s\n", protocol::printable(text).c_str());
}

void say_once(const std::string& text) {
  static auto* const mutex = new std::mutex;
  static auto* const said = new std::set<std::string>;
  std::unique_lock lock(*mutex, std::try_to_lock);
  // In a child that was forked during this the lock is never free; printing a line twice does no harm.
  if (lock && !said->insert(text).second) return;
  say(text);
}

}  // namespace clique::icd
