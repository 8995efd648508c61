#include "daemon/backend/common/checks.hpp"

#include <algorithm>
#include <cstring>

namespace clique::daemon {

namespace {

__extension__ using Wide = unsigned __int128;

std::string bytes_of(std::uint64_t size) {
  return std::to_string(size) + " bytes";
}

std::string text_of(const protocol::Triple& sizes) {
  return std::to_string(sizes[0]) + " x " + std::to_string(sizes[1]) + " x " + std::to_string(sizes[2]);
}

}  // namespace

std::string over_limit(const std::string& kernel, std::chrono::seconds limit) {
  return "kernel '" + kernel + "' ran for more than " + std::to_string(limit.count()) +
         " s, this node's limit for one kernel (the option kernel-timeout of cliqued)";
}

void check_range(std::uint64_t offset, std::uint64_t size, std::uint64_t total, const char* what) {
  if (size > total || offset > total - size)
    throw RuleBroken(std::string(what) + " of " + bytes_of(size) + " at offset " + std::to_string(offset) +
                     " goes beyond the end of its object, which has " + bytes_of(total));
}

std::uint64_t pointer_offset(const protocol::KernelArg& arg, std::uint64_t total) {
  std::uint64_t offset = 0;
  if (arg.value.size() != sizeof offset)
    throw RuleBroken("pointer argument " + std::to_string(arg.index) + " has a value of " +
                     bytes_of(arg.value.size()) + "; it must be an offset of 8 bytes");
  std::memcpy(&offset, arg.value.data(), sizeof offset);
  check_range(offset, 1, total, "a pointer argument");
  return offset;
}

void check_transfer(std::uint64_t offset, std::uint64_t size, std::uint64_t total, std::uint64_t unit,
                    const char* what) {
  check_range(offset, size, total, what);
  if (size == 0) throw RuleBroken(std::string(what) + " has no bytes");
  if (offset % unit != 0 || size % unit != 0)
    throw RuleBroken(std::string(what) + " of " + bytes_of(size) + " at byte " + std::to_string(offset) +
                     " divides pixels of an image, which have " + bytes_of(unit));
}

void check_content_size(const protocol::Push& push, const ContentSizeObjects& objects) {
  check_range(0, sizeof(std::uint64_t), objects.number_size, "a content size");
  const std::string object = std::to_string(push.content_size);
  if (objects.number_is_image) throw RuleBroken("content size " + object + " is an image, not a buffer");
  if (objects.pushed_is_image) throw RuleBroken("a push of an image names content size " + object);
  if (push.peer == protocol::kClientPeer)
    throw RuleBroken("a push to the client names content size " + object);
}

std::uint64_t meant_size(const protocol::Push& push, const std::array<std::uint8_t, 8>& number) {
  std::uint64_t content = 0;
  for (std::size_t i = 0; i < number.size(); ++i) content |= std::uint64_t{number[i]} << (8 * i);
  return std::clamp<std::uint64_t>(content > push.offset ? content - push.offset : 0, 1, push.size);
}

void check_earlier_part(std::uint64_t number, std::size_t before) {
  if (number >= before)
    throw RuleBroken("a part of a command waits for part " + std::to_string(number) +
                     ", which is not before it: " + std::to_string(before) + " parts are");
}

void check_part(std::uint64_t size) {
  if (size > protocol::kMaxPayload)
    throw RuleBroken("a part of " + bytes_of(size) + "; a part has at most " +
                     bytes_of(protocol::kMaxPayload));
}

void check_data_size(std::uint64_t region, std::uint64_t data) {
  if (region != data)
    throw RuleBroken("a region of " + bytes_of(region) + " comes with a size of " + bytes_of(data));
}

std::uint64_t volume(const protocol::Triple& sizes) {
  std::uint64_t result = 1;
  for (const std::uint64_t size : sizes)
    if (__builtin_mul_overflow(result, size, &result))
      throw RuleBroken("the size of a region of " + text_of(sizes) + " overflows 64 bits");
  return result;
}

void check_rect(const protocol::Triple& origin, const protocol::Triple& region, std::uint64_t row_pitch,
                std::uint64_t slice_pitch, std::uint64_t total) {
  const Wide row = row_pitch != 0 ? row_pitch : region[0];
  const Wide slice = slice_pitch != 0 ? Wide{slice_pitch} : row * region[1];
  constexpr std::uint64_t kLarge = 1ULL << 40U;
  for (int i = 0; i < 3; ++i)
    if (origin[i] > kLarge || region[i] > kLarge)
      throw RuleBroken("a rectangle of " + text_of(region) + " at " + text_of(origin) +
                       ": no number may be above 2^40");
  if (row > kLarge || slice > kLarge)
    throw RuleBroken("a rectangle's row pitch " + std::to_string(row_pitch) + " or slice pitch " +
                     std::to_string(slice_pitch) + " is above 2^40 bytes");
  if (region[0] == 0 || region[1] == 0 || region[2] == 0) return;
  const Wide end =
      slice * (origin[2] + region[2] - 1) + row * (origin[1] + region[1] - 1) + origin[0] + region[0];
  if (end > total)
    throw RuleBroken("a rectangle of " + text_of(region) + " at " + text_of(origin) +
                     " goes beyond its buffer of " + bytes_of(total));
}

void check_region(const protocol::Triple& origin, const protocol::Triple& region,
                  const std::array<std::size_t, 3>& extent) {
  for (int i = 0; i < 3; ++i)
    if (region[i] > extent[i] || origin[i] > extent[i] - region[i])
      throw RuleBroken("a region of " + text_of(region) + " pixels at " + text_of(origin) +
                       " goes beyond its image of " + text_of({extent[0], extent[1], extent[2]}));
}

void check_color(std::size_t size) {
  if (size != 16 && size != 4)
    throw RuleBroken("a fill colour of " + bytes_of(size) + "; it must have 16, or 4 for a depth image");
}

void check_dimensions(const protocol::RunKernel& message) {
  const std::size_t dimensions = message.global.size();
  if (dimensions > 3)
    throw RuleBroken("a launch with " + std::to_string(dimensions) + " dimensions; at most 3 are allowed");
  for (const auto* sizes : {&message.offset, &message.local})
    if (!sizes->empty() && sizes->size() != dimensions)
      throw RuleBroken("a launch with a global size of " + std::to_string(dimensions) +
                       " dimensions, but an offset or a local size of " + std::to_string(sizes->size()));
  const protocol::LaunchPart& part = message.part;
  if (part.whole()) return;
  if (part.dimension >= dimensions || part.begin >= part.end || part.end > message.global[part.dimension])
    throw RuleBroken("a launch of the work-items " + std::to_string(part.begin) + " to " +
                     std::to_string(part.end) + " in dimension " + std::to_string(part.dimension) +
                     ", which its range does not have");
  if (message.local.empty()) return;
  const std::uint64_t local = message.local[part.dimension];
  if (local != 0 &&
      (part.begin % local != 0 || (part.end % local != 0 && part.end != message.global[part.dimension])))
    throw RuleBroken("a launch of the work-items " + std::to_string(part.begin) + " to " +
                     std::to_string(part.end) + ", which are not whole work-groups of " +
                     std::to_string(local));
}

void check_argument(std::uint32_t index, std::size_t count) {
  if (index >= count)
    throw RuleBroken("argument " + std::to_string(index) + " was set of a kernel that has " +
                     std::to_string(count) + " arguments");
}

void check_codes(const protocol::CreateProgram& message) {
  if (message.kind > protocol::ProgramKind::BuiltInKernels)
    throw RuleBroken("program " + std::to_string(message.id) + " is of the unknown kind " +
                     std::to_string(static_cast<unsigned>(message.kind)));
  const std::size_t codes =
      message.kind == protocol::ProgramKind::Binary ? message.devices.size() : std::size_t{1};
  if (message.code.size() != codes || codes == 0)
    throw RuleBroken("program " + std::to_string(message.id) + " comes with " +
                     std::to_string(message.code.size()) +
                     " codes; it must have one for each device if it is of binaries, else one");
}

void check_headers(const protocol::CompileProgram& message) {
  if (message.headers.size() != message.header_names.size())
    throw RuleBroken("a compilation with " + std::to_string(message.headers.size()) + " headers and " +
                     std::to_string(message.header_names.size()) + " header names");
}

void check_shared_at(const protocol::CreateBuffer& message, const std::byte* shared) {
  if (message.address != reinterpret_cast<std::uintptr_t>(shared))
    throw RuleBroken("a buffer at address " + std::to_string(message.address) + " in segment " +
                     std::to_string(message.segment) + ", which was shared at another one");
}

void check_query(const protocol::QueryWorkGroup& message) {
  constexpr std::uint64_t kMaxAnswer = 64 << 10;
  if (message.answer_size > kMaxAnswer)
    throw RuleBroken("a query for an answer of " + bytes_of(message.answer_size) +
                     "; an answer has at most " + bytes_of(kMaxAnswer));
}

std::size_t suggestion_dimensions(const protocol::QueryWorkGroup& message) {
  constexpr std::size_t kDimension = 2 * sizeof(std::uint64_t);
  const std::size_t dimensions = message.input.size() / kDimension;
  if (dimensions < 1 || dimensions > 3 || message.input.size() != dimensions * kDimension)
    throw RuleBroken("a query for a suggested local size has an input of " + bytes_of(message.input.size()) +
                     "; it must have 16 for each of 1 to 3 dimensions");
  return dimensions;
}

}  // namespace clique::daemon
