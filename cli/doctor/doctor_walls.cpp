#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "cli/common/child.hpp"
#include "cli/doctor/doctor.hpp"
#include "icd/remote/nodes/deadline.hpp"
#include "icd/remote/nodes/embedded.hpp"
#include "protocol/fd.hpp"
#include "protocol/printable.hpp"

namespace clique::cli::doctor {

namespace {

using protocol::printable;

constexpr std::size_t kLongestList = 64U << 10U;
constexpr const char* kWalls = "walls around sessions on this host";

/// What `cliqued --check` prints, as far as it has printed it by the deadline. Throws std::system_error.
std::string wall_list(const std::string& daemon, SteadyClock::time_point deadline) {
  // The settings of a node that runs here have no influence on the walls, and may be wrong.
  const Child child = start_child(daemon, {"cliqued", "--config", "/dev/null", "--check"}, own_environment(),
                                  Messages::WithOutput);
  std::string list;
  while (SteadyClock::now() < deadline && list.size() < kLongestList) {
    pollfd readable{child.output.get(), POLLIN, 0};
    if (::poll(&readable, 1, static_cast<int>(icd::left_until(deadline).count())) <= 0) continue;
    char buffer[4096];
    const ssize_t size = ::read(child.output.get(), buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    list.append(buffer, static_cast<std::size_t>(size));
  }
  // It has ended, unless it hangs.
  ::kill(child.process, SIGKILL);
  ::waitpid(child.process, nullptr, 0);
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
