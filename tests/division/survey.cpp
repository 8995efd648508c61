// division_survey: which kernels of other programs can be divided, and why the rest cannot. Analyses the
// kernels as the daemon does, and asks for the division of launches as the client does
// (icd/core/division/divide.hpp). docs/divisible-kernels.md has its results.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "daemon/compiler/client/compiler_process.hpp"
#include "daemon/compiler/contract/language_features.hpp"
#include "daemon/compiler/contract/message_io.hpp"
#include "icd/core/division/divide.hpp"
#include "icd/core/programs/included_files.hpp"

namespace clique::test::division {

namespace {

namespace compiler = daemon::compiler;
using protocol::Footprint;
using Op = protocol::FootprintOp;

constexpr const char* kUsage =
    "division_survey [--list FILE] [--every N] NAME=FOLDER…\n"
    "  NAME=FOLDER  a suite: the files *.cl in a folder and below. A line `// options: …` in a file asks for "
    "a\n"
    "               build with these options; a file without one is built with those in the file\n"
    "               `build-options` of its folder or the next one above, whose lines are `FILE: options`, "
    "where\n"
    "               FILE may be *. Relative paths begin in the file's folder.\n"
    "  --list FILE  writes suite, file, kernel, result, reason and line, separated by tabs\n"
    "  --every N    takes every Nth file of each suite, in the order of their names\n";

constexpr std::size_t kMembers = 4;
constexpr unsigned kAttempts = 400;
/// Of each buffer: more than what the launches that are tried need.
constexpr std::uint64_t kBufferSize = std::uint64_t{1} << 26U;
/// Of each image, in pixels, in each dimension that it has: likewise.
constexpr std::uint64_t kImageExtent = 8192;
constexpr std::uint64_t kPixelSize = 16;
/// To analyse a program.
constexpr auto kLimit = std::chrono::seconds(120);

enum class Result : std::uint8_t { Divided, OnCuda, OneItem, Writeless, Atomic, Data, Other };

const char* name_of(Result result) {
  switch (result) {
    case Result::Divided:
      return "divided";
    case Result::OnCuda:
      return "divided on CUDA";
    case Result::OneItem:
      return "one work-group";
    case Result::Writeless:
      return "writes no buffer or image";
    case Result::Atomic:
      return "atomic";
    case Result::Data:
      return "data-dependent";
    case Result::Other:
      return "other";
  }
  return "";
}

struct Verdict {
  Result result = Result::Other;
  std::string reason;
  std::uint32_t line = 0;
};

/// A launch that a program might make.
struct Attempt {
  icd::LaunchSpace space;
  std::vector<std::vector<std::byte>> scalars;
};

class Kernel {
 public:
  explicit Kernel(const Footprint& footprint) : footprint_(footprint) {
    for (const auto& access : footprint.accesses) {
      auto& coordinates = buffers_[access.argument];
      coordinates = std::max(coordinates, access.coordinates.size());
      writes_ |= access.writes;
    }
    for (const auto& number : footprint.numbers) {
      if (number.op >= Op::GlobalId && number.op <= Op::GlobalOffset)
        dimensions_ = std::max(dimensions_, number.a + 1);
      if (number.op == Op::GlobalId || number.op == Op::GroupId) asks_for_ids_ = true;
      if (number.op == Op::Argument)
        scalars_.insert({number.a, static_cast<std::uint64_t>(number.value), number.bits});
    }
    for (unsigned d = 0; d < 3; ++d)
      if ((footprint.whole_dimensions >> d & 1U) != 0 && footprint.whole_dimensions != 7)
        dimensions_ = std::max(dimensions_, d + 1);
  }

  Verdict verdict() const {
    if (footprint_.obstacle.find("atomic operation") != std::string::npos)
      return {Result::Atomic, footprint_.obstacle, footprint_.line};
    if (!footprint_.obstacle.empty()) return {Result::Other, footprint_.obstacle, footprint_.line};
    if (!writes_) return {Result::Writeless, "", 0};
    if (!asks_for_ids_ && footprint_.whole_dimensions == 0) return {Result::OneItem, "", 0};
    std::map<std::string, unsigned> reasons;
    if (found(footprint_, reasons)) return {Result::Divided, "", 0};
    Footprint with_hidden_values = footprint_;
    with_hidden_values.whole_dimensions = with_hidden_values.group_id_dimensions = 0;
    std::map<std::string, unsigned> ignored;
    const auto most = std::max_element(reasons.begin(), reasons.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    const std::string reason =
        most == reasons.end() ? "no launch that was tried writes anything" : most->first;
    if (found(with_hidden_values, ignored)) return {Result::OnCuda, reason, footprint_.whole_line};
    if (reason.find("atomic operations") != std::string::npos) return {Result::Atomic, reason, 0};
    if (reason.find("depends on data") != std::string::npos) return {Result::Data, reason, 0};
    return {Result::Other, reason, 0};
  }

 private:
  struct Scalar {
    std::uint32_t argument;
    std::uint64_t offset;
    unsigned bits;
    auto operator<=>(const Scalar&) const = default;
  };

  /// Whether any of the launches can be divided.
  bool found(const Footprint& footprint, std::map<std::string, unsigned>& reasons) const {
    std::mt19937_64 random(1);
    std::vector<icd::UsedBuffer> buffers;
    for (const auto& [argument, coordinates] : buffers_) buffers.push_back(object(argument, coordinates));
    const auto begin = std::chrono::steady_clock::now();
    for (unsigned i = 0; i < kAttempts; ++i) {
      if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(2)) break;
      const Attempt attempt = this->attempt(i, random);
      std::vector<std::span<const std::byte>> scalars;
      for (const auto& each : attempt.scalars) scalars.emplace_back(each);
      const icd::Division division =
          icd::divide({footprint, scalars, buffers, attempt.space, true}, kMembers);
      if (division.parts.empty()) {
        const std::size_t comma = division.reason.find(", ");
        const bool along = division.reason.starts_with("along dimension ");
        ++reasons[without_argument(along ? division.reason.substr(comma + 2) : division.reason)];
        continue;
      }
      if (is_substantial(division, attempt.space)) return true;
    }
    return false;
  }

  /// A buffer, or an image with so many coordinates.
  static icd::UsedBuffer object(std::uint32_t argument, std::size_t coordinates) {
    static const char objects[256] = {};
    icd::UsedBuffer used{argument, &objects[argument % 256], 0, kBufferSize};
    if (coordinates == 0) return used;
    icd::ImageLayout layout{static_cast<unsigned>(coordinates), kPixelSize};
    used.size = kPixelSize;
    for (std::size_t d = 0; d < coordinates; ++d) {
      layout.extent.at(d) = kImageExtent;
      layout.pitch.at(d) = used.size;
      used.size *= kImageExtent;
    }
    used.image = layout;
    return used;
  }

  /// Whether all parts write, and as many bytes as there are work-groups: a launch in which no work-item does
  /// anything proves nothing.
  static bool is_substantial(const icd::Division& division, const icd::LaunchSpace& space) {
    std::uint64_t written = 0;
    for (const icd::DividedPart& part : division.parts) {
      std::uint64_t bytes = 0;
      for (const icd::RangeSet& writes : part.writes) bytes += writes.bytes();
      if (&part != &division.parts.front())
        for (const icd::MergedBuffer& merged : division.merged) bytes += merged.end();
      if (bytes == 0) return false;
      written += bytes;
    }
    return written >= space.groups(0) * space.groups(1) * space.groups(2);
  }

  /// "… argument 3 depends on data (line 7)" without the number of the argument and the line.
  static std::string without_argument(std::string reason) {
    constexpr std::string_view kArgument = " argument ";
    if (const std::size_t at = reason.find(kArgument); at != std::string::npos) {
      const std::size_t number = at + kArgument.size() - 1;
      reason.erase(number, std::min(reason.find(' ', number + 1), reason.size()) - number);
    }
    if (const std::size_t at = reason.find(" (line "); at != std::string::npos) reason.resize(at);
    return reason.find("several") == 0 || reason.find("parts") == 0
               ? reason.substr(0, reason.find(" of argument"))
               : reason;
  }

  /// The first ones have the sizes that kernels mostly have, and scalars that are all the same.
  Attempt attempt(unsigned index, std::mt19937_64& random) const {
    const auto of = [&](auto... values) {
      const std::uint64_t list[] = {static_cast<std::uint64_t>(values)...};
      return list[random() % std::size(list)];
    };
    Attempt attempt;
    attempt.space.dimensions = dimensions_;
    static constexpr std::array<std::array<std::uint64_t, 3>, 3> kLocal{{{64, 1, 1}, {16, 16, 1}, {4, 4, 4}}};
    static constexpr std::array<std::array<std::uint64_t, 3>, 3> kGroups{
        {{64, 1, 1}, {16, 16, 1}, {8, 8, 8}}};
    for (unsigned d = 0; d < dimensions_; ++d) {
      std::uint64_t local = kLocal[dimensions_ - 1][d];
      if (index >= 8) {
        local = dimensions_ == 1   ? of(1, 16, 32, 64, 128, 256, 256)
                : dimensions_ == 2 ? of(1, 2, 4, 8, 8, 16, 16, 32, 32, 64)
                                   : of(1, 1, 4, 8, 16);
        if (random() % 4 == 0) local = d == 0 ? of(2, 4, 5, 32, 64, 128, 256) : 1;
      }
      std::uint64_t groups = kGroups[dimensions_ - 1][d];
      if (index >= 8 && random() % 3 == 0) groups = of(4, 5, 8, 12, 25, 32, 100, 256);
      attempt.space.local[d] = local;
      attempt.space.global[d] = local * groups;
    }
    const auto& global = attempt.space.global;
    const auto& local = attempt.space.local;
    const std::uint64_t all = global[0] * global[1] * global[2];
    const std::uint64_t first[] = {global[0], all, 1, global[0] * 4, 2, all * 4, 0, 16};
    attempt.scalars.resize(256);
    for (const Scalar& scalar : scalars_) {
      if (scalar.argument >= attempt.scalars.size()) continue;
      auto& bytes = attempt.scalars[scalar.argument];
      if (bytes.size() < scalar.offset + scalar.bits / 8) bytes.resize(scalar.offset + scalar.bits / 8);
      const std::uint64_t value =
          index < std::size(first)
              ? first[index]
              : of(global[0], global[0], global[1], global[2], global[0] * 4, global[0] * 8, global[1] * 4,
                   all, all * 4, attempt.space.groups(0), local[0], 0, 0, 1, 1, 2, 4, 16,
                   global[0] * global[1], global[1] * global[2]);
      for (unsigned i = 0; i < scalar.bits / 8; ++i)
        bytes[scalar.offset + i] = static_cast<std::byte>(value >> (8U * i));
    }
    return attempt;
  }

  const Footprint& footprint_;
  std::map<std::uint32_t, std::size_t> buffers_;  ///< arguments, and coordinates of those that are images
  std::set<Scalar> scalars_;
  unsigned dimensions_ = 1;
  bool asks_for_ids_ = false;
  bool writes_ = false;
};

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The options of `// options: …` lines, or of the file `build-options`.
std::vector<std::string> options_of(const std::filesystem::path& path, const std::string& source,
                                    const std::filesystem::path& top) {
  constexpr std::string_view kMark = "// options:";
  std::vector<std::string> found;
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(kMark)) found.push_back(line.substr(kMark.size()));
  for (auto folder = path.parent_path(); found.empty(); folder = folder.parent_path()) {
    std::ifstream file(folder / "build-options");
    std::vector<std::string> others;
    for (std::string line; std::getline(file, line);) {
      const std::size_t colon = line.find(':');
      if (colon == std::string::npos) continue;
      const std::string name = line.substr(0, colon);
      if (name == path.filename().string()) found.push_back(line.substr(colon + 1));
      if (name == "*") others.push_back(line.substr(colon + 1));
    }
    if (found.empty()) found = others;
    if (folder == top || folder == folder.root_path()) break;
  }
  if (found.empty()) found.emplace_back();
  return found;
}

/// Names a kernel's code: variants that differ only in what macros the source defines count as one.
std::string code_of(const std::string& source) {
  std::string kept;
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("#define") && !line.starts_with("// options:")) kept += line + '\n';
  return std::to_string(std::hash<std::string>()(kept));
}

class Survey {
 public:
  explicit Survey(const std::string& list) {
    if (!list.empty()) list_.open(list);
  }

  void add(const std::string& suite, const std::filesystem::path& top, unsigned every) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top))
      if (entry.is_regular_file() && entry.path().extension() == ".cl") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (std::size_t i = 0; i < files.size(); i += every) add_file(suite, top, files[i]);
    finish(suite);
  }

  void print() const {
    std::printf("| suite | kernels | divided | only on CUDA | atomics | data-dependent writes | others |\n");
    std::printf("|---|---|---|---|---|---|---|\n");
    std::map<Result, unsigned> all;
    for (const auto& [suite, counts] : counts_) {
      row(suite, counts);
      for (const auto& [result, count] : counts) all[result] += count;
    }
    row("all", all);
    std::printf(
        "\nNot counted: %u programs that do not compile, %u kernels for a single work-group, %u that write "
        "no buffer or image.\n\n| kernels | reason |\n|---|---|\n",
        failed_, all[Result::OneItem], all[Result::Writeless]);
    std::vector<std::pair<unsigned, std::string>> reasons;
    for (const auto& [reason, count] : reasons_) reasons.emplace_back(count, reason);
    std::sort(reasons.rbegin(), reasons.rend());
    for (const auto& [count, reason] : reasons) std::printf("| %u | %s |\n", count, reason.c_str());
  }

 private:
  static void row(const std::string& name, std::map<Result, unsigned> counts) {
    const unsigned sum = counts[Result::Divided] + counts[Result::OnCuda] + counts[Result::Atomic] +
                         counts[Result::Data] + counts[Result::Other];
    const auto share = [&](Result result) {
      return std::to_string(counts[result]) + " (" +
             std::to_string(sum == 0 ? 0 : (counts[result] * 100 + sum / 2) / sum) + " %)";
    };
    std::printf("| %s | %u | %s | %s | %s | %s | %s |\n", name.c_str(), sum, share(Result::Divided).c_str(),
                share(Result::OnCuda).c_str(), share(Result::Atomic).c_str(), share(Result::Data).c_str(),
                share(Result::Other).c_str());
  }

  void add_file(const std::string& suite, const std::filesystem::path& top,
                const std::filesystem::path& path) {
    const std::string source = read(path);
    const std::string code = code_of(source);
    bool compiled = false;
    std::string log;
    for (const std::string& options : options_of(path, source, top)) {
      compiler::Request request;
      request.kind = compiler::Request::Kind::Analyse;
      request.architecture = "sm_90";
      request.source = source;
      request.options = options;
      request.extensions = compiler::language_extensions();
      auto included =
          icd::find_included_files(source, options, {}, std::filesystem::absolute(path.parent_path()));
      request.folder = included.folder;
      for (auto& file : included.files) {
        request.file_paths.push_back(file.path);
        request.files.push_back(file.text);
      }
      const compiler::Result result = process_.run(request, kLimit);
      if (result.status != 0) {
        log = result.log;
        continue;
      }
      compiled = true;
      for (const Footprint& footprint : compiler::decode<compiler::Analysis>(result.binary).footprints)
        kernels_[code + ' ' + footprint.kernel].push_back(
            {std::filesystem::relative(path, top).string(), footprint.kernel, Kernel(footprint).verdict()});
    }
    if (compiled) return;
    ++failed_;
    if (list_)
      list_ << suite << '\t' << std::filesystem::relative(path, top).string() << "\t\tfailed\t"
            << log.substr(0, log.find('\n')) << "\t0\n"
            << std::flush;
  }

  /// Counts the kernels, each with the result of most of its variants.
  void finish(const std::string& suite) {
    for (const auto& [key, variants] : kernels_) {
      std::map<Result, unsigned> results;
      for (const Variant& variant : variants) ++results[variant.verdict.result];
      const Result result =
          std::max_element(results.begin(), results.end(), [](const auto& a, const auto& b) {
            return a.second < b.second;
          })->first;
      const Variant& variant = *std::find_if(variants.begin(), variants.end(), [&](const Variant& each) {
        return each.verdict.result == result;
      });
      ++counts_[suite][result];
      if (result == Result::Other || result == Result::OnCuda) ++reasons_[general(variant.verdict.reason)];
      if (list_)
        list_ << suite << '\t' << variant.file << '\t' << variant.kernel << '\t' << name_of(result) << '\t'
              << variant.verdict.reason << '\t' << variant.verdict.line << '\n';
    }
    kernels_.clear();
  }

  /// Without the names of functions and variables.
  static std::string general(const std::string& reason) {
    for (const std::string_view begin : {"the program-scope variable"})
      if (reason.starts_with(begin)) return std::string(begin);
    return reason;
  }

  struct Variant {
    std::string file;
    std::string kernel;
    Verdict verdict;
  };

  compiler::CompilerProcess process_{compiler::find_compiler(), compiler::Cache({})};
  std::map<std::string, std::vector<Variant>> kernels_;  ///< of the suite, by code
  std::map<std::string, std::map<Result, unsigned>> counts_;
  std::map<std::string, unsigned> reasons_;
  unsigned failed_ = 0;
  std::ofstream list_;
};

int run(int count, char** words) {
  std::string list;
  unsigned every = 1;
  std::vector<std::pair<std::string, std::filesystem::path>> suites;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const std::size_t sign = word.find('=');
    if ((word == "--list" || word == "--every") && i + 1 < count) {
      if (word == "--list")
        list = words[++i];
      else
        every = static_cast<unsigned>(std::max(1, std::atoi(words[++i])));
    } else if (sign != std::string::npos && sign > 0) {
      suites.emplace_back(word.substr(0, sign), word.substr(sign + 1));
    } else {
      throw std::invalid_argument("what is " + word + "?");
    }
  }
  if (suites.empty()) throw std::invalid_argument("no suites");
  Survey survey(list);
  for (const auto& [name, folder] : suites) survey.add(name, folder, every);
  survey.print();
  return EXIT_SUCCESS;
}

}  // namespace

}  // namespace clique::test::division

int main(int count, char** words) {
  try {
    return clique::test::division::run(count, words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n%s", error.what(), clique::test::division::kUsage);
    return 2;
  }
}
