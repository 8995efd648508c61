// The numbers that say which part of a buffer or an image a message is about. What the checks accept lies
// within the object, whatever overflows; how the client splits a region covers it exactly.
#include <numeric>

#include "daemon/backend/common/checks.hpp"
#include "icd/core/transfers/layout.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz::target_ranges {
namespace {

using namespace clique::daemon;
using protocol::Triple;

__extension__ using Wide = unsigned __int128;

/// A number of any size; small ones are as likely as large ones.
std::uint64_t any(Input& input) {
  const unsigned shift = input.number<std::uint8_t>() % 64U;
  return input.number<std::uint64_t>() >> shift;
}
Triple any_triple(Input& input) {
  Triple triple{};
  for (std::uint64_t& number : triple) number = any(input);
  return triple;
}

bool inside(Wide offset, Wide size, Wide total) {
  return offset <= total && size <= total - offset;
}

/// Whether a check accepts what it is given.
template <typename Check>
bool accepted(Check check) {
  try {
    check();
  } catch (const RuleBroken&) {
    return false;
  } catch (const ClError&) {
    return false;
  }
  return true;
}

void check_lines(Input& input) {
  const std::uint64_t offset = any(input);
  const std::uint64_t size = any(input);
  const std::uint64_t total = any(input);
  require(accepted([&] { check_range(offset, size, total, "a read"); }) == inside(offset, size, total),
          "a range is accepted if it lies within its buffer");
  const std::uint64_t unit = 1 + input.number<std::uint8_t>() % 16U;
  if (accepted([&] { check_transfer(offset, size, total, unit, "a push"); }))
    require(size > 0 && inside(offset, size, total) && offset % unit == 0 && size % unit == 0,
            "a transfer is a range, of whole pixels");
  protocol::Push push;
  push.offset = offset;
  push.size = size;
  std::array<std::uint8_t, 8> number{};
  std::iota(number.begin(), number.end(), input.number<std::uint8_t>());
  if (size > 0) {
    const std::uint64_t meant = meant_size(push, number);
    require(meant >= 1 && meant <= size, "what has content is some of what is pushed");
  }
  protocol::KernelArg pointer;
  pointer.kind = protocol::KernelArg::Pointer;
  const auto value = text_of(input.take(input.number<std::uint8_t>() % 10U));
  pointer.value.assign(value.begin(), value.end());
  std::uint64_t at = 0;
  if (accepted([&] { at = pointer_offset(pointer, total); }))
    require(at <= total, "a pointer argument points into its buffer");
}

void check_boxes(Input& input) {
  const Triple origin = any_triple(input);
  const Triple region = any_triple(input);
  const std::uint64_t row = any(input);
  const std::uint64_t slice = any(input);
  const std::uint64_t total = any(input);
  const bool empty = region[0] == 0 || region[1] == 0 || region[2] == 0;
  if (accepted([&] { check_rect(origin, region, row, slice, total); }) && !empty) {
    const Wide row_pitch = row != 0 ? row : region[0];
    const Wide slice_pitch = slice != 0 ? Wide{slice} : row_pitch * region[1];
    const Wide last = slice_pitch * (Wide{origin[2]} + region[2] - 1) +
                      row_pitch * (Wide{origin[1]} + region[1] - 1) + origin[0] + region[0];
    require(last <= total, "a box lies within its buffer");
  }
  const Triple extent = any_triple(input);
  if (accepted([&] { check_region(origin, region, native(extent)); }))
    for (std::size_t i = 0; i < 3; ++i)
      require(inside(origin.at(i), region.at(i), extent.at(i)), "a region lies within its image");
  std::uint64_t bytes = 0;
  if (accepted([&] { bytes = volume(region); }))
    require(Wide{region[0]} * region[1] * region[2] == bytes, "a volume is the product of the sizes");
}

/// The client's side: a region of host memory, whose parts a worker sends.
void check_parts(Input& input) {
  const std::size_t element = 1 + input.number<std::uint8_t>() % 16U;
  Triple region{};
  // Large enough for several parts in each direction, small enough for many inputs a second.
  for (std::uint64_t& size : region) size = 1 + input.number<std::uint32_t>() % 4000U;
  if (Wide{region[0]} * element * region[1] * region[2] > 64 * protocol::kPartSize) return;
  const Triple bytes{region[0] * element, region[1], region[2]};
  icd::Pitches pitches = icd::dense(bytes);
  pitches.row += input.number<std::uint8_t>();
  pitches.slice = pitches.row * region[1] + input.number<std::uint8_t>();
  const std::size_t extent = icd::extent(bytes, pitches);
  std::uint64_t sum = 0;
  for (const icd::BoxPart& part : icd::split(region, element)) {
    const Triple own = part.bytes(element);
    require(inside(part.offset(element, pitches), icd::extent(own, pitches), extent),
            "a part lies within its region");
    const std::uint64_t size = own[0] * own[1] * own[2];
    require(size > 0 && size <= protocol::kMaxPayload, "a part fits into a message");
    sum += size;
  }
  require(sum == bytes[0] * bytes[1] * bytes[2], "the parts are the whole region");
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (std::uint8_t which = 0; which < 3; ++which)
    for (const std::uint64_t number :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000}, ~std::uint64_t{0}}) {
      Output output;
      output.number(which);
      for (std::uint8_t i = 0; i < 12; ++i)
        output.number(static_cast<std::uint8_t>(7 * i)).number(number + i);
      all.push_back(output.text());
    }
  return all;
}

void test(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  switch (input.number<std::uint8_t>() % 3) {
    case 0:
      check_lines(input);
      break;
    case 1:
      check_boxes(input);
      break;
    default:
      check_parts(input);
  }
}

const Registration kTarget{"ranges", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_ranges
