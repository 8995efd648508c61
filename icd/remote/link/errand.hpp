// Work that a receiving thread hands to another one.
#pragma once

#include <functional>

namespace clique::icd {

/// Work that takes long, such as copying a large block, which would delay threads that wait for something
/// else if the receiving thread did it.
struct Errand {
  /// Called on any thread. Must not call functions of the application, nor wait for messages.
  std::function<void()> run;
  /// Called afterwards by the receiving thread; may be empty.
  std::function<void()> then;
};

}  // namespace clique::icd
