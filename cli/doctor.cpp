#include "cli/doctor.hpp"
#include "icd/remote/discovery.hpp"
#include "protocol/printable.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"

namespace clique::cli {

namespace {

using doctor::Finding;
using doctor::Findings;
using doctor::Verdict;

struct DoctorOptions {
  bool as_json = false;
  int seconds = 5;
};

void append(Findings& all, Findings more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

Findings examine(doctor::SteadyClock::time_point begin, std::chrono::seconds limit) {
  const icd::SettingValues values = icd::setting_values();
  Findings all = doctor::check_host(values);
  // Most of the time is for nodes and devices.
  const auto walls_until = begin + limit / 4;
  if (icd::is_off()) {
    append(all, doctor::check_walls(true, walls_until));
    all.push_back({Verdict::Open, "nodes", "CLIQUE_NODES is off, so programs do not see Clique",
                   "unset CLIQUE_NODES to use this host or the nodes of nodes.toml"});
    return all;
  }
  if (!values.error.empty()) return all;
  icd::NodeSettings settings = icd::NodeSettings::read();
  append(all, doctor::check_walls(!settings.nodes.empty() || settings.discover, walls_until));
  if (settings.discover) {
    const std::vector<std::string> problems = icd::settle_nodes(settings);
    for (const std::string& problem : problems)
      all.push_back({Verdict::Bad, "discovery", protocol::printable(problem)});
    if (!problems.empty()) return all;
    all.push_back(
        {Verdict::Good, "discovery",
         std::to_string(settings.nodes.size()) + " nodes announce themselves whose keys are known"});
  }
  icd::remove_repeated(settings.nodes);
  // The rest is for what the nodes say, and for the devices.
  const auto nodes = doctor::check_nodes(settings, begin + limit / 2);
  std::vector<doctor::NodeFindings> usable;
  for (const doctor::NodeFindings& node : nodes) {
    append(all, node.findings);
    if (!node.name.empty()) usable.push_back(node);
  }
  append(all, doctor::check_cluster(settings, usable, begin + limit * 3 / 4));
  append(all, doctor::check_devices(usable, !settings.nodes.empty(), begin + limit));
  return all;
}

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
}

void print_findings_as_json(const Findings& findings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Finding& each : findings)
    list.push_back({{"verdict", word_of(each.verdict)},
                    {"subject", each.subject},
                    {"text", each.text},
                    {"remedy", each.remedy}});
  std::printf("%s\n", list.dump(2).c_str());
}

void consult(const DoctorOptions& options) {
  const Findings findings = examine(doctor::SteadyClock::now(), std::chrono::seconds(options.seconds));
  options.as_json ? print_findings_as_json(findings) : print_findings(findings);
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
