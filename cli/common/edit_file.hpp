#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace clique::cli {

/// Replaces the content of a file atomically: readers see the old or the new text, even if the host crashes.
/// Locks the folder, so that concurrent calls wait for each other. A file that does not exist counts as
/// empty; it is created with its folder, readable by all users. Throws Failed, and what `edit` throws; the
/// file is then unchanged.
/// @param edit returns the new text
void edit_file(const std::filesystem::path& path,
               const std::function<std::string(const std::string& text)>& edit);

/// Appends a line to a text. Adds a missing line break at the end of the text first.
void append_line(std::string& text, const std::string& line);

}  // namespace clique::cli
