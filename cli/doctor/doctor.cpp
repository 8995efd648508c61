#include "cli/doctor/doctor.hpp"
#include "icd/remote/nodes/discovery.hpp"
#include "protocol/printable.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/common/commands.hpp"
#include "cli/output/print_json.hpp"

namespace clique::cli {

namespace {

using doctor::Finding;
using doctor::Findings;
using doctor::SteadyClock;
using doctor::Verdict;

struct DoctorOptions {
  bool as_json = false;
  int seconds = 5;
};

const char* sign_of(Verdict verdict) {
  return verdict == Verdict::Good ? "✓" : verdict == Verdict::Bad ? "✗" : "–";
}

const char* word_of(Verdict verdict) {
  return verdict == Verdict::Good ? "good" : verdict == Verdict::Bad ? "bad" : "open";
}

void print_findings(const Findings& findings) {
  for (const Finding& each : findings) {
    std::printf("%s %s: %s\n", sign_of(each.verdict), each.subject.c_str(), each.text.c_str());
    if (!each.remedy.empty()) std::printf("  → %s\n", each.remedy.c_str());
  }
  // The next check may take long.
  std::fflush(stdout);
}

/// The time that all checks may take, which run side by side as far as they can.
class Schedule {
 public:
  explicit Schedule(std::chrono::seconds limit) : begin_(SteadyClock::now()), limit_(limit) {}
  /// When everything must have ended, but for printing.
  SteadyClock::time_point end() const { return begin_ + limit_ - kForPrinting; }
  /// Nodes that answer later are not used for checks of devices.
  SteadyClock::time_point half() const { return begin_ + limit_ / 2; }
  /// When nodes that have not answered no longer hold up the checks of the others.
  SteadyClock::time_point prompt() const { return std::min(begin_ + std::chrono::milliseconds(500), half()); }
  /// How long something that only has to answer may be silent: two repetitions of a lost packet.
  SteadyClock::duration patience() const {
    return std::max<SteadyClock::duration>(limit_ / 15, std::chrono::seconds(4));
  }
  std::chrono::milliseconds for_discovery() const { return std::chrono::milliseconds(limit_) / 4; }

 private:
  static constexpr std::chrono::milliseconds kForPrinting{250};

  const SteadyClock::time_point begin_;
  const std::chrono::seconds limit_;
};

/// What the checks that need nodes that answer have found.
struct UsableFindings {
  std::size_t nodes = 0;  ///< how many were checked
  bool complete = false;
  Findings cluster;
  Findings devices;
};

/// Checks what needs nodes that answer: what their hosts lack, whether they reach each other, their devices.
UsableFindings check_usable(const Schedule& schedule, const icd::NodeSettings& settings,
                            const std::vector<doctor::NodeFindings>& nodes) {
  UsableFindings found;
  found.nodes = nodes.size();
  // Nodes that do not reach each other take as long as those that are silent.
  const auto deadline = std::min(schedule.end(), SteadyClock::now() + 2 * schedule.patience());
  auto cluster =
      std::async(std::launch::async, [&] { return doctor::check_cluster(settings, nodes, deadline); });
  found.devices = doctor::check_devices(nodes, !settings.nodes.empty(), schedule.end(), found.complete);
  found.cluster = cluster.get();
  return found;
}

std::vector<doctor::NodeFindings> usable_of(const std::vector<doctor::NodeFindings>& nodes) {
  std::vector<doctor::NodeFindings> usable;
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(usable),
               [](const doctor::NodeFindings& node) { return !node.name.empty(); });
  return usable;
}

/// Checks the nodes that answer soon, and again all of them if others have answered until half of the time is
/// over: with those, the devices have other numbers.
UsableFindings check_as_they_answer(const Schedule& schedule, const icd::NodeSettings& settings,
                                    const doctor::NodeChecks& checks) {
  const auto prompt = usable_of(checks.ended_by(schedule.prompt()));
  UsableFindings first;
  if (!prompt.empty()) first = check_usable(schedule, settings, prompt);
  const auto usable = usable_of(checks.ended_by(schedule.half()));
  if (!prompt.empty() && (usable.size() == prompt.size() || !first.complete)) return first;
  UsableFindings second = check_usable(schedule, settings, usable);
  if (second.complete || first.nodes == 0) return second;
  first.devices.insert(first.devices.end(), second.devices.begin(), second.devices.end());
  return first;
}

/// Makes all checks, and hands over what they find as they end.
void examine(const Schedule& schedule, const std::function<void(Findings)>& take) {
  const icd::SettingValues values = icd::setting_values();
  take(doctor::check_host(values));
  if (icd::is_off()) {
    take(doctor::check_walls(true, schedule.end()));
    take({{Verdict::Open, "nodes", "CLIQUE_NODES is off, so programs do not see Clique",
           "unset CLIQUE_NODES to use this host or the nodes of nodes.toml"}});
    return;
  }
  if (!values.error.empty()) return;
  icd::NodeSettings settings = icd::NodeSettings::read();
  auto walls = std::async(std::launch::async, doctor::check_walls,
                          !settings.nodes.empty() || settings.discover, schedule.end());
  if (settings.discover) {
    settings.connect_timeout = std::min(settings.connect_timeout, schedule.for_discovery());
    const std::vector<std::string> problems = icd::settle_nodes(settings);
    for (const std::string& problem : problems)
      take({{Verdict::Bad, "discovery", protocol::printable(problem)}});
    if (!problems.empty()) return take(walls.get());
    take({{Verdict::Good, "discovery",
           std::to_string(settings.nodes.size()) + " nodes announce themselves whose keys are known"}});
  }
  icd::remove_repeated(settings.nodes);
  const doctor::NodeChecks checks(settings, schedule.end(), schedule.patience());
  auto usable = std::async(std::launch::async, check_as_they_answer, std::cref(schedule), std::cref(settings),
                           std::cref(checks));
  take(walls.get());
  const auto nodes = checks.results();
  for (const doctor::NodeFindings& node : nodes) take(node.findings);
  UsableFindings found = usable.get();
  take(std::move(found.cluster));
  take(std::move(found.devices));
  const std::size_t late = usable_of(nodes).size() - found.nodes;
  if (late > 0)
    take({{Verdict::Open, "devices",
           "those of " + std::to_string(late) + (late == 1 ? " node" : " nodes") +
               " are not checked: it took too long until the node had answered, or others had been checked",
           "try again with a longer --timeout"}});
}

void print_findings_as_json(const Findings& findings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Finding& each : findings)
    list.push_back({{"verdict", word_of(each.verdict)},
                    {"subject", each.subject},
                    {"text", each.text},
                    {"remedy", each.remedy}});
  print_json(list);
}

void consult(const DoctorOptions& options) {
  Findings findings;
  examine(Schedule(std::chrono::seconds(options.seconds)), [&](Findings more) {
    if (!options.as_json) print_findings(more);
    findings.insert(findings.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
  });
  if (options.as_json) print_findings_as_json(findings);
  const auto bad = std::count_if(findings.begin(), findings.end(),
                                 [](const Finding& each) { return each.verdict == Verdict::Bad; });
  if (bad > 0)
    std::fprintf(stderr, "clique: %ld of %zu checks found a problem; see what each says\n",
                 static_cast<long>(bad), findings.size());
  std::fflush(stdout);
  // Does not wait for threads that still wait for a node.
  std::_Exit(bad > 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}

}  // namespace

Findings doctor::slow_step(const std::string& subject, const std::string& step, SteadyClock::duration time) {
  // Programs that wait so long seem to hang.
  constexpr std::chrono::seconds kSlow{3};
  if (time < kSlow) return {};
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.1f s", std::chrono::duration<double>(time).count());
  return {{Verdict::Open, subject, "slow: " + step + " has taken " + seconds,
           "the first time, drivers start and kernels are compiled; if it stays slow, the host is overloaded "
           "('clique top' shows its sessions), or the network is"}};
}

void add_doctor(CLI::App& app, Action& chosen) {
  CLI::App* const command = app.add_subcommand(
      "doctor",
      "Check everything between a program and its devices, and say what to do about what is wrong. Exit "
      "status: 1 if a check has found a problem (✗); – marks what could not be checked");
  auto options = std::make_shared<DoctorOptions>();
  command->add_flag("--json", options->as_json, "Print JSON: a list of findings");
  command->add_option("--timeout", options->seconds, "How long this may take, in seconds")
      ->type_name("SECONDS")
      ->check(CLI::Range(2, 600))
      ->capture_default_str();
  command->callback([=, &chosen] { chosen = [=] { consult(*options); }; });
}

}  // namespace clique::cli
