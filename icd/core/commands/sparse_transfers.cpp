#include "icd/core/commands/sparse_transfers.hpp"

#include <mutex>
#include <utility>

#include "icd/core/commands/queue.hpp"
#include "icd/core/objects/memory.hpp"

namespace clique::icd {

namespace {

bool is_divided(const Queue& queue, const Memory& buffer, std::uint64_t size) {
  return size != 0 && buffer.sparse() && queue.device()->is_combined();
}

/// Moves ranges from the object that keeps the content to the buffer itself.
std::vector<Coherence::Placed> in_buffer(std::vector<Coherence::Placed> placed, std::uint64_t buffer_begin) {
  if (placed.size() == 1 && placed.front().member == 0) return {};
  for (Coherence::Placed& part : placed) {
    part.begin -= buffer_begin;
    part.end -= buffer_begin;
  }
  return placed;
}

}  // namespace

std::vector<Coherence::Placed> placed_reads(Queue& queue, Memory& buffer, std::uint64_t offset,
                                            std::uint64_t size) {
  if (!is_divided(queue, buffer, size)) return {};
  std::vector<Worker*> workers;
  for (const Ref<Device>& member : queue.device()->members()) workers.push_back(&member->worker());
  const std::uint64_t begin = buffer.coherence_begin();
  const std::lock_guard lock(queue.context()->coherence_mutex());
  return in_buffer(buffer.coherence().held_by(workers, begin + offset, begin + offset + size), begin);
}

std::vector<Coherence::Placed> placed_writes(Queue& queue, Memory& buffer, std::uint64_t offset,
                                             std::uint64_t size) {
  if (!is_divided(queue, buffer, size)) return {};
  const std::uint64_t begin = buffer.coherence_begin();
  const std::size_t members = queue.device()->members().size();
  return in_buffer(buffer.coherence().homes(members, begin + offset, begin + offset + size), begin);
}

Ref<Event> enqueue_placed(
    Queue& queue, std::span<const Coherence::Placed> placed, const CommandInfo& command,
    FunctionRef<Ref<Event>(Queue& on, const Coherence::Placed& part, const CommandInfo& command)> enqueue) {
  // As for a divided launch: the first marker ends when it is the command's turn, the second one when all
  // parts have ended.
  const Ref<Event> turn = queue.nothing({CL_COMMAND_MARKER, command.waits}, EventUse::Report);
  const CommandInfo after_turn{command.type, {&turn, 1}};
  std::vector<Ref<Event>> parts;
  for (const Coherence::Placed& part : placed) {
    Queue& on = part.member == 0 ? queue : queue.member_queue(part.member);
    parts.push_back(enqueue(on, part, after_turn));
  }
  return queue.join(turn, std::move(parts), command.type);
}

}  // namespace clique::icd
