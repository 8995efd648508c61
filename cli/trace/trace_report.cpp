#include "cli/trace/trace_report.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "protocol/printable.hpp"

namespace clique::cli::trace_summary {

namespace {

/// How many kernels, entry points and migrations are listed.
constexpr std::size_t kListed = 3;

std::string seconds(std::int64_t ns) {
  char text[32];
  if (ns >= 1'000'000'000)
    std::snprintf(text, sizeof text, "%.3f s", static_cast<double>(ns) * 1e-9);
  else if (ns >= 1'000'000)
    std::snprintf(text, sizeof text, "%.3f ms", static_cast<double>(ns) * 1e-6);
  else
    std::snprintf(text, sizeof text, "%.1f us", static_cast<double>(ns) * 1e-3);
  return text;
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t kKibi = 1U << 10U;
  constexpr std::uint64_t kMebi = 1U << 20U;
  char text[32];
  if (bytes >= kMebi)
    std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / kMebi);
  else if (bytes >= kKibi)
    std::snprintf(text, sizeof text, "%.1f KiB", static_cast<double>(bytes) / kKibi);
  else
    std::snprintf(text, sizeof text, "%u bytes", static_cast<unsigned>(bytes));
  return text;
}

std::string times(std::size_t count) {
  return count == 1 ? "once" : std::to_string(count) + " times";
}

/// The entries with the longest time, the longest first.
template <typename Key, typename Entry, typename Time>
std::vector<std::pair<Key, Entry>> longest(const std::map<Key, Entry>& all, Time time, std::size_t most) {
  std::vector<std::pair<Key, Entry>> list(all.begin(), all.end());
  std::stable_sort(list.begin(), list.end(),
                   [&](const auto& a, const auto& b) { return time(a.second) > time(b.second); });
  if (list.size() > most) list.resize(most);
  return list;
}

void line(std::FILE* to, const std::string& text) {
  std::fprintf(to, "%s\n", protocol::printable(text).c_str());
}

/// A heading, after an empty line.
void heading(std::FILE* to, const char* text) {
  std::fprintf(to, "\n%s\n", text);
}

std::string text_of(const Sum& sum) {
  return seconds(sum.time) + ", " + times(sum.count);
}

std::int64_t time_of_sum(const Sum& sum) {
  return sum.time;
}

Sum total(const std::map<std::string, Sum>& all) {
  Sum sum;
  for (const auto& [name, one] : all) {
    sum.count += one.count;
    sum.time += one.time;
  }
  return sum;
}

nlohmann::ordered_json json_of_sums(const std::map<std::string, Sum>& sums) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& [name, sum] : sums)
    list.push_back({{"name", name}, {"time", sum.time}, {"count", sum.count}});
  return list;
}

void print_devices(const Figures& figures, std::FILE* to) {
  if (figures.devices.empty()) return;
  heading(to, "Devices");
  for (const auto& [name, device] : figures.devices) {
    const std::int64_t busy = device.busy.covered();
    const std::int64_t percent = figures.end > figures.begin ? 100 * busy / (figures.end - figures.begin) : 0;
    line(to, "  " + name + ": busy " + seconds(busy) + " (" + std::to_string(percent) + " %), " +
                 std::to_string(device.busy.count()) + " commands");
    for (const auto& [kernel, sum] : longest(device.kernels, time_of_sum, kListed))
      line(to, "    kernel " + kernel + ": " + text_of(sum));
  }
}

void print_host(const Figures& figures, std::FILE* to) {
  const Sum calls = total(figures.api);
  const Sum waiting = total(figures.waits);
  heading(to, "Host (all threads together)");
  line(to, "  waiting: " + text_of(waiting));
  for (const auto& [what, sum] : longest(figures.waits, time_of_sum, kListed))
    line(to, "    for " + what + ": " + text_of(sum));
  line(to, "  in calls, without waiting: " + seconds(std::max<std::int64_t>(0, calls.time - waiting.time)) +
               ", " + std::to_string(calls.count) + " calls");
  for (const auto& [name, sum] : longest(figures.api, time_of_sum, kListed))
    line(to, "    " + name + ", with waiting: " + text_of(sum));
}

void print_transfers(const Figures& figures, std::FILE* to) {
  if (figures.transfers.empty()) return;
  heading(to, "Transfers");
  for (const auto& [route, transfers] : figures.transfers)
    line(to, "  " + route + ": " + size_text(transfers.bytes) + " in " + seconds(transfers.spans.covered()) +
                 ", " + times(transfers.spans.count()));
}

void print_compilations(const Figures& figures, std::FILE* to) {
  if (figures.compilations.empty()) return;
  heading(to, "Compilations");
  for (const auto& [node, sum] : figures.compilations) line(to, "  " + node + ": " + text_of(sum));
}

void print_migrations(const Figures& figures, std::FILE* to) {
  if (figures.migrations.empty()) return;
  heading(to, "Most expensive migrations");
  std::size_t number = 0;
  const auto time = [](const Figures::Migrations& migrations) { return migrations.sum.time; };
  for (const auto& [reason, migrations] : longest(figures.migrations, time, kListed)) {
    line(to, "  " + std::to_string(++number) + ". " + migrations.route + ": " + size_text(migrations.bytes) +
                 " in " + text_of(migrations.sum));
    line(to, "     " + reason);
  }
}

}  // namespace

void print_figures(const Figures& figures, std::FILE* to) {
  line(to, "Traced: " + seconds(figures.end - figures.begin));
  print_devices(figures, to);
  print_host(figures, to);
  print_transfers(figures, to);
  print_compilations(figures, to);
  print_migrations(figures, to);
}

nlohmann::ordered_json json_of(const Figures& figures) {
  using nlohmann::ordered_json;
  auto devices = ordered_json::array();
  for (const auto& [name, device] : figures.devices)
    devices.push_back({{"name", name},
                       {"busy", device.busy.covered()},
                       {"commands", device.busy.count()},
                       {"kernels", json_of_sums(device.kernels)}});
  auto transfers = ordered_json::array();
  for (const auto& [route, one] : figures.transfers)
    transfers.push_back({{"route", route},
                         {"bytes", one.bytes},
                         {"time", one.spans.covered()},
                         {"count", one.spans.count()}});
  auto migrations = ordered_json::array();
  for (const auto& [reason, one] : figures.migrations)
    migrations.push_back({{"reason", reason},
                          {"route", one.route},
                          {"bytes", one.bytes},
                          {"time", one.sum.time},
                          {"count", one.sum.count}});
  return {{"traced", figures.end - figures.begin}, {"devices", std::move(devices)},
          {"calls", json_of_sums(figures.api)},    {"waits", json_of_sums(figures.waits)},
          {"transfers", std::move(transfers)},     {"compilations", json_of_sums(figures.compilations)},
          {"migrations", std::move(migrations)}};
}

}  // namespace clique::cli::trace_summary
