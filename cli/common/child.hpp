// Starts programs, and reads what they print.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/fd.hpp"

namespace clique::cli {

/// A program that this process has started. Whoever starts it waits for its end (waitpid).
struct Child {
  pid_t process = 0;
  Fd output;    ///< what it prints to standard output
  Fd messages;  ///< what it prints to standard error; not open if both are in `output`
};

/// What a child prints to standard error.
enum class Messages : std::uint8_t { WithOutput, Apart };

/// Starts `program`, a path, with empty standard input. `arguments` begin with the name that it is told to
/// have; `environment` has entries NAME=VALUE. Throws std::system_error that names the program.
Child start_child(const std::string& program, std::vector<std::string> arguments,
                  std::vector<std::string> environment, Messages messages);

/// The environment of this process, for children.
std::vector<std::string> own_environment();

}  // namespace clique::cli
