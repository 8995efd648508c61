#include "icd/common/say.hpp"

#include <cstdio>

#include "protocol/printable.hpp"

namespace clique::icd {

void say(const std::string& text) {
  std::fprintf(stderr, "clique: %s\n", protocol::printable(text).c_str());
}

}  // namespace clique::icd
