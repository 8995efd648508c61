#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "cli/common/child.hpp"
#include "cli/doctor/doctor.hpp"
#include "icd/remote/nodes/deadline.hpp"
#include "protocol/fd.hpp"
#include "protocol/printable.hpp"

namespace clique::cli::doctor {

namespace {

using nlohmann::json;
using protocol::printable;

/// The largest output of the process that is read; drivers may print anything.
constexpr std::size_t kLongestOutput = 1U << 20U;
/// Results are printed, and the process ended, within this time before the deadline.
constexpr std::chrono::milliseconds kReserve{200};
constexpr const char* kLibraryMark = "clique: ";

/// The environment of the process: this one's, and the settings under which only usable nodes are used.
std::vector<std::string> probe_environment(const std::vector<NodeFindings>& nodes, bool configured,
                                           SteadyClock::time_point deadline) {
  std::map<std::string, std::string> changed;
  if (configured) {
    // CLIQUE_NODES replaces nodes.toml, also its other settings.
    for (const icd::SettingValue& each : icd::setting_values().values)
      if (each.source != "default" && each.source != "environment")
        changed[std::string(each.setting->name)] = each.value;
    std::string list;
    for (const NodeFindings& node : nodes) list += (list.empty() ? "" : ",") + node.address.text();
    changed["CLIQUE_NODES"] = list.empty() ? "off" : list;
  }
  changed["CLIQUE_CONNECT_TIMEOUT_MS"] = std::to_string(icd::left_until(deadline).count());
  changed["CLIQUE_REMEMBER_UNREACHABLE"] = "0";
  std::vector<std::string> environment;
  for (std::string& variable : own_environment())
    if (!changed.contains(variable.substr(0, variable.find('=')))) environment.push_back(std::move(variable));
  for (const auto& [name, value] : changed) environment.push_back(name + "=" + value);
  return environment;
}

/// A power of two, for people.
std::string binary_text(std::uint64_t bytes) {
  constexpr std::uint64_t kKibi = 1U << 10U;
  constexpr std::uint64_t kMebi = 1U << 20U;
  return bytes >= kMebi ? std::to_string(bytes / kMebi) + " MiB" : std::to_string(bytes / kKibi) + " KiB";
}

/// What the process says, line by line.
class ProbeListener {
 public:
  ProbeListener(const std::vector<NodeFindings>& nodes, Findings& findings)
      : nodes_(nodes), findings_(findings) {}

  bool done() const { return done_; }

  void take_result(const std::string& line) {
    // A driver may have printed into the middle of it.
    const json said = json::parse(line, nullptr, false);
    if (!said.is_object()) return;
    try {
      if (said.contains("begin"))
        under_way_.emplace(said["begin"].get<std::string>(), SteadyClock::now());
      else if (said.contains("end"))
        take_end_of_step(said["end"].get<std::string>());
      else if (said.contains("done"))
        done_ = true;
      else if (said.contains("write"))
        take_transfer(said);
      else
        findings_.push_back({static_cast<Verdict>(std::clamp(said["verdict"].get<int>(), 0, 2)),
                             printable(said["subject"].get<std::string>()),
                             printable(said["text"].get<std::string>()),
                             printable(said["remedy"].get<std::string>())});
    } catch (const json::exception&) {
    }
  }

  void take_message(const std::string& line) {
    if (line.starts_with(kLibraryMark)) {
      const std::string text = line.substr(std::strlen(kLibraryMark));
      const auto unknown = icd::unknown_variables();
      // check_settings() has reported these.
      if (std::find(unknown.begin(), unknown.end(), text) == unknown.end())
        findings_.push_back({Verdict::Bad, "libclique says", printable(text)});
    } else if (!line.empty()) {
      last_message_ = printable(line);
    }
  }

  /// Reports the last transfer to each node that has ended.
  void report_transfers() {
    for (const auto& entry : transfers_) {
      // Not a structured binding, which Clang 14 does not capture.
      const std::string& name = entry.first;
      const Transfer& transfer = entry.second;
      Finding finding{Verdict::Good, "node " + printable(name) + ", transfer",
                      binary_text(transfer.bytes) + " there at " + speed_text(transfer.write) +
                          ", and back at " + speed_text(transfer.read)};
      const auto node = std::find_if(nodes_.begin(), nodes_.end(),
                                     [&](const NodeFindings& each) { return each.name == name; });
      if (node != nodes_.end() && node->link_speed > 0)
        finding.text += "; " + printable(node->interface) + " has " + speed_text(node->link_speed);
      else if (node == nodes_.end() || node->interface.empty())
        finding.text += "; this host copies memory at " + speed_text(transfer.copy);
      findings_.push_back(std::move(finding));
    }
  }

  /// The process has ended, or was ended, before it had checked everything.
  void take_end(const std::string& how) {
    std::string steps;
    for (const auto& [step, begin] : under_way_) steps += (steps.empty() ? "" : "; ") + printable(step);
    if (steps.empty()) steps = "nothing";
    findings_.push_back(
        {Verdict::Bad, "OpenCL",
         "the checks " + how + " during: " + steps +
             (last_message_.empty() ? "" : ". Last output: " + last_message_),
         "look there first: a driver may have crashed or hang, or not had enough time (--timeout)"});
  }

 private:
  /// How data has travelled to a node and back, in bytes per second.
  struct Transfer {
    std::uint64_t bytes = 0;
    double write = 0;
    double read = 0;
    double copy = 0;  ///< how fast this host copies memory
  };

  void take_end_of_step(const std::string& step) {
    const auto found = under_way_.find(step);
    if (found == under_way_.end()) return;
    for (Finding& slow : slow_step("time", printable(step), SteadyClock::now() - found->second))
      findings_.push_back(std::move(slow));
    under_way_.erase(found);
  }
  void take_transfer(const json& said) {
    transfers_[said["node"].get<std::string>()] = {said["bytes"].get<std::uint64_t>(),
                                                   said["write"].get<double>(), said["read"].get<double>(),
                                                   said["copy"].get<double>()};
  }

  const std::vector<NodeFindings>& nodes_;
  Findings& findings_;
  std::map<std::string, SteadyClock::time_point> under_way_;  ///< steps, and when they began
  std::map<std::string, Transfer> transfers_;                 ///< by node
  std::string last_message_;
  bool done_ = false;
};

/// Collects lines from a pipe.
class LineReader {
 public:
  LineReader(Fd fd, std::function<void(const std::string&)> take)
      : fd_(std::move(fd)), take_(std::move(take)) {}
  int fd() const { return fd_.get(); }
  /// Reads once. @returns false at the end
  bool read() {
    char buffer[4096];
    const ssize_t size = ::read(fd_.get(), buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) return true;
    if (size <= 0 || total_ > kLongestOutput) {
      if (!rest_.empty()) take_(std::exchange(rest_, {}));
      fd_ = Fd();
      return false;
    }
    total_ += static_cast<std::size_t>(size);
    rest_.append(buffer, static_cast<std::size_t>(size));
    for (auto end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n')) {
      take_(rest_.substr(0, end));
      rest_.erase(0, end + 1);
    }
    return true;
  }

 private:
  Fd fd_;
  const std::function<void(const std::string&)> take_;
  std::string rest_;
  std::size_t total_ = 0;
};

/// How the process has ended; nothing if it still runs.
std::optional<std::string> probe_end(pid_t process) {
  int status = 0;
  if (::waitpid(process, &status, WNOHANG) != process) return std::nullopt;
  if (WIFSIGNALED(status)) return std::string("were ended by ") + ::strsignal(WTERMSIG(status));
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Findings check_devices(const std::vector<NodeFindings>& nodes, bool configured,
                       SteadyClock::time_point deadline, bool& complete) {
  complete = false;
  Findings findings;
  if (configured && nodes.empty())
    findings.push_back({Verdict::Open, "devices", "they are not checked, because no node can be used"});
  Child probe;
  const auto until = deadline - kReserve;
  try {
    probe = start_child(
        "/proc/self/exe",
        {"clique", "doctor-probe", "--milliseconds", std::to_string(icd::left_until(until).count())},
        probe_environment(nodes, configured, until), Messages::Apart);
  } catch (const std::system_error& error) {
    findings.push_back({Verdict::Open, "OpenCL", printable(error.what())});
    return findings;
  }
  ProbeListener listener(nodes, findings);
  LineReader results(std::move(probe.output), [&](const std::string& line) { listener.take_result(line); });
  LineReader messages(std::move(probe.messages),
                      [&](const std::string& line) { listener.take_message(line); });
  std::optional<std::string> end;
  while (!end && !listener.done() && SteadyClock::now() < until) {
    pollfd items[] = {{results.fd(), POLLIN, 0}, {messages.fd(), POLLIN, 0}};
    // Private workers keep the pipes open after a crash.
    constexpr int kLookMs = 50;
    ::poll(items, 2, static_cast<int>(std::min<long>(icd::left_until(until).count(), kLookMs)));
    end = probe_end(probe.process);
    if (items[1].revents != 0) messages.read();
    if (items[0].revents != 0) results.read();
  }
  complete = listener.done();
  if (!complete) listener.take_end(end.value_or("did not end in time"));
  listener.report_transfers();
  if (!end) {
    // It has done its work, and says goodbye to the nodes.
    while (!(end = probe_end(probe.process)) && listener.done() && SteadyClock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (!end) {
      ::kill(probe.process, SIGKILL);
      ::waitpid(probe.process, nullptr, 0);
    }
  }
  return findings;
}

}  // namespace clique::cli::doctor
