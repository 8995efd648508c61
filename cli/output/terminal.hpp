#pragma once

#include <termios.h>

#include <chrono>
#include <string>
#include <vector>

namespace clique::cli {

/// A terminal that shows pages and reads single keys. The destructor restores it, also when SIGINT, SIGTERM
/// or SIGHUP have ended key(). One at a time.
class Terminal {
 public:
  /// Whether this process's standard input and output are a terminal.
  static bool available();

  /// Takes over the terminal. Throws Failed.
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Waits for a key. @returns the key; 0 if none is pressed in time
  static char key(std::chrono::milliseconds patience);
  /// Whether one of the signals has come, or key() has come to the end of the input.
  static bool ended();
  /// Shows as much of the lines as has room, instead of what was shown before.
  static void show(const std::vector<std::string>& lines);

 private:
  termios before_{};
};

}  // namespace clique::cli
