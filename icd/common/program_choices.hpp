// Settings that concern certain programs, and the programs that are known to gain by them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clique::icd {

/// A program that gains by one of the settings below.
struct KnownProgram {
  std::string_view name;  ///< of the executable file
  /// What it does if the platform has the name and vendor of the devices' driver, for people; empty: nothing
  /// else.
  std::string_view gain_of_vendor;
  /// It makes work-groups as large as local memory allows.
  bool fills_local_memory = false;
};

/// The programs that `known` stands for: the only list of its kind.
inline constexpr KnownProgram kKnownPrograms[] = {
    {"FahCore_22", "OpenMM in it takes the path for NVIDIA GPUs, and does not warn of an unknown platform"},
    {"FahCore_23", "OpenMM in it takes the path for NVIDIA GPUs, and does not warn of an unknown platform"},
    {"hashcat", "reads the clocks and the temperature of this host's GPUs, and stops when they are too hot",
     true},
    {"hashcat.bin", "as hashcat, under the name that its own archives give it", true},
};

/// For which programs the platform's name and vendor are those of the first device's driver.
struct VendorChoice {
  bool always = false;
  std::vector<std::string> programs;  ///< names of executable files; `known`: those of kKnownPrograms

  /// @param text "clique" (no program), "native" (all), or "native:" and programs separated by commas
  /// @param name of the setting, for messages. Throws SettingError.
  static VendorChoice parse(std::string_view text, std::string_view name);
  /// @param program name of an executable file, without its folder
  bool is_native_for(std::string_view program) const;
};

/// How much of a GPU's local memory programs are told of.
enum class LocalMemory : std::uint8_t {
  Known,    ///< a quarter for the programs that fill it, all of it for others
  Whole,    ///< all of it
  Quarter,  ///< a quarter
};

/// @param text "known", "whole" or "quarter"
/// @param name of the setting, for messages. Throws SettingError.
LocalMemory parse_local_memory(std::string_view text, std::string_view name);
/// @param program name of an executable file, without its folder
bool is_quarter_for(LocalMemory choice, std::string_view program);
/// The size that a program is told of that is to fill a quarter of a GPU's local memory.
/// @param whole what a work-group can have, in bytes
/// @returns at least what it has with NVIDIA's own driver on any GPU, which programs may need: 48 KiB
std::uint64_t quarter_of_local_memory(std::uint64_t whole);

}  // namespace clique::icd
