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
/// Of what follows the header. To be raised with every change of ProgramBinary.
constexpr std::uint32_t kFormat = 2;

struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint32_t format = kFormat;
  std::uint32_t reserved = 0;
  std::uint64_t size = 0;  ///< of what follows
  std::uint64_t checksum = 0;
};

[[noreturn]] void invalid(const std::string& why) {
  throw InvalidBinary("not a program binary for CUDA: " + why);
}

void require(bool condition, const char* why) {
  if (!condition) invalid(why);
}

void check_kernel(const Kernel& kernel) {
  // cuLaunchKernel takes 4 KiB, or from PTX 8.1 on 32764 bytes.
  require(kernel.params_size <= 32764, "too large a parameter block");
  const auto inside = [&](std::uint64_t offset, std::uint64_t size) {
    return offset <= kernel.params_size && size <= kernel.params_size - offset;
  };
  for (const Arg& arg : kernel.args) {
    require(arg.kind <= ArgKind::Dynamic, "an argument of no known kind");
    require(inside(arg.offset, arg.size), "an argument outside of the parameter block");
    require(arg.alignment != 0 && (arg.alignment & (arg.alignment - 1)) == 0,
            "an alignment of no power of 2");
    const bool number = arg.kind == ArgKind::Local || arg.kind == ArgKind::Sampler;
    const std::uint32_t size = number ? 4 : arg.kind == ArgKind::Dynamic ? 0 : 8;
    require(arg.kind == ArgKind::Value || arg.size == size, "an argument of a wrong size");
  }
  for (const HiddenArg& hidden : kernel.hidden) {
    require(hidden.what <= static_cast<std::uint8_t>(Hidden::PrintfBuffer),
            "a hidden argument of no known kind");
    const bool short_number = hidden.what >= static_cast<std::uint8_t>(Hidden::GroupOffset) &&
                              hidden.what <= static_cast<std::uint8_t>(Hidden::WorkDim);
    require(inside(hidden.offset, short_number ? 4 : 8), "a hidden argument outside of the parameter block");
  }
}

void check(const ProgramBinary& binary) {
  require(binary.type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE || binary.type == CL_PROGRAM_BINARY_TYPE_LIBRARY ||
              binary.type == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT,
          "of no known type");
  std::unordered_set<std::string> names;
  for (const Kernel& kernel : binary.kernels) {
    require(names.insert(kernel.name).second, "a kernel twice");
    check_kernel(kernel);
  }
}

}  // namespace

protocol::Bytes serialize(const ProgramBinary& binary) {
  const msgpack::sbuffer content = encode(binary);
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
  require(bytes.size() >= sizeof header, "too short");
  std::memcpy(&header, bytes.data(), sizeof header);
  require(header.magic == kMagic, "something else");
  require(header.format == kFormat && header.reserved == 0, "of another version of Clique");
  const auto content = bytes.subspan(sizeof header);
  require(content.size() == header.size, "cut short");
  require(XXH3_64bits(content.data(), content.size()) == header.checksum, "damaged");

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
