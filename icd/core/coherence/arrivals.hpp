#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "icd/core/coherence/range_map.hpp"

namespace clique::icd {

/// The transfers that bring content of one memory object to holders, as long as they may be under way, and
/// which holder the next one should come from: what many want goes along a chain or tree, not from one holder
/// to each.
///
/// A simple model says when a transfer ends. Content goes in parts, and time is counted in rounds: in each, a
/// holder sends a part to one other, or to a few where it is small. A part that has come can go on in the
/// round after it, while the next one comes. Pure bookkeeping; not thread-safe.
template <typename Token>
class Arrivals {
 public:
  using Copy = typename RangeMap<Token>::Copy;
  /// Whether the transfer that a token stands for has ended.
  using Ended = bool (*)(const Token&);

  /// What workers send at a time.
  static constexpr std::uint64_t kPart = 1U << 20U;
  /// What is up to this size spends its time on the way, not with the sender, who can serve kSmallAtOnce.
  static constexpr std::uint64_t kSmall = 64U << 10U;
  static constexpr unsigned kSmallAtOnce = 8;

  explicit Arrivals(Ended ended) : ended_(ended) {}

  /// How busy holders are with one range.
  class Traffic {
   public:
    /// The copy from which the content can be somewhere else soonest, of those that may be used; where
    /// several can, one of the least busy. Holders go before the host. Null where there is none.
    template <typename Usable>
    const Copy* soonest(const std::vector<Copy>& copies, Usable&& usable) const {
      const Copy* found = nullptr;
      for (const Copy& copy : copies)
        if (usable(copy.holder) && (found == nullptr || before(copy.holder, found->holder))) found = &copy;
      return found;
    }
    /// The round in which the first part that this holder would now be asked for has come.
    std::uint64_t round(Holder from) const {
      const Load load = of(from);
      return load.has + rounds_each(load);
    }

   private:
    friend class Arrivals;
    struct Load {
      std::uint64_t has = 0;  ///< the round in which it has the first part itself
      unsigned asked = 0;     ///< transfers from there that have not ended
    };
    Load of(Holder holder) const {
      const auto found = loads_.find(holder);
      return found == loads_.end() ? Load{} : found->second;
    }
    /// Rounds that a part would take, next to those for others.
    std::uint64_t rounds_each(const Load& load) const { return load.asked / at_once_ + 1; }
    std::uint64_t end(const Load& load) const { return load.has + parts_ * rounds_each(load); }
    bool before(Holder one, Holder other) const {
      if (one == kHost || other == kHost) return one != kHost;
      const Load a = of(one);
      const Load b = of(other);
      return end(a) != end(b) ? end(a) < end(b) : a.asked < b.asked;
    }

    std::map<Holder, Load> loads_;
    std::uint64_t parts_ = 1;
    unsigned at_once_ = 1;
  };

  Traffic traffic(std::uint64_t begin, std::uint64_t end) const {
    Traffic traffic;
    traffic.parts_ = (end - begin + kPart - 1) / kPart;
    if (end - begin <= kSmall) traffic.at_once_ = kSmallAtOnce;
    for (const auto& [to, arrivals] : arrivals_) {
      for (const Arrival& arrival : arrivals) {
        if (!arrival.overlaps(begin, end) || ended_(arrival.token)) continue;
        auto& has = traffic.loads_[to].has;
        has = std::max(has, arrival.round);
        ++traffic.loads_[arrival.from].asked;
      }
    }
    return traffic;
  }

  /// [begin, end) is on its way.
  /// @param round when the first part has come.
  void add(Holder from, Holder to, std::uint64_t begin, std::uint64_t end, const Token& token,
           std::uint64_t round) {
    auto& arrivals = arrivals_[to];
    // Those of the same range this one comes after.
    std::erase_if(arrivals, [&](const Arrival& earlier) {
      return ended_(earlier.token) || (begin <= earlier.begin && earlier.end <= end);
    });
    arrivals.push_back({begin, end, token, from, round});
  }

  /// The transfers of any part of [begin, end) to a holder that may not have ended. What brings another range
  /// may wait for something that comes after this one.
  std::vector<Token> under_way(Holder to, std::uint64_t begin, std::uint64_t end) const {
    std::vector<Token> tokens;
    const auto found = arrivals_.find(to);
    if (found == arrivals_.end()) return tokens;
    for (const Arrival& arrival : found->second)
      if (arrival.overlaps(begin, end) && !ended_(arrival.token)) tokens.push_back(arrival.token);
    return tokens;
  }

  bool all_ended() const {
    return std::all_of(arrivals_.begin(), arrivals_.end(), [this](const auto& entry) {
      return std::all_of(entry.second.begin(), entry.second.end(),
                         [this](const Arrival& arrival) { return ended_(arrival.token); });
    });
  }

 private:
  struct Arrival {
    std::uint64_t begin;
    std::uint64_t end;
    Token token;
    Holder from;
    std::uint64_t round;

    bool overlaps(std::uint64_t other_begin, std::uint64_t other_end) const {
      return begin < other_end && other_begin < end;
    }
  };

  Ended ended_;
  /// By where they go. Of one range only the last: it comes after the others.
  std::map<Holder, std::vector<Arrival>> arrivals_;
};

}  // namespace clique::icd
