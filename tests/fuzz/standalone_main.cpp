// Runs a target without libFuzzer: its seeds, then a number of random mutations of them, or the files that
// are given, such as those in which libFuzzer keeps what it has found.
// Usage: fuzz_tests TARGET [--rounds NUMBER] [--seed NUMBER] [FILE…]
// An input that crashes is written to the file fuzz-finding in the working directory.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>

#include "tests/fuzz/fuzz.hpp"

namespace {

using Random = std::mt19937_64;

/// Inputs do not grow beyond this by mutation.
constexpr std::size_t kLongestInput = 64U << 10U;

std::size_t below(Random& random, std::size_t limit) {
  return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
}

char random_byte(Random& random) {
  // The ends of the ranges are where mistakes are.
  constexpr std::string_view kEdges{"\x00\x01\x7f\x80\xff", 5};
  return below(random, 2) == 0 ? kEdges[below(random, kEdges.size())] : static_cast<char>(below(random, 256));
}

/// Any part of the text, mostly a short one.
std::string part_of(const std::string& text, Random& random) {
  if (text.empty()) return {};
  const std::size_t begin = below(random, text.size());
  return text.substr(begin, 1 + below(random, below(random, 4) == 0 ? text.size() : 16));
}

void mutate(std::string& text, const std::vector<std::string>& seeds, Random& random) {
  const std::size_t at = below(random, text.size() + 1);
  const bool inside = at < text.size();
  switch (below(random, 7)) {
    case 0:
      if (inside) text[at] = random_byte(random);
      break;
    case 1:
      if (inside) text[at] = static_cast<char>(text[at] ^ (1 << below(random, 8)));
      break;
    case 2:
      text.insert(at, 1, random_byte(random));
      break;
    case 3:
      text.erase(at, 1 + below(random, 8));
      break;
    case 4:
      text.insert(at, part_of(text, random));
      break;
    case 5: {
      const std::string part = part_of(seeds[below(random, seeds.size())], random);
      text.replace(at, below(random, 2) == 0 ? 0 : part.size(), part);
      break;
    }
    default:
      for (std::size_t i = at; i < std::min(at + 8, text.size()); ++i) text[i] = random_byte(random);
  }
  if (text.size() > kLongestInput) text.resize(kLongestInput);
}

std::span<const std::uint8_t> present;

/// Keeps the input that ends the process, to be repeated.
void keep_input(int signal) {
  constexpr const char* kFile = "fuzz-finding";
  const int file = ::open(kFile, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
  static_cast<void>(!::write(file, present.data(), present.size()));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// The target with that name. Ends the process if there is none.
const clique::fuzz::Target& target_named(std::string_view name) {
  const auto& all = clique::fuzz::targets();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const clique::fuzz::Target& target) { return target.name == name; });
  if (found != all.end()) return *found;
  std::cerr << "there is no target '" << name << "'; give one of these first:";
  for (const clique::fuzz::Target& target : all) std::cerr << ' ' << target.name;
  std::cerr << '\n';
  std::exit(2);
}

void run(const clique::fuzz::Target& target, const std::string& text) {
  // In a block of its own size, so that sanitizers notice reads beyond its end.
  const std::vector<std::uint8_t> input(text.begin(), text.end());
  present = input;
  target.test(input.data(), input.size());
}

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    std::cerr << "'" << text << "' is not a number; --rounds and --seed take whole numbers\n";
    std::exit(2);
  }
  return value;
}

}  // namespace

int main(int count, char** arguments) {
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE}) std::signal(signal, keep_input);
  std::uint64_t rounds = 1000;
  std::uint64_t seed = std::random_device()();
  std::vector<std::string> files;
  const clique::fuzz::Target& target = target_named(count > 1 ? arguments[1] : "");
  for (int i = 2; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--rounds" && i + 1 < count)
      rounds = number(arguments[++i]);
    else if (argument == "--seed" && i + 1 < count)
      seed = number(arguments[++i]);
    else
      files.emplace_back(argument);
  }
  for (const std::string& name : files) {
    std::ifstream file(name, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file) {
      std::cerr << name << " cannot be read; give the name of a file with one input\n";
      return 2;
    }
    std::cerr << name << std::endl;
    run(target, text);
  }
  if (!files.empty()) return 0;

  const std::vector<std::string> seeds = target.seeds();
  clique::fuzz::require(!seeds.empty(), "the target has seeds");
  std::cerr << "Running " << seeds.size() << " seeds and " << rounds << " mutations; to repeat: --seed "
            << seed << " --rounds " << rounds << std::endl;
  for (const std::string& each : seeds) run(target, each);
  Random random(seed);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::string text = seeds[below(random, seeds.size())];
    for (std::size_t changes = 1 + below(random, 8); changes > 0; --changes) mutate(text, seeds, random);
    run(target, text);
  }
}
