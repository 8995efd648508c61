#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "cli/common/commands.hpp"
#include "cli/output/node_view.hpp"
#include "cli/output/print_json.hpp"
#include "cli/output/terminal.hpp"
#include "cli/output/text_table.hpp"
#include "protocol/printable.hpp"

namespace clique::cli {

namespace {

using TopClock = std::chrono::steady_clock;
using protocol::printable;

/// What the sessions can be sorted by, in the order in which the key 's' goes through it.
constexpr std::string_view kSortKeys[] = {"kernels", "load",  "network", "shared", "peers",
                                          "memory",  "since", "node",    "client", "program"};
/// Between the two looks of --once.
constexpr std::chrono::seconds kOnceInterval{1};
/// How often keys are read while an answer is awaited.
constexpr std::chrono::milliseconds kKeyInterval{50};
/// How much of a program's name the table shows; --json has all of it.
constexpr std::size_t kProgramWidth = 32;

struct TopOptions {
  bool once = false;
  bool json = false;
  std::string sort{kSortKeys[0]};
  std::string filter;
  double interval = 1;
};

/// What a session does in a second.
struct Rates {
  double kernels = 0;
  double network_in = 0;
  double network_out = 0;
  double shared_in = 0;
  double shared_out = 0;
  double peers_in = 0;
  double peers_out = 0;
};

struct SessionRow {
  std::size_t node;  ///< position among the nodes
  std::string node_name;
  protocol::SessionStatus session;
  std::optional<Rates> rates;  ///< nothing: it was not there at the last look
};

/// The nodes' answers, and when they were given.
struct Look {
  std::vector<icd::NodeState> states;
};

double rate_of(std::uint64_t now, std::uint64_t before, double seconds) {
  return now > before ? static_cast<double>(now - before) / seconds : 0;
}

Rates rates_of(const protocol::Usage& now, const protocol::Usage& before, double seconds) {
  return {rate_of(now.kernels, before.kernels, seconds),
          rate_of(now.network_in, before.network_in, seconds),
          rate_of(now.network_out, before.network_out, seconds),
          rate_of(now.shared_in, before.shared_in, seconds),
          rate_of(now.shared_out, before.shared_out, seconds),
          rate_of(now.peers_in, before.peers_in, seconds),
          rate_of(now.peers_out, before.peers_out, seconds)};
}

/// The session's rates since the earlier look, by the node's own clock.
std::optional<Rates> rates_between(const protocol::SessionStatus& session, const protocol::Status& now,
                                   const icd::NodeState& earlier) {
  if (!earlier.status || now.uptime_ms <= earlier.status->uptime_ms) return std::nullopt;
  const double seconds = static_cast<double>(now.uptime_ms - earlier.status->uptime_ms) / 1000;
  for (const protocol::SessionStatus& before : earlier.status->listed)
    if (before.id == session.id) return rates_of(session.usage, before.usage, seconds);
  return std::nullopt;
}

bool contains_text(const std::string& text, const std::string& part) {
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

bool passes(const SessionRow& row, const std::string& filter) {
  const protocol::SessionStatus& session = row.session;
  for (const std::string& text :
       {row.node_name, session.client, session.user, session.address, session.program})
    if (contains_text(text, filter)) return true;
  return false;
}

/// What comes first has the larger number, or the smaller text.
using SortValue = std::pair<double, std::string>;

SortValue sort_value(const SessionRow& row, std::string_view key) {
  const Rates rates = row.rates.value_or(Rates{});
  if (key == "kernels") return {-rates.kernels, ""};
  if (key == "load")
    return {row.session.load == protocol::kUnknown ? 1 : -static_cast<double>(row.session.load), ""};
  if (key == "network") return {-rates.network_in - rates.network_out, ""};
  if (key == "shared") return {-rates.shared_in - rates.shared_out, ""};
  if (key == "peers") return {-rates.peers_in - rates.peers_out, ""};
  if (key == "memory") return {-static_cast<double>(row.session.usage.memory), ""};
  if (key == "since") return {-static_cast<double>(row.session.age_ms), ""};
  if (key == "client") return {0, row.session.client};
  if (key == "program") return {0, row.session.program};
  return {0, row.node_name};
}

std::vector<SessionRow> session_rows(const Look& now, const Look& before, const TopOptions& options) {
  std::vector<SessionRow> rows;
  for (std::size_t i = 0; i < now.states.size(); ++i) {
    const icd::NodeState& state = now.states[i];
    if (!state.status) continue;
    for (const protocol::SessionStatus& session : state.status->listed) {
      SessionRow row{i, node_name(state), session, rates_between(session, *state.status, before.states[i])};
      if (passes(row, options.filter)) rows.push_back(std::move(row));
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const SessionRow& one, const SessionRow& other) {
    return sort_value(one, options.sort) < sort_value(other, options.sort);
  });
  return rows;
}

/// "IN/OUT" in bytes per second.
std::string both_rates(double in, double out) {
  const auto bytes = [](double rate) { return bytes_text(static_cast<std::uint64_t>(rate)); };
  return bytes(in) + "/" + bytes(out);
}

std::vector<std::string> session_lines(const std::vector<SessionRow>& rows) {
  std::vector<std::vector<std::string>> cells;
  for (const SessionRow& row : rows) {
    const protocol::SessionStatus& session = row.session;
    std::vector<std::string> line{
        row.node_name,
        std::to_string(session.id),
        cut_to_width(printable(session.program), kProgramWidth),
        printable(session.client),
        session.user.empty() ? "-" : printable(session.user),
        printable(session.address),
        duration_text(session.age_ms),
        std::to_string(session.share),
        bytes_text(session.usage.memory),
        session.load == protocol::kUnknown ? "-" : std::to_string(session.load) + "%"};
    if (row.rates) {
      const Rates& rates = *row.rates;
      line.insert(line.end(), {rate_text(rates.kernels), both_rates(rates.network_in, rates.network_out),
                               both_rates(rates.shared_in, rates.shared_out),
                               both_rates(rates.peers_in, rates.peers_out)});
    } else {
      line.insert(line.end(), 4, "-");
    }
    cells.push_back(std::move(line));
  }
  return table_lines({{"NODE"},
                      {"SESSION", true},
                      {"PROGRAM"},
                      {"CLIENT"},
                      {"USER"},
                      {"FROM"},
                      {"SINCE", true},
                      {"SHARE", true},
                      {"MEMORY", true},
                      {"LOAD", true},
                      {"KERNELS/s", true},
                      {"NETWORK/s", true},
                      {"SHARED/s", true},
                      {"PEERS/s", true}},
                     cells);
}

/// A bar that shows a part of a whole, and the percentage.
std::string bar(double part) {
  constexpr int kWidth = 20;
  const double share = std::clamp(part, 0.0, 1.0);
  const auto full = static_cast<std::size_t>(std::lround(share * kWidth));
  char percent[16];
  std::snprintf(percent, sizeof percent, "%3.0f%%", share * 100);
  return "[" + std::string(full, '|') + std::string(kWidth - full, ' ') + "] " + percent;
}

std::string device_line(const protocol::DeviceStatus& device) {
  std::string line = "  " + printable(device.name) + "  memory ";
  if (device.memory_total == protocol::kUnknown) {
    line += "unknown";
  } else if (device.memory_free == protocol::kUnknown || device.memory_free > device.memory_total) {
    line += bytes_text(device.memory_total) + ", free unknown";
  } else {
    const std::uint64_t used = device.memory_total - device.memory_free;
    line += bar(static_cast<double>(used) /
                static_cast<double>(std::max<std::uint64_t>(1, device.memory_total))) +
            " of " + bytes_text(device.memory_total);
  }
  line += "  load ";
  return line + (device.utilisation == protocol::kUnknown
                     ? "unknown"
                     : bar(static_cast<double>(device.utilisation) / 100));
}

std::vector<std::string> node_lines(const icd::NodeState& state) {
  std::string line = node_name(state) + "  " + state.node.text() + "  " + state_text(state);
  if (!state.status) return {line};
  const protocol::Status& status = *state.status;
  line += "  for " + duration_text(status.uptime_ms) + "  sessions " + sessions_text(status) +
          "  round trip " + round_trip_text(state) + "  encryption " +
          std::string(to_text(status.encryption));
  if (!status.administrator) line += "  (only your own sessions are listed)";
  std::vector<std::string> lines{line};
  for (const HealthProblem& problem : health_problems(status)) lines.push_back("  ! " + problem.text);
  for (const protocol::DeviceStatus& device : status.devices) lines.push_back(device_line(device));
  return lines;
}

std::vector<std::string> page_of(const Look& now, const Look& before, const TopOptions& options) {
  std::vector<std::string> lines;
  for (const icd::NodeState& state : now.states)
    for (std::string& line : node_lines(state)) lines.push_back(std::move(line));
  lines.emplace_back();
  for (std::string& line : session_lines(session_rows(now, before, options)))
    lines.push_back(std::move(line));
  return lines;
}

nlohmann::ordered_json json_of_rates(const Rates& rates) {
  return {{"kernels", rates.kernels},         {"network_in", rates.network_in},
          {"network_out", rates.network_out}, {"shared_in", rates.shared_in},
          {"shared_out", rates.shared_out},   {"peers_in", rates.peers_in},
          {"peers_out", rates.peers_out}};
}

void print_look_as_json(const Look& now, const Look& before, const TopOptions& options) {
  auto nodes = nlohmann::ordered_json::array();
  for (const icd::NodeState& state : now.states) {
    nodes.push_back(json_of(state));
    if (state.status) nodes.back()["listed_sessions"] = nlohmann::ordered_json::array();
  }
  for (const SessionRow& row : session_rows(now, before, options)) {
    auto session = json_of(row.session);
    session["per_second"] = row.rates ? json_of_rates(*row.rates) : nlohmann::ordered_json();
    nodes[row.node]["listed_sessions"].push_back(std::move(session));
  }
  print_json({{"nodes", std::move(nodes)}});
}

void show_once(const NodeView& view, const TopOptions& options) {
  const Look before{view.look()};
  std::this_thread::sleep_for(kOnceInterval);
  const Look now{view.look()};
  if (options.json) {
    print_look_as_json(now, before, options);
    return;
  }
  for (const std::string& line : page_of(now, before, options)) std::printf("%s\n", line.c_str());
}

void next_sort_key(TopOptions& options) {
  const auto* const present = std::find(std::begin(kSortKeys), std::end(kSortKeys), options.sort);
  options.sort = present + 1 < std::end(kSortKeys) ? *(present + 1) : kSortKeys[0];
}

/// The text that a user types after '/', which filters the sessions at once.
class FilterKeys {
 public:
  bool typing() const { return typing_; }
  void begin() { typing_ = true; }
  /// @param filter is edited. @returns whether the key was for it
  bool take(char key, std::string& filter) {
    constexpr char kEscape = 27;
    constexpr char kBackspace = 8;
    constexpr char kDelete = 127;
    if (!typing_ || key == 0) return false;
    if (key == '\n' || key == '\r') {
      typing_ = false;
    } else if (key == kEscape) {
      typing_ = false;
      filter.clear();
    } else if (key == kBackspace || key == kDelete) {
      remove_last(filter);
    } else if (static_cast<unsigned char>(key) >= ' ' && filter.size() < kLongest) {
      filter += key;
    }
    return true;
  }

 private:
  static constexpr std::size_t kLongest = 256;

  /// Removes a character of UTF-8.
  static void remove_last(std::string& text) {
    constexpr unsigned kKind = 0xc0;
    constexpr unsigned kFollows = 0x80;
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & kKind) == kFollows) text.pop_back();
    if (!text.empty()) text.pop_back();
  }

  bool typing_ = false;
};

std::string key_line(const TopOptions& options, bool typing) {
  if (typing) return "filter: " + printable(options.filter) + "_    Enter: keep it    Esc: show all sessions";
  return "sorted by " + options.sort +
         (options.filter.empty() ? "" : ", filtered by " + protocol::in_quotes(printable(options.filter))) +
         "    s: sort by something else    /: filter    q: quit";
}

/// Asks the nodes on a thread of its own, which nobody waits for.
std::future<Look> look_meanwhile(const std::shared_ptr<const NodeView>& view) {
  std::packaged_task<Look()> task([view] { return Look{view->look()}; });
  std::future<Look> answer = task.get_future();
  std::thread(std::move(task)).detach();
  return answer;
}

bool has_come(const std::future<Look>& answer) {
  return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

void show_live(const std::shared_ptr<const NodeView>& view, TopOptions options) {
  const std::chrono::duration<double> interval(options.interval);
  std::optional<Look> now;
  Look before;
  TopClock::time_point next;
  std::future<Look> answer = look_meanwhile(view);
  FilterKeys filter;
  {
    const Terminal terminal;
    Terminal::show({"asking " + std::to_string(view->nodes().size()) + " nodes …"});
    for (;;) {
      bool changed = false;
      if (answer.valid() && has_come(answer)) {
        Look fresh = answer.get();
        before = now ? std::move(*now) : fresh;
        now = std::move(fresh);
        next = TopClock::now() + std::chrono::duration_cast<TopClock::duration>(interval);
        changed = true;
      } else if (!answer.valid() && TopClock::now() >= next) {
        answer = look_meanwhile(view);
      }
      const char key = Terminal::key(changed ? std::chrono::milliseconds(0) : kKeyInterval);
      if (Terminal::ended()) break;
      if (!filter.take(key, options.filter)) {
        if (key == 'q') break;
        if (key == 's') next_sort_key(options);
        if (key == '/') filter.begin();
      }
      if (!now || (!changed && key == 0)) continue;
      std::vector<std::string> lines{key_line(options, filter.typing()), ""};
      for (std::string& line : page_of(*now, before, options)) lines.push_back(std::move(line));
      Terminal::show(lines);
    }
  }
  // A node that does not answer must not keep the user waiting, and the thread that asks it needs this
  // process.
  if (answer.valid() && !has_come(answer)) std::_Exit(EXIT_SUCCESS);
}

void run_top(const TopOptions& options) {
  if (std::find(std::begin(kSortKeys), std::end(kSortKeys), options.sort) == std::end(kSortKeys)) {
    std::string all;
    for (const std::string_view key : kSortKeys) all += (all.empty() ? "" : ", ") + std::string(key);
    throw Failed("sessions cannot be sorted by '" + options.sort + "'; choose one of " + all);
  }
  if (!(options.interval >= 0.1 && options.interval <= 3600))
    throw Failed("an interval of " + std::to_string(options.interval) +
                 " seconds is not possible; write a number from 0.1 to 3600");
  const auto view = std::make_shared<const NodeView>(std::vector<std::string>());
  if (options.once || options.json || !Terminal::available())
    show_once(*view, options);
  else
    show_live(view, options);
}

}  // namespace

void add_top(CLI::App& app, Action& chosen) {
  CLI::App* const command =
      app.add_subcommand("top",
                         "Show the configured nodes, their devices and sessions, again and again. Key s "
                         "sorts by something else, / filters the sessions, "
                         "q quits. Users see their own sessions, administrators of a node all of them");
  auto options = std::make_shared<TopOptions>();
  command->add_flag(
      "--once", options->once,
      "Print everything once, after two looks one second apart; the default without a terminal");
  command
      ->add_option(
          "--sort", options->sort,
          "Order of the sessions: kernels, load, network, shared, peers, memory, since, node, client or "
          "program")
      ->type_name("KEY")
      ->capture_default_str();
  command
      ->add_option("--filter", options->filter,
                   "Only sessions with this in their node, client, user, address or program")
      ->type_name("TEXT");
  command->add_option("--interval", options->interval, "Time between two looks, in seconds")
      ->type_name("SECONDS")
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON, as --once");
  command->callback([=, &chosen] { chosen = [=] { run_top(*options); }; });
}

}  // namespace clique::cli
