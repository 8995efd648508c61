#include "daemon/recordings.hpp"

#include <string>
#include <utility>

namespace clique::daemon {

using protocol::Command;

void Recordings::define(const protocol::DefineRecording& message) {
  const std::string name = "recording " + std::to_string(message.id);
  if (message.id == 0 || recordings_.contains(message.id)) throw RuleBroken(name + " exists already");
  std::vector<Recorded> commands;
  const auto take = [&](auto&& recorded) {
    const Command& header = recorded.command;
    if (header.id != 0 || header.queue != 0 || header.flags != 0 || !header.waits.empty())
      throw RuleBroken("a command of " + name + " with a header of its own");
    if (commands.size() == protocol::DefineRecording::kMaxCommands)
      throw RuleBroken(name + " has too many commands");
    commands.emplace_back(std::forward<decltype(recorded)>(recorded));
  };
  reader_.read(protocol::RecordedMessages{}, std::as_bytes(std::span(message.commands)), {}, nullptr, take);
  if (commands.empty()) throw RuleBroken(name + " has no commands");
  recordings_.emplace(message.id, std::move(commands));
}

void Recordings::run(const protocol::RunRecording& message, Backend& backend) const {
  const auto found = recordings_.find(message.recording);
  if (found == recordings_.end())
    throw RuleBroken("recording " + std::to_string(message.recording) + " does not exist");
  if ((message.command.flags & Command::kMore) != 0) throw RuleBroken("a recording as a part of a command");
  // The queue keeps the order, so that only the first command has to wait.
  Command header = message.command;
  header.flags |= Command::kMore;
  const std::vector<Recorded>& commands = found->second;
  for (const Recorded& recorded : commands) {
    if (&recorded == &commands.back()) header.flags = message.command.flags;
    std::visit(
        [&](auto copy) {
          copy.command = header;
          backend.handle(std::move(copy));
        },
        recorded);
    header.waits.clear();
  }
}

}  // namespace clique::daemon
