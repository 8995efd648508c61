#include "icd/core/division/explain.hpp"

#include <mutex>
#include <set>

#include "icd/common/say.hpp"
#include "icd/common/settings.hpp"
#include "protocol/printable.hpp"

namespace clique::icd {

namespace {

const CombineSettings& settings() {
  static const CombineSettings read = [] {
    try {
      return combine_settings();
    } catch (const SettingError&) {
      return CombineSettings{};
    }
  }();
  return read;
}

}  // namespace

bool divides_always() {
  return settings().always;
}

bool explains() {
  return settings().explain;
}

void explain(const std::string& text) {
  if (!explains()) return;
  static std::mutex mutex;
  // Never destroyed: threads of the library may still use it when the process ends.
  static auto* said = new std::set<std::string>;
  {
    const std::lock_guard lock(mutex);
    if (!said->insert(text).second) return;
  }
  say(protocol::printable(text));
}

}  // namespace clique::icd
