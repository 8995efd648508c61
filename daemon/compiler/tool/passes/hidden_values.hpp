// Values of the launch that built-in functions read, such as the global offset. The device library declares a
// function without a definition for each of them; calls of these functions become additional, hidden
// parameters of the kernels.
#pragma once

#include <array>
#include <cstdint>

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

struct HiddenValue {
  const char* function;  ///< of the device library
  std::uint8_t what;     ///< a Hidden plus the dimension (0 to 2)
};

/// In the order in which they follow the arguments of a kernel.
inline constexpr std::array<HiddenValue, 21> kHiddenValues{{
    {"__clique_id_offset_x", 0},      {"__clique_id_offset_y", 1},      {"__clique_id_offset_z", 2},
    {"__clique_global_offset_x", 3},  {"__clique_global_offset_y", 4},  {"__clique_global_offset_z", 5},
    {"__clique_global_size_x", 6},    {"__clique_global_size_y", 7},    {"__clique_global_size_z", 8},
    {"__clique_group_offset_x", 9},   {"__clique_group_offset_y", 10},  {"__clique_group_offset_z", 11},
    {"__clique_num_groups_x", 12},    {"__clique_num_groups_y", 13},    {"__clique_num_groups_z", 14},
    {"__clique_enqueued_size_x", 15}, {"__clique_enqueued_size_y", 16}, {"__clique_enqueued_size_z", 17},
    {"__clique_work_dim", 18},        {"__clique_printf_buffer", 19},   {"__clique_access_checks", 20},
}};

/// Marks all functions that read hidden values, directly or indirectly, as always inlined: only kernels have
/// the hidden parameters.
void inline_users_of_hidden_values(llvm::Module& module);

}  // namespace clique::daemon::compiler
