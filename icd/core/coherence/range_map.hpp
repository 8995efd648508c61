#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace clique::icd {

/// A holder of content: a worker, by its index, or the host.
using Holder = unsigned;
inline constexpr Holder kHost = ~0U;

/// Which holders have valid content of which ranges of a memory object, and from when on: each copy has
/// tokens for the commands after which it is valid. Ranges that were never written are not in the map. Pure
/// bookkeeping; not thread-safe.
template <typename Token>
class RangeMap {
 public:
  struct Copy {
    Holder holder;
    std::vector<Token> ready;
    friend bool operator==(const Copy&, const Copy&) = default;
  };
  /// What was valid before a write that may still fail.
  struct Version {
    std::vector<Copy> copies;
    std::shared_ptr<Version> before;

    Version(std::vector<Copy> copies, std::shared_ptr<Version> before)
        : copies(std::move(copies)), before(std::move(before)) {}
  };
  /// [begin, end) with the same copies throughout.
  struct Piece {
    std::uint64_t begin;
    std::uint64_t end;
    std::vector<Copy> copies;
    std::shared_ptr<Version> before = nullptr;

    Copy* copy_of(Holder holder) {
      const auto found =
          std::find_if(copies.begin(), copies.end(), [&](const Copy& c) { return c.holder == holder; });
      return found == copies.end() ? nullptr : &*found;
    }
  };

  bool empty() const { return pieces_.empty(); }

  /// Calls visit(Piece&) for all content within [begin, end), in order. Splits pieces so that each visited
  /// one lies within the range. visit may change copies.
  template <typename Visit>
  void visit(std::uint64_t begin, std::uint64_t end, Visit&& visit) {
    if (begin >= end) return;
    split(begin);
    split(end);
    for (auto it = pieces_.lower_bound(begin); it != pieces_.end() && it->first < end; ++it)
      visit(it->second);
    merge(begin, end);
  }

  /// Notes that `holder` has new content in [begin, end), valid from `token` on. All other copies become
  /// stale. If the holder was already the only one, its earlier tokens stay, since unordered commands may
  /// write parts of one range. The exception are tokens for which supersedes(old) says that they are complete
  /// whenever `token` is.
  /// @param may_fail remembers what was valid before, in Piece::before.
  template <typename Supersedes>
  void write(std::uint64_t begin, std::uint64_t end, Holder holder, const Token& token,
             Supersedes&& supersedes, bool may_fail = false) {
    if (begin >= end) return;
    split(begin);
    split(end);
    std::uint64_t at = begin;
    auto it = pieces_.lower_bound(begin);
    while (at < end) {
      if (it == pieces_.end() || it->first > at) {
        const std::uint64_t gap_end = it == pieces_.end() ? end : std::min(end, it->first);
        pieces_.emplace_hint(it, at, Piece{at, gap_end, {Copy{holder, {token}}}, nullptr});
        at = gap_end;
        continue;
      }
      Piece& piece = it->second;
      if (piece.copies.size() == 1 && piece.copies.front().holder == holder) {
        auto& ready = piece.copies.front().ready;
        std::erase_if(ready, supersedes);
        ready.push_back(token);
      } else {
        piece.before =
            may_fail ? std::make_shared<Version>(std::move(piece.copies), std::move(piece.before)) : nullptr;
        piece.copies = {Copy{holder, {token}}};
      }
      at = piece.end;
      ++it;
    }
    merge(begin, end);
  }

  /// Notes that `holder` gets a copy of what others hold in [begin, end), valid from `token` on.
  void add_copy(std::uint64_t begin, std::uint64_t end, Holder holder, const Token& token) {
    visit(begin, end, [&](Piece& piece) {
      if (Copy* copy = piece.copy_of(holder)) {
        copy->ready = {token};
      } else {
        piece.copies.push_back(Copy{holder, {token}});
      }
    });
  }

  /// Removes the holder's copies. Pieces that have no copy left stay, as lost content.
  void drop(Holder holder) {
    for (auto& [begin, piece] : pieces_)
      std::erase_if(piece.copies, [&](const Copy& c) { return c.holder == holder; });
  }

  /// All pieces in order, for tests and queries.
  const std::map<std::uint64_t, Piece>& pieces() const { return pieces_; }

 private:
  /// Makes `at` a border between pieces.
  void split(std::uint64_t at) {
    auto after = pieces_.upper_bound(at);
    if (after == pieces_.begin()) return;
    Piece& piece = std::prev(after)->second;
    if (piece.begin >= at || piece.end <= at) return;
    Piece rest{at, piece.end, piece.copies, piece.before};
    piece.end = at;
    pieces_.emplace_hint(after, at, std::move(rest));
  }

  /// Joins equal neighbours around [begin, end].
  void merge(std::uint64_t begin, std::uint64_t end) {
    auto it = pieces_.lower_bound(begin);
    if (it != pieces_.begin()) --it;
    while (it != pieces_.end() && it->first <= end) {
      const auto next = std::next(it);
      if (next == pieces_.end()) break;
      if (next->first == it->second.end && next->second.copies == it->second.copies &&
          next->second.before == it->second.before) {
        it->second.end = next->second.end;
        pieces_.erase(next);
      } else {
        it = next;
      }
    }
  }

  std::map<std::uint64_t, Piece> pieces_;
};

}  // namespace clique::icd
