#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace clique::cli {

/// Replaces the text of a file at once: whoever reads it sees the text before or the one afterwards, also if
/// the host fails meanwhile. Others that edit files of the folder in this way wait. A file that does not
/// exist has no text, and is created with its folder; all users may read it. Throws Failed, and what `edit`
/// throws; then the file stays as it is.
/// @param edit makes the new text of the old one
void edit_file(const std::filesystem::path& path,
               const std::function<std::string(const std::string& text)>& edit);

/// Appends a line to a text, whose last line may lack its end.
void append_line(std::string& text, const std::string& line);

}  // namespace clique::cli
