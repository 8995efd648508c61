// The file format of the device library, the pack. Each function and table is a module of its own, and an
// index finds them by name, so that linking a program reads only what the program uses. The file is read in
// place.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/payload.hpp"

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// One definition in a library.
struct PackMember {
  std::string name;
  std::uint32_t rank = 0;          ///< if several libraries define a name, the lowest rank is preferred
  bool conditional = false;        ///< only of use together with a library outside the pack (libdevice)
  std::vector<std::string> needs;  ///< names that the definition refers to
  protocol::Bytes bitcode;
};

/// Splits a module into its definitions. Internal ones get unique names, which begin with `prefix`.
std::vector<PackMember> split_module(llvm::Module& module, const std::string& prefix, std::uint32_t rank);

/// Marks the definitions that need names with the prefix, directly or indirectly, as conditional. Removes
/// definitions to which another one is always preferred, and what only those need.
void prune(std::vector<PackMember>& members, std::string_view prefix);

/// The members as one file.
protocol::Bytes make_pack(std::vector<PackMember> members);

/// Reads a pack in place.
class Pack {
 public:
  /// @param bytes must outlive the Pack. Throws std::runtime_error if they are not a pack.
  explicit Pack(std::span<const std::uint8_t> bytes);

  /// A definition in the file; valid as long as the file's bytes.
  struct Member {
    std::string_view name;
    bool conditional = false;
    std::span<const std::uint8_t> bitcode;
    std::uint32_t first_need = 0;  ///< need(first_need) and the following are the names that it refers to
    std::uint32_t needs = 0;       ///< how many
  };
  /// The definitions of `name`, the preferred one first.
  std::vector<Member> find(std::string_view name) const;
  std::string_view need(std::uint32_t index) const;
  std::size_t size() const;

  // The parts of the file.
  struct Header;
  struct Entry;
  struct Text;

 private:
  std::string_view text(const Text& text) const;
  Member member(const Entry& entry) const;

  std::span<const std::uint8_t> bytes_;
  std::span<const Entry> entries_;
  std::span<const Text> needs_;
};

}  // namespace clique::daemon::compiler
