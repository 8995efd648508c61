#include "daemon/worker/recordings.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "protocol/aggregate.hpp"

namespace clique::daemon {

using protocol::Command;

namespace {

template <typename T>
inline constexpr bool kIsVector = false;
template <typename T>
inline constexpr bool kIsVector<std::vector<T>> = true;

/// The bytes that a value has allocated, besides its own.
template <typename T>
std::uint64_t allocated_by(const T& value) {
  std::uint64_t bytes = 0;
  if constexpr (protocol::Fielded<const T>) {
    std::apply([&](const auto&... field) { bytes = (0 + ... + allocated_by(field)); }, value.fields());
  } else if constexpr (kIsVector<T>) {
    bytes = value.capacity() * sizeof(typename T::value_type);
    if constexpr (protocol::Fielded<const typename T::value_type>)
      for (const auto& element : value) bytes += allocated_by(element);
  }
  return bytes;
}

}  // namespace

void Recordings::define(const protocol::DefineRecording& message) {
  const std::string name = "recording " + std::to_string(message.id);
  if (message.id == 0 || recordings_.contains(message.id)) throw RuleBroken(name + " exists already");
  std::vector<Recorded> commands;
  const auto take = [&](auto&& recorded) {
    const Command& header = recorded.command;
    if (header.id != 0 || header.queue != 0 || header.flags != 0)
      throw RuleBroken("a command of " + name + " has an id, a queue or flags, which only the run has");
    for (const protocol::CommandId earlier : header.waits)
      if (earlier >= commands.size())
        throw RuleBroken("command " + std::to_string(commands.size()) + " of " + name +
                         " waits for command " + std::to_string(earlier) + ", which is not before it");
    if (commands.size() == protocol::DefineRecording::kMaxCommands)
      throw RuleBroken(name + " has more than " + std::to_string(protocol::DefineRecording::kMaxCommands) +
                       " commands");
    commands.emplace_back(std::forward<decltype(recorded)>(recorded));
  };
  reader_.read(protocol::RecordedMessages{}, std::as_bytes(std::span(message.commands)), {}, nullptr, take);
  if (commands.empty()) throw RuleBroken(name + " has no commands");
  const auto kernels =
      static_cast<std::size_t>(std::count_if(commands.begin(), commands.end(), [](const Recorded& one) {
        return std::holds_alternative<protocol::RunKernel>(one);
      }));
  std::uint64_t bytes = commands.capacity() * sizeof(Recorded);
  for (const Recorded& recorded : commands)
    bytes += std::visit([](const auto& command) { return allocated_by(command); }, recorded);
  recordings_.emplace(message.id, Recording{std::move(commands), kernels, bytes, waiting_.count(bytes)});
}

std::shared_ptr<Graph> Recordings::make_graph(const std::vector<Recorded>& commands, protocol::ObjectId queue,
                                              Backend& backend) {
  if (commands.size() < 2 || !backend.begin_graph(queue)) return nullptr;
  for (const Recorded& recorded : commands)
    std::visit([&](auto copy) { backend.handle(std::move(copy)); }, recorded);
  return backend.end_graph();
}

Recordings::Recording& Recordings::find(protocol::ObjectId id) {
  const auto found = recordings_.find(id);
  if (found == recordings_.end()) throw RuleBroken("recording " + std::to_string(id) + " does not exist");
  return found->second;
}

void Recordings::update(const protocol::UpdateRecording& message, Backend& backend) {
  Recording& recording = find(message.id);
  const std::string name = "an update of recording " + std::to_string(message.id);
  std::vector<protocol::RunKernel> launches;
  const auto take = [&](protocol::RunKernel&& launch) {
    const Command& header = launch.command;
    if (header.id != 0 || header.queue != 0 || header.flags != 0 || !header.waits.empty())
      throw RuleBroken(name + " has a command with a header of its own");
    if (launches.size() == message.numbers.size())
      throw RuleBroken(name + " has more than its " + std::to_string(message.numbers.size()) + " commands");
    launches.push_back(std::move(launch));
  };
  reader_.read(protocol::MessageList<protocol::RunKernel>{}, std::as_bytes(std::span(message.commands)), {},
               nullptr, take);
  if (launches.size() != message.numbers.size())
    throw RuleBroken(name + " has " + std::to_string(launches.size()) + " commands and " +
                     std::to_string(message.numbers.size()) + " numbers");
  for (const protocol::CommandId number : message.numbers)
    if (number >= recording.commands.size() ||
        !std::holds_alternative<protocol::RunKernel>(recording.commands[number]))
      throw RuleBroken(name + " changes command " + std::to_string(number) + ", which is not a launch");
  // The launches of a graph that is changed in place are made as those of a new one are.
  if (recording.graph && backend.begin_update(*recording.graph)) {
    for (const protocol::RunKernel& launch : launches) backend.handle(protocol::RunKernel(launch));
    if (!backend.end_update(*recording.graph, message.numbers)) recording.graph = nullptr;
  } else {
    recording.graph = nullptr;
  }
  // Without a graph, the next run makes one.
  if (!recording.graph) recording.has_run = false;
  std::uint64_t bytes = recording.bytes;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    auto& known = std::get<protocol::RunKernel>(recording.commands[message.numbers[i]]);
    bytes -= allocated_by(known);
    launches[i].command.waits = std::move(known.command.waits);
    known = std::move(launches[i]);
    bytes += allocated_by(known);
  }
  // Most updates change numbers only.
  if (bytes == recording.bytes) return;
  recording.bytes = bytes;
  recording.counted = waiting_.count(bytes);
}

std::size_t Recordings::run(const protocol::RunRecording& message, Backend& backend) {
  Recording& recording = find(message.recording);
  if ((message.command.flags & Command::kMore) != 0)
    throw RuleBroken("a run of recording " + std::to_string(message.recording) + " is a part of a command");
  if (!std::exchange(recording.has_run, true))
    recording.graph = make_graph(recording.commands, message.command.queue, backend);
  if (recording.graph) {
    recording.graph->run(message.command);
    return recording.kernels;
  }
  for (const Recorded& recorded : recording.commands) {
    const bool first = &recorded == &recording.commands.front();
    const bool last = &recorded == &recording.commands.back();
    std::visit(
        [&](auto copy) {
          Command header = message.command;
          if (!first) header.waits = std::move(copy.command.waits);
          if (!first && !header.waits.empty()) header.flags |= Command::kAfterParts;
          if (!last) header.flags |= Command::kMore;
          copy.command = std::move(header);
          backend.handle(std::move(copy));
        },
        recorded);
  }
  return recording.kernels;
}

}  // namespace clique::daemon
