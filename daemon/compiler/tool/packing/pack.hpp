// The device library as programs need it: each function and table is a module of its own, with an index by
// name, so that linking a program reads what it uses and nothing else. One file, read in place.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/messages.hpp"

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// One definition of a library.
struct PackMember {
  std::string name;
  std::uint32_t rank = 0;    ///< where several libraries define a name: the lower, the better
  bool conditional = false;  ///< of use only together with a library that is not packed
  std::vector<std::string> needs;
  protocol::Bytes bitcode;
};

/// Takes a module apart. What is internal to it gets names that no other module has, from `prefix`.
std::vector<PackMember> split_module(llvm::Module& module, const std::string& prefix, std::uint32_t rank);

/// Marks as conditional what needs names with the prefix, directly or not, and drops definitions that others
/// are always preferred to, with what only they need.
void prune(std::vector<PackMember>& members, std::string_view prefix);

/// The members as one file.
protocol::Bytes make_pack(std::vector<PackMember> members);

/// Reads a pack in place.
class Pack {
 public:
  /// @param bytes have to outlive this. Throws std::runtime_error where they are not a pack.
  explicit Pack(std::span<const std::uint8_t> bytes);

  /// A definition that the file holds; valid as long as its bytes.
  struct Member {
    std::string_view name;
    bool conditional = false;
    std::span<const std::uint8_t> bitcode;
    std::uint32_t first_need = 0;
    std::uint32_t needs = 0;
  };
  /// The definitions of `name`, best first.
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
