#include "icd/core/division/merge.hpp"

namespace clique::icd {

namespace {

using protocol::AtomicChange;

const char* merging_function(AtomicChange change) {
  switch (change) {
    case AtomicChange::And:
      return "and";
    case AtomicChange::Or:
      return "or";
    case AtomicChange::ExclusiveOr:
      return "xor";
    case AtomicChange::LeastSigned:
    case AtomicChange::LeastUnsigned:
      return "min";
    case AtomicChange::GreatestSigned:
    case AtomicChange::GreatestUnsigned:
      return "max";
    default:
      return "add";
  }
}

bool is_signed_change(AtomicChange change) {
  return change == AtomicChange::LeastSigned || change == AtomicChange::GreatestSigned;
}

}  // namespace

std::vector<std::byte> neutral_element(const MergedChange& merged) {
  const AtomicChange change = merged.change;
  const bool ones = change == AtomicChange::And || change == AtomicChange::LeastSigned ||
                    change == AtomicChange::LeastUnsigned;
  std::vector<std::byte> element(merged.width, ones ? std::byte{0xff} : std::byte{0});
  // The greatest signed number, or the least one.
  if (is_signed_change(change)) element.back() ^= std::byte{0x80};
  return element;
}

std::string merging_source(const MergedChange& merged) {
  const bool wide = merged.width == 8;
  const std::string type =
      std::string(is_signed_change(merged.change) ? "" : "unsigned ") + (wide ? "long" : "int");
  // Atomic operations here as well: an out-of-order queue may run other launches that change the buffer.
  return std::string(wide ? "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
                            "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n"
                          : "") +
         "__kernel void " + kMergingKernel + "(volatile __global " + type + "* buffer, __global const " +
         type + "* copy) {\n  size_t i = get_global_id(0);\n  " + (wide ? "atom_" : "atomic_") +
         merging_function(merged.change) + "(buffer + i, copy[i]);\n}\n";
}

}  // namespace clique::icd
