#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clique::icd {

/// The texts that a host list as Slurm's stands for: node[01-03,7] is node01, node02, node03 and node7.
/// Numbers of a range have at least as many digits as its first one. A text may have several brackets, and
/// text behind them. A text without brackets, or that begins with one (an IPv6 address), stands for itself.
/// Throws SettingError, which names the wrong part and its position, also if there would be more than 1024.
std::vector<std::string> expand_host_list(std::string_view text);

}  // namespace clique::icd
