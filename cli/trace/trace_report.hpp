#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/trace/trace_figures.hpp"

namespace clique::cli::trace_summary {

/// Prints the most important figures, for people.
void print_figures(const Figures& figures, std::FILE* to);

/// All figures, for programs.
nlohmann::ordered_json json_of(const Figures& figures);

}  // namespace clique::cli::trace_summary
