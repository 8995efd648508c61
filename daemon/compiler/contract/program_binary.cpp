#include "daemon/compiler/contract/program_binary.hpp"

#include <CL/cl.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "daemon/compiler/contract/message_io.hpp"

namespace clique::daemon::compiler {

namespace {

constexpr std::array<char, 8> kMagic{'C', 'L', 'Q', 'C', 'U', 'D', 'A', '\0'};
/// Format version of what follows the header. Raise it with every change of ProgramBinary.
constexpr std::uint32_t kFormat = 3;

struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint32_t format = kFormat;
  std::uint32_t reserved = 0;
  std::uint64_t size = 0;  ///< bytes that follow the header
  std::uint64_t checksum = 0;
};

[[noreturn]] void invalid(const std::string& why) {
  throw InvalidBinary("not a valid program binary for CUDA devices: " + why);
}

void require(bool condition, const std::string& why) {
  if (!condition) invalid(why);
}

/// What cuLaunchKernel takes for code of PTX 8.1 or later; for older code it takes 4 KiB.
constexpr std::uint32_t kLargestParameterBlock = 32764;

void check_kernel(const Kernel& kernel) {
  const auto expect = [&](bool condition, const char* why) {
    if (!condition) invalid("kernel '" + kernel.name + "': " + why);
  };
  if (kernel.params_size > kLargestParameterBlock)
    invalid("kernel '" + kernel.name + "': the parameter block has " + std::to_string(kernel.params_size) +
            " bytes; the limit is " + std::to_string(kLargestParameterBlock));
  const auto zeros = std::count(kernel.required_group.begin(), kernel.required_group.end(), 0U);
  expect(zeros == 0 || zeros == 3, "the required size of work-groups is 0 in some dimensions only");
  const auto inside = [&](std::uint64_t offset, std::uint64_t size) {
    return offset <= kernel.params_size && size <= kernel.params_size - offset;
  };
  for (const Arg& arg : kernel.args) {
    expect(arg.kind <= ArgKind::Dynamic, "an argument has an unknown kind");
    expect(inside(arg.offset, arg.size), "an argument lies outside the parameter block");
    expect(arg.alignment != 0 && (arg.alignment & (arg.alignment - 1)) == 0,
           "the alignment of an argument is not a power of 2");
    const bool number = arg.kind == ArgKind::Local || arg.kind == ArgKind::Sampler;
    const std::uint32_t size = number ? 4 : arg.kind == ArgKind::Dynamic ? 0 : 8;
    expect(arg.kind == ArgKind::Value || arg.size == size, "the size of an argument does not match its kind");
  }
  for (const HiddenArg& hidden : kernel.hidden) {
    expect(hidden.what <= static_cast<std::uint8_t>(Hidden::AccessChecks),
           "a hidden argument has an unknown kind");
    const bool short_number = hidden.what >= static_cast<std::uint8_t>(Hidden::GroupOffset) &&
                              hidden.what <= static_cast<std::uint8_t>(Hidden::WorkDim);
    expect(inside(hidden.offset, short_number ? 4 : 8), "a hidden argument lies outside the parameter block");
  }
}

void check(const ProgramBinary& binary) {
  require(binary.type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE || binary.type == CL_PROGRAM_BINARY_TYPE_LIBRARY ||
              binary.type == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT,
          "unknown type " + std::to_string(binary.type));
  std::unordered_set<std::string> names;
  for (const Kernel& kernel : binary.kernels) {
    require(names.insert(kernel.name).second, "it contains kernel '" + kernel.name + "' twice");
    check_kernel(kernel);
  }
}

}  // namespace

protocol::Bytes serialize(const ProgramBinary& binary) {
  const protocol::Buffer content = encode(binary);
  Header header;
  header.size = content.size();
  header.checksum = XXH3_64bits(content.data(), content.size());
  protocol::Bytes bytes(sizeof header + content.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, content.data(), content.size());
  return bytes;
}

ProgramBinary parse_program_binary(std::span<const std::uint8_t> bytes) {
  Header header;
  require(bytes.size() >= sizeof header,
          "it has " + std::to_string(bytes.size()) + " bytes, less than the header");
  std::memcpy(&header, bytes.data(), sizeof header);
  require(header.magic == kMagic, "it does not begin with the magic number");
  require(header.format == kFormat && header.reserved == 0,
          "it was made by another version of Clique (format " + std::to_string(header.format) +
              "; this version reads format " + std::to_string(kFormat) + "): build the program again");
  const auto content = bytes.subspan(sizeof header);
  require(content.size() == header.size, "it has " + std::to_string(content.size()) +
                                             " bytes of content instead of " + std::to_string(header.size));
  require(XXH3_64bits(content.data(), content.size()) == header.checksum,
          "the checksum does not match the content");

  ProgramBinary binary;
  try {
    binary = decode<ProgramBinary>(content);
  } catch (const protocol::DecodeError& error) {
    invalid(error.what());
  }
  check(binary);
  return binary;
}

}  // namespace clique::daemon::compiler
