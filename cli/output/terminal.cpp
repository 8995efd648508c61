#include "cli/output/terminal.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "cli/common/commands.hpp"
#include "cli/output/text_table.hpp"

namespace clique::cli {

namespace {

// Control sequences of ISO 6429 and xterm: the other screen, the cursor, and erasing.
constexpr const char* kEnterScreen = "\x1b[?1049h\x1b[?25l";
constexpr const char* kLeaveScreen = "\x1b[?25h\x1b[?1049l";
constexpr const char* kHome = "\x1b[H";
constexpr const char* kEndOfLine = "\x1b[K";
constexpr const char* kEndOfScreen = "\x1b[J";

volatile std::sig_atomic_t signalled = 0;  // or the input has ended

void print_now(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

winsize terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    size.ws_col = 80;
    size.ws_row = 24;
  }
  return size;
}

}  // namespace

bool Terminal::available() {
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
}

Terminal::Terminal() {
  if (::tcgetattr(STDIN_FILENO, &before_) != 0)
    throw Failed(std::string("the terminal cannot be used: ") + std::strerror(errno));
  struct sigaction action{};
  action.sa_handler = [](int) { signalled = 1; };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  print_now(kEnterScreen);
}

Terminal::~Terminal() {
  print_now(kLeaveScreen);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

char Terminal::key(std::chrono::milliseconds patience) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (ended() || ::poll(&input, 1, static_cast<int>(patience.count())) <= 0) return 0;
  char key = 0;
  // The end of the input is the end of the terminal.
  if (::read(STDIN_FILENO, &key, 1) != 1) signalled = 1;
  return key;
}

bool Terminal::ended() {
  return signalled != 0;
}

void Terminal::show(const std::vector<std::string>& lines) {
  const winsize size = terminal_size();
  std::string page = kHome;
  for (std::size_t i = 0; i < lines.size() && i < size.ws_row; ++i)
    page += (i > 0 ? "\n" : "") + cut_to_width(lines[i], size.ws_col) + kEndOfLine;
  print_now(page + kEndOfScreen);
}

}  // namespace clique::cli
