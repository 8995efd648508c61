#include "icd/core/objects/access.hpp"

#include "icd/core/objects/memory.hpp"

namespace clique::icd {

Access Access::all(Memory& memory, Mode mode) {
  return {&memory, 0, memory.size(), mode};
}

}  // namespace clique::icd
