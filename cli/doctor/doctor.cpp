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
  int seconds = 60;
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

/// The time that all checks may take. Where all is well they take a small part of it. It is for hosts that
/// are busy, or have to start drivers and compile kernels first.
class Schedule {
 public:
  explicit Schedule(std::chrono::seconds limit) : begin_(SteadyClock::now()), limit_(limit) {}
  /// When so many quarters of the time are over.
  SteadyClock::time_point quarter(int number) const { return begin_ + limit_ * number / 4; }
  /// How long something that only has to answer may be silent: 4 s by default, so that a host that cannot be
  /// reached is reported within 5 s.
  SteadyClock::duration patience() const {
    return std::max<SteadyClock::duration>(limit_ / 15, std::chrono::seconds(4));
  }
  SteadyClock::time_point answers_by(int number, int answers) const {
    return std::min(quarter(number), SteadyClock::now() + answers * patience());
  }

 private:
  const SteadyClock::time_point begin_;
  const SteadyClock::duration limit_;
};

/// Checks what needs nodes that answer: what their hosts lack, whether they reach each other, their devices.
Findings check_usable(const Schedule& schedule, const icd::NodeSettings& settings,
                      const std::vector<doctor::NodeFindings>& nodes) {
  // Nodes that do not reach each other take as long as those that are silent.
  auto cluster = std::async(std::launch::async, [&, deadline = schedule.answers_by(3, 2)] {
    return doctor::check_cluster(settings, nodes, deadline);
  });
  Findings devices = doctor::check_devices(nodes, !settings.nodes.empty(), schedule.quarter(4));
  Findings findings = cluster.get();
  std::move(devices.begin(), devices.end(), std::back_inserter(findings));
  return findings;
}

std::vector<doctor::NodeFindings> usable_of(const std::vector<doctor::NodeFindings>& nodes) {
  std::vector<doctor::NodeFindings> usable;
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(usable),
               [](const doctor::NodeFindings& node) { return !node.name.empty(); });
  return usable;
}

/// Makes all checks, and hands over what they find as they end.
void examine(const Schedule& schedule, const std::function<void(Findings)>& take) {
  const icd::SettingValues values = icd::setting_values();
  take(doctor::check_host(values));
  if (icd::is_off()) {
    take(doctor::check_walls(true, schedule.quarter(1)));
    take({{Verdict::Open, "nodes", "CLIQUE_NODES is off, so programs do not see Clique",
           "unset CLIQUE_NODES to use this host or the nodes of nodes.toml"}});
    return;
  }
  if (!values.error.empty()) return;
  icd::NodeSettings settings = icd::NodeSettings::read();
  take(doctor::check_walls(!settings.nodes.empty() || settings.discover, schedule.quarter(1)));
  if (settings.discover) {
    const std::vector<std::string> problems = icd::settle_nodes(settings);
    for (const std::string& problem : problems)
      take({{Verdict::Bad, "discovery", protocol::printable(problem)}});
    if (!problems.empty()) return;
    take({{Verdict::Good, "discovery",
           std::to_string(settings.nodes.size()) + " nodes announce themselves whose keys are known"}});
  }
  icd::remove_repeated(settings.nodes);
  std::vector<doctor::NodeFindings> prompt;
  std::future<Findings> checked;
  const auto nodes = doctor::check_nodes(
      settings, schedule.quarter(2), schedule.patience(),
      [&](const std::vector<doctor::NodeFindings>& ended) {
        prompt = usable_of(ended);
        if (!prompt.empty())
          checked = std::async(std::launch::async, [&] { return check_usable(schedule, settings, prompt); });
      });
  for (const doctor::NodeFindings& node : nodes) take(node.findings);
  const auto usable = usable_of(nodes);
  Findings findings = checked.valid() ? checked.get() : Findings();
  // With those that were late, the devices have other numbers.
  if (usable.size() > prompt.size() || usable.empty()) findings = check_usable(schedule, settings, usable);
  take(std::move(findings));
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
    std::fprintf(stderr, "clique: %ld of %zu checks found a problem\n", static_cast<long>(bad),
                 findings.size());
  std::fflush(stdout);
  // Does not wait for threads that still wait for a node.
  std::_Exit(bad > 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}

}  // namespace

Findings doctor::slow_step(const std::string& subject, const std::string& step, SteadyClock::duration time) {
  // Programs that wait so long seem to hang.
  constexpr std::chrono::seconds kSlow{5};
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
