// What builtin functions ask of the launch: functions of the device library without a definition, whose calls
// become parameters of the kernels.
#pragma once

#include <array>
#include <cstdint>

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

struct HiddenValue {
  const char* function;
  std::uint8_t what;  ///< Hidden, plus the dimension
};

/// In the order in which they follow a kernel's arguments.
inline constexpr std::array<HiddenValue, 20> kHiddenValues{{
    {"__clique_id_offset_x", 0},      {"__clique_id_offset_y", 1},      {"__clique_id_offset_z", 2},
    {"__clique_global_offset_x", 3},  {"__clique_global_offset_y", 4},  {"__clique_global_offset_z", 5},
    {"__clique_global_size_x", 6},    {"__clique_global_size_y", 7},    {"__clique_global_size_z", 8},
    {"__clique_group_offset_x", 9},   {"__clique_group_offset_y", 10},  {"__clique_group_offset_z", 11},
    {"__clique_num_groups_x", 12},    {"__clique_num_groups_y", 13},    {"__clique_num_groups_z", 14},
    {"__clique_enqueued_size_x", 15}, {"__clique_enqueued_size_y", 16}, {"__clique_enqueued_size_z", 17},
    {"__clique_work_dim", 18},        {"__clique_printf_buffer", 19},
}};

/// Marks what calls them, directly or not, to be inlined into the kernels, which alone have parameters.
void inline_users_of_hidden_values(llvm::Module& module);

}  // namespace clique::daemon::compiler
