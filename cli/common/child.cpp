#include "cli/common/child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace clique::cli {

namespace {

struct Pipe {
  Fd read_end;
  Fd write_end;
};

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "a pipe to a program cannot be made");
  return {Fd(ends[0]), Fd(ends[1])};
}

/// Ends with a null pointer, as posix_spawn() wants it.
std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> found;
  found.reserve(texts.size() + 1);
  for (std::string& text : texts) found.push_back(text.data());
  found.push_back(nullptr);
  return found;
}

}  // namespace

Child start_child(const std::string& program, std::vector<std::string> arguments,
                  std::vector<std::string> environment, Messages messages) {
  Pipe output = make_pipe();
  Pipe apart = messages == Messages::Apart ? make_pipe() : Pipe();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output.write_end.get(), STDOUT_FILENO);
  const Fd& errors = messages == Messages::Apart ? apart.write_end : output.write_end;
  ::posix_spawn_file_actions_adddup2(&actions, errors.get(), STDERR_FILENO);
  Child child;
  const int error = ::posix_spawn(&child.process, program.c_str(), &actions, nullptr,
                                  pointers(arguments).data(), pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw std::system_error(error, std::generic_category(), "the program " + program + " cannot be started");
  child.output = std::move(output.read_end);
  child.messages = std::move(apart.read_end);
  return child;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  return variables;
}

}  // namespace clique::cli
