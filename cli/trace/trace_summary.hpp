#pragma once

#include <cstdio>
#include <string>

namespace clique::cli {

/// Prints where the time of a trace went, and its most expensive migrations with their reasons. Throws Failed
/// if the file cannot be read, or has no trace of Clique.
/// @param as_json all figures, for programs
void print_trace_summary(const std::string& file, std::FILE* to, bool as_json);

}  // namespace clique::cli
