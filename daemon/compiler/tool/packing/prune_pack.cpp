#include <algorithm>
#include <map>
#include <set>

#include "daemon/compiler/tool/packing/pack.hpp"

namespace clique::daemon::compiler {

namespace {

using Definitions = std::map<std::string_view, std::vector<PackMember*>>;

Definitions definitions_of(std::vector<PackMember>& members) {
  Definitions definitions;
  for (PackMember& member : members) definitions[member.name].push_back(&member);
  return definitions;
}

void mark_conditional(const Definitions& definitions, std::string_view prefix) {
  // A need is met without the other library if one of its definitions is.
  const auto is_met = [&](const std::string& need) {
    const auto found = definitions.find(need);
    if (found == definitions.end()) return !need.starts_with(prefix);
    return std::any_of(found->second.begin(), found->second.end(),
                       [](const PackMember* member) { return !member->conditional; });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [name, members] : definitions)
      for (PackMember* const member : members)
        if (!member->conditional && !std::all_of(member->needs.begin(), member->needs.end(), is_met))
          changed = member->conditional = true;
  }
}

/// The definitions that are never chosen: those that rank below an unconditional definition of the same name.
std::set<const PackMember*> superfluous(const Definitions& definitions) {
  std::set<const PackMember*> found;
  for (const auto& [name, members] : definitions) {
    auto sorted = members;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const PackMember* a, const PackMember* b) { return a->rank < b->rank; });
    const auto best = std::find_if(sorted.begin(), sorted.end(),
                                   [](const PackMember* member) { return !member->conditional; });
    if (best != sorted.end()) found.insert(best + 1, sorted.end());
  }
  return found;
}

/// Whether only the member's own library can refer to it: its name is not that of a built-in function.
bool is_internal(const PackMember& member) {
  return member.rank != 0 && !member.name.starts_with("_Z");
}

}  // namespace

void prune(std::vector<PackMember>& members, std::string_view prefix) {
  const Definitions definitions = definitions_of(members);
  mark_conditional(definitions, prefix);
  const auto dropped = superfluous(definitions);

  std::set<const PackMember*> kept;
  std::vector<const PackMember*> open;
  const auto keep = [&](const PackMember& member) {
    if (!dropped.contains(&member) && kept.insert(&member).second) open.push_back(&member);
  };
  for (const PackMember& member : members)
    if (!is_internal(member)) keep(member);
  while (!open.empty()) {
    const PackMember& member = *open.back();
    open.pop_back();
    for (const std::string& need : member.needs)
      if (const auto found = definitions.find(need); found != definitions.end())
        for (const PackMember* const definition : found->second) keep(*definition);
  }
  std::vector<PackMember> result;
  for (PackMember& member : members)
    if (kept.contains(&member)) result.push_back(std::move(member));
  members = std::move(result);
}

}  // namespace clique::daemon::compiler
