// Captures what this process prints.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

namespace clique::test {

/// Captures everything that any part of this process writes to file descriptor 1.
class Capture {
 public:
  Capture() : file_(std::tmpfile()), saved_(dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    dup2(fileno(file_), STDOUT_FILENO);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture() {
    std::fflush(stdout);
    dup2(saved_, STDOUT_FILENO);
    close(saved_);
    std::fclose(file_);
  }
  /// Everything so far, including text that a driver wrote to the stream `stdout`.
  std::string text() const {
    std::fflush(stdout);
    std::string all;
    char part[4096];
    ssize_t size = 0;
    while ((size = pread(fileno(file_), part, sizeof part, static_cast<off_t>(all.size()))) > 0)
      all.append(part, static_cast<size_t>(size));
    return all;
  }

 private:
  std::FILE* file_;
  int saved_;
};

}  // namespace clique::test
