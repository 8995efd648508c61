// How the log of a program names places.
#pragma once

#include <cstddef>
#include <string>

#include "cluster/model/contents.hpp"

namespace clique::test::model {

inline std::string range_text(std::size_t begin, std::size_t end) {
  return "[" + std::to_string(begin) + ", " + std::to_string(end) + ")";
}

inline std::string triple_text(const Triple& triple) {
  return std::to_string(triple[0]) + "," + std::to_string(triple[1]) + "," + std::to_string(triple[2]);
}

inline std::string box_text(const Box& box) {
  return "at " + triple_text(box.origin) + " pitches " + std::to_string(box.row) + "," +
         std::to_string(box.slice);
}

}  // namespace clique::test::model
