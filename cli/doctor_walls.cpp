#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "cli/doctor.hpp"
#include "icd/remote/deadline.hpp"
#include "icd/remote/embedded.hpp"
#include "protocol/fd.hpp"
#include "protocol/printable.hpp"

namespace clique::cli::doctor {

namespace {

using protocol::printable;

constexpr std::size_t kLongestList = 64U << 10U;
constexpr const char* kWalls = "walls around sessions on this host";

/// What `cliqued --check` prints, as far as it has printed it by the deadline. Throws std::system_error.
std::string wall_list(std::string daemon, SteadyClock::time_point deadline) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe2");
  const Fd from_daemon(ends[0]);
  Fd to_here(ends[1]);
  // The settings of a node that runs here have no influence on the walls, and may be wrong.
  std::string options[] = {"cliqued", "--config", "/dev/null", "--check"};
  char* const arguments[] = {options[0].data(), options[1].data(), options[2].data(), options[3].data(),
                             nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, to_here.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, to_here.get(), STDERR_FILENO);
  pid_t process = 0;
  const int error = ::posix_spawn(&process, daemon.c_str(), &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error(error, std::generic_category(), "starting " + daemon);
  to_here = Fd();
  std::string list;
  while (SteadyClock::now() < deadline && list.size() < kLongestList) {
    pollfd readable{from_daemon.get(), POLLIN, 0};
    if (::poll(&readable, 1, static_cast<int>(icd::left_until(deadline).count())) <= 0) continue;
    char buffer[4096];
    const ssize_t size = ::read(from_daemon.get(), buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    list.append(buffer, static_cast<std::size_t>(size));
  }
  // It has ended, unless it hangs.
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
  return list;
}

/// The findings about the walls in such a list.
Findings parse_walls(const std::string& list) {
  Findings findings;
  std::string present;
  std::istringstream lines(list);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string wall;
    std::string state;
    std::string text;
    words >> wall >> state >> std::ws;
    std::getline(words, text);
    if (line.starts_with(' ')) {
      // Below a missing wall.
      if (!findings.empty()) findings.back().remedy = printable(line.substr(line.find_first_not_of(' ')));
    } else if (state == "present") {
      present += (present.empty() ? "" : ", ") + printable(wall);
    } else if (state == "MISSING") {
      findings.push_back({Verdict::Open, "wall " + printable(wall),
                          "this host lacks it, so sessions run here without it: " + printable(text)});
    }
  }
  if (!present.empty()) findings.push_back({Verdict::Good, kWalls, present});
  return findings;
}

}  // namespace

Findings check_walls(bool has_nodes, SteadyClock::time_point deadline) {
  std::string daemon;
  try {
    daemon = icd::find_daemon();
  } catch (const std::runtime_error& error) {
    // Sessions run on other hosts.
    if (has_nodes) return {};
    return {{Verdict::Open, kWalls, printable(error.what())}};
  }
  std::string list;
  try {
    list = wall_list(daemon, deadline);
  } catch (const std::system_error& error) {
    return {{Verdict::Open, kWalls, printable(error.what())}};
  }
  Findings findings = parse_walls(list);
  if (findings.empty())
    findings.push_back({Verdict::Open, kWalls,
                        printable(daemon) + " --check did not list them in time, but said: " +
                            (list.empty() ? "nothing" : printable(list)),
                        "run it to see what it lacks, and install the same release of cliqued and clique"});
  return findings;
}

}  // namespace clique::cli::doctor
