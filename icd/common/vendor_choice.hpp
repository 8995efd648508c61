// The setting that makes the platform answer as the devices' own driver does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clique::icd {

/// A program that does less, or refuses devices, unless a platform has a name or vendor that it knows.
struct KnownProgram {
  std::string_view name;  ///< of the executable file
  std::string_view gain;  ///< what it does if the platform answers as the driver does, for people
};

/// The programs that `known` stands for: the only list of its kind.
inline constexpr KnownProgram kKnownPrograms[] = {
    {"FahCore_22", "OpenMM in it takes the path for NVIDIA GPUs, and does not warn of an unknown platform"},
    {"FahCore_23", "OpenMM in it takes the path for NVIDIA GPUs, and does not warn of an unknown platform"},
    {"hashcat", "reads the clocks and the temperature of this host's GPUs, and stops when they are too hot"},
    {"hashcat.bin", "as hashcat, under the name that its own archives give it"},
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

}  // namespace clique::icd
