#pragma once

#include <string>
#include <vector>

namespace clique::cli {

/// Rows of text in aligned columns, for people.
class Table {
 public:
  explicit Table(std::vector<std::string> heading) : rows_{std::move(heading)} {}

  /// @param row as many cells as the heading has
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// All rows, each on a line of its own. The columns are as wide as their widest cells.
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace clique::cli
