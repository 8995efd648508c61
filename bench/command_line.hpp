// Command lines of the benchmark programs.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench {

/// The options of a program. Each has a variable, whose value is the default. CLI11, which parses them, is
/// slow to compile, so that only one source file includes it.
class CommandLine {
 public:
  /// @param description what the program measures
  explicit CommandLine(const char* description);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Adds an option with a value: a number, a text, or a list of them. The help shows the default unless it
  /// is zero or empty.
  /// @param name with its dashes
  /// @param least the smallest number allowed
  template <typename T>
  void option(const char* name, T& value, const char* help, std::optional<double> least = std::nullopt);
  /// Adds an option that may only have these values.
  template <typename T>
  void choice(const char* name, T& value, const char* help, const std::vector<std::string>& allowed);
  /// Adds an option whose value is a number of bytes, such as 64KiB, or a list of them.
  template <typename T>
  void bytes(const char* name, T& value, const char* help);
  /// Adds an option without a value, which sets the variable.
  void flag(const char* name, bool& value, const char* help);

  /// Parses the arguments and calls `body`. A message on standard error says what is wrong with the
  /// arguments, or which exception `body` threw.
  /// @returns the exit status: 0 success
  int run(int argc, char** argv, const std::function<void()>& body);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace bench
