#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/common/commands.hpp"
#include "cli/output/node_view.hpp"
#include "cli/output/print_json.hpp"

namespace clique::cli {

namespace {

struct KillOptions {
  std::vector<std::string> words;  // [NODE] SESSION
  std::string reason;
  bool json = false;
};

std::uint64_t session_number(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0)
    throw Failed("'" + text + "' is not the number of a session; 'clique top --once' lists the sessions");
  return number;
}

/// The configured node that lists this session. Throws Failed if there is none, or more than one.
icd::NodeAddress node_with(const NodeView& view, std::uint64_t session) {
  if (view.nodes().size() == 1) return view.nodes()[0];
  std::vector<icd::NodeAddress> found;
  std::string all;
  for (const icd::NodeState& state : view.look()) {
    if (!state.status) continue;
    const auto& listed = state.status->listed;
    if (std::none_of(listed.begin(), listed.end(), [session](const auto& one) { return one.id == session; }))
      continue;
    found.push_back(state.node);
    all += (all.empty() ? "" : ", ") + state.node.text();
  }
  if (found.size() == 1) return found[0];
  throw Failed(found.empty() ? "no configured node lists a session " + std::to_string(session) +
                                   " to you; 'clique top --once' shows which there are"
                             : "several nodes have a session " + std::to_string(session) + ": " + all +
                                   "; name one of them before the session");
}

void kill_session(const KillOptions& options) {
  check_reason(options.reason);
  const std::uint64_t session = session_number(options.words.back());
  const bool named = options.words.size() > 1;
  const NodeView view(named ? std::vector{options.words[0]} : std::vector<std::string>());
  const icd::NodeAddress node = named ? icd::parse_node(options.words[0]) : node_with(view, session);
  const std::string name = view.steer(node, {protocol::Steer::Act::EndSession, session, options.reason});
  if (options.json)
    print_json({{"node", name}, {"address", node.text()}, {"session", session}, {"ending", true}});
  else
    std::printf("session %s on node %s is ending\n", options.words.back().c_str(), name.c_str());
}

}  // namespace

void add_kill(CLI::App& app, Action& chosen) {
  CLI::App* const command = app.add_subcommand(
      "kill", "End a session: your own, or as an administrator of the node any. Its commands fail");
  auto options = std::make_shared<KillOptions>();
  command
      ->add_option(
          "SESSION", options->words,
          "The session's number in 'clique top'; before it the node, written as in CLIQUE_NODES, if it "
          "is not configured or several are: clique kill [NODE] SESSION")
      ->required()
      ->expected(1, 2);
  command->add_option("--reason", options->reason, "Why, for the program's user")->type_name("TEXT");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([=, &chosen] { chosen = [=] { kill_session(*options); }; });
}

}  // namespace clique::cli
