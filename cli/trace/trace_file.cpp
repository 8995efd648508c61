#include "cli/trace/trace_file.hpp"

#include "cli/common/commands.hpp"
#include "icd/trace/perfetto.hpp"

namespace clique::cli::trace_summary {

namespace {

namespace perfetto = icd::trace::perfetto;

/// Packets of Clique are much smaller, in bytes. A longer one is not of a trace.
constexpr std::uint64_t kLongestPacket = 64U << 20U;

}  // namespace

TraceFile::TraceFile(const std::string& path) : path_(path), stream_(path, std::ios::binary) {
  if (!stream_ || stream_.peek() == std::ifstream::traits_type::eof())
    throw Failed(path + " cannot be read, or is empty; it must be a file that 'clique trace -o' has written");
}

std::optional<std::string> TraceFile::next() {
  const auto tag = varint();
  if (!tag) return std::nullopt;
  constexpr std::uint64_t kPacket = (static_cast<std::uint64_t>(perfetto::Trace::packet) << 3U) | 2U;
  const auto size = *tag == kPacket ? varint() : std::optional<std::uint64_t>(kLongestPacket + 1);
  if (size && *size > kLongestPacket)
    throw Failed(path_ + " is not a trace in Perfetto's format; name a file of 'clique trace -o'");
  std::string packet(size.value_or(0), '\0');
  if (!size || !stream_.read(packet.data(), static_cast<std::streamsize>(packet.size()))) {
    cut_off_ = true;
    return std::nullopt;
  }
  return packet;
}
std::optional<std::uint64_t> TraceFile::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const int byte = stream_.get();
    if (byte == std::ifstream::traits_type::eof()) return std::nullopt;
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return kLongestPacket + 1;
}

}  // namespace clique::cli::trace_summary
