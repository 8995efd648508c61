#include "icd/common/program_choices.hpp"

#include <algorithm>
#include <iterator>

#include "icd/common/setting_text.hpp"
#include "icd/common/settings.hpp"

namespace clique::icd {

namespace {

constexpr std::string_view kNative = "native";
constexpr std::string_view kKnown = "known";

/// What is known of a program; a nameless entry if nothing is.
KnownProgram known(std::string_view program) {
  const auto* const found =
      std::find_if(std::begin(kKnownPrograms), std::end(kKnownPrograms),
                   [program](const KnownProgram& each) { return each.name == program; });
  return found == std::end(kKnownPrograms) ? KnownProgram{} : *found;
}

[[noreturn]] void refuse(std::string_view text, std::string_view name) {
  throw SettingError(std::string(name) + " is " + in_quotes(text) +
                     "; write clique, native, or native: and the names of programs, such as "
                     "native:hashcat,known");
}

}  // namespace

VendorChoice VendorChoice::parse(std::string_view text, std::string_view name) {
  if (text == "clique") return {};
  if (text == kNative) return {.always = true, .programs = {}};
  std::string_view rest = text;
  if (!rest.starts_with(kNative) || rest.substr(kNative.size(), 1) != ":") refuse(text, name);
  rest.remove_prefix(kNative.size() + 1);
  VendorChoice choice;
  for (;;) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view program = trimmed(rest.substr(0, end));
    if (program.empty() || program.find('/') != std::string_view::npos) refuse(text, name);
    choice.programs.emplace_back(program);
    if (end == rest.size()) return choice;
    rest.remove_prefix(end + 1);
  }
}

bool VendorChoice::is_native_for(std::string_view program) const {
  return always || std::any_of(programs.begin(), programs.end(), [program](const std::string& each) {
           return each == kKnown ? !known(program).gain_of_vendor.empty() : each == program;
         });
}

LocalMemory parse_local_memory(std::string_view text, std::string_view name) {
  if (text == kKnown) return LocalMemory::Known;
  if (text == "whole") return LocalMemory::Whole;
  if (text == "quarter") return LocalMemory::Quarter;
  throw SettingError(
      std::string(name) + " is " + in_quotes(text) +
      "; write known to tell the programs that fill the local memory of GPUs of a quarter of it, "
      "whole to tell all programs of all of it, or quarter");
}

bool is_quarter_for(LocalMemory choice, std::string_view program) {
  return choice == LocalMemory::Quarter ||
         (choice == LocalMemory::Known && known(program).fills_local_memory);
}

std::uint64_t quarter_of_local_memory(std::uint64_t whole) {
  constexpr std::uint64_t kEnough = 48 << 10;
  return std::min(whole, std::max(whole / 4, kEnough));
}

}  // namespace clique::icd
