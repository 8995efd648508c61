// What the nodes themselves say: what their hosts lack, and whether they reach each other.
#include <algorithm>

#include "cli/doctor/doctor.hpp"
#include "cli/output/node_view.hpp"
#include "cli/output/text_table.hpp"
#include "icd/remote/nodes/deadline.hpp"
#include "icd/remote/nodes/node_state.hpp"
#include "icd/remote/nodes/trust.hpp"
#include "protocol/printable.hpp"

namespace clique::cli::doctor {

namespace {

void check_health(const icd::NodeState& state, Findings& findings) {
  const std::string subject = "node " + protocol::printable(state.node.text()) + ", health";
  if (!state.status) {
    findings.push_back({Verdict::Open, subject, protocol::printable(state.failure)});
    return;
  }
  const auto problems = health_problems(*state.status);
  for (const HealthProblem& problem : problems)
    findings.push_back({problem.bad ? Verdict::Bad : Verdict::Open, subject, problem.text, problem.remedy});
  if (!problems.empty()) return;
  const protocol::NodeHealth& health = state.status->health;
  findings.push_back(
      {Verdict::Good, subject,
       "it has all walls around sessions; free for compiled programs: " + bytes_text(health.cache.free) +
           ", for shared memory: " + bytes_text(health.shared_memory.free) +
           (health.compiler.empty() ? "" : "; clique-compiler is there") +
           (health.compiler_release.empty() ? "" : ", of the same release")});
}

void check_routes(const std::vector<icd::NodeState>& states, const std::vector<icd::NodeRoute>& routes,
                  Findings& findings) {
  for (const icd::NodeRoute& route : routes)
    if (!route.works())
      findings.push_back({route.outcome ? Verdict::Bad : Verdict::Open, "node-to-node",
                          broken_text(route, states), remedy_of(route, states)});
  const auto works = [](const icd::NodeRoute& route) { return route.works(); };
  if (!routes.empty() && std::all_of(routes.begin(), routes.end(), works))
    findings.push_back({Verdict::Good, "node-to-node",
                        std::to_string(states.size()) + " nodes reach each other, in both directions"});
}

}  // namespace

Findings check_cluster(const icd::NodeSettings& settings, const std::vector<NodeFindings>& nodes,
                       SteadyClock::time_point deadline) {
  Findings findings;
  if (nodes.empty()) return findings;
  std::vector<icd::NodeAddress> addresses;
  addresses.reserve(nodes.size());
  for (const NodeFindings& node : nodes) addresses.push_back(node.address);
  const icd::Trust trust(settings.security);
  const auto states = icd::look_at_nodes(addresses, icd::left_until(deadline) / 2, trust);
  for (const icd::NodeState& state : states) check_health(state, findings);
  check_routes(states, icd::routes_between(states, icd::left_until(deadline), trust), findings);
  return findings;
}

}  // namespace clique::cli::doctor
