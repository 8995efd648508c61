#include "icd/core/coherence/back_and_forth.hpp"

#include <atomic>
#include <string>

#include "icd/common/say.hpp"
#include "icd/core/objects/memory.hpp"
#include "icd/core/tracing/note.hpp"
#include "icd/core/workers/worker.hpp"

namespace clique::icd {

void BackAndForth::note(const Migration& migration, const Need& need) {
  if (migration.bytes() < kLarge) return;
  const auto now = Clock::now();
  const bool returns = migration.from == to_ && &migration.to == from_ && now - first_ <= kWithin;
  from_ = migration.from;
  to_ = &migration.to;
  if (!returns) {
    count_ = 0;
    first_ = now;
  }
  if (++count_ != kMany) return;
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now - first_).count();
  say(std::to_string(migration.bytes() >> 20U) + " MiB of " + object_text(migration.object) + " have moved " +
      std::to_string(kMany) + " times to and fro between " + migration.from->label() + " and " +
      migration.to.label() + " within " + std::to_string(ms) + " ms; the last time because " +
      reason_text(migration, need) +
      ". If that is slow, use the object on one device only, or divide it. "
      "'clique trace -o FILE --summary -- PROGRAM' shows all migrations with their reasons");
}

}  // namespace clique::icd
