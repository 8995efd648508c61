#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "icd/core/coherence/range_map.hpp"
#include "protocol/limits.hpp"

namespace clique::icd {

/// The transfers under way that bring content of one memory object to holders, and the choice of the holder
/// that the next transfer should come from. Content that many holders want travels along a chain or tree, and
/// not from one holder to each of the others.
///
/// A simple model predicts when a transfer completes. Content travels in parts, and time is counted in
/// rounds. In one round a holder sends a part to one other holder, or a small part to several. A part that
/// has arrived can be sent on in the next round, while the next part arrives. Pure bookkeeping; not
/// thread-safe.
template <typename Token>
class Arrivals {
 public:
  using Copy = typename RangeMap<Token>::Copy;
  /// Whether the transfer of a token has completed or failed.
  using Ended = bool (*)(const Token&);

  /// Bytes: a transfer up to this size is dominated by latency. A holder can send kSmallAtOnce of them in one
  /// round.
  static constexpr std::uint64_t kSmall = 64U << 10U;
  static constexpr unsigned kSmallAtOnce = 8;

  explicit Arrivals(Ended ended) : ended_(ended) {}

  /// How busy the holders are with one range.
  class Traffic {
   public:
    /// The usable copy from which the content can arrive soonest; among equals, one of the least busy.
    /// Workers go before the host. Null if no copy is usable.
    template <typename Usable>
    const Copy* soonest(const std::vector<Copy>& copies, Usable&& usable) const {
      const Copy* found = nullptr;
      for (const Copy& copy : copies)
        if (usable(copy.holder) && (found == nullptr || before(copy.holder, found->holder))) found = &copy;
      return found;
    }
    /// The round in which the first part would have arrived if this holder were asked now.
    std::uint64_t round(Holder from) const {
      const Load load = of(from);
      return load.has + rounds_each(load);
    }

   private:
    friend class Arrivals;
    struct Load {
      std::uint64_t has = 0;  ///< the round in which it has the first part itself
      unsigned asked = 0;     ///< transfers from there under way
    };
    Load of(Holder holder) const {
      const auto found = loads_.find(holder);
      return found == loads_.end() ? Load{} : found->second;
    }
    /// Rounds for a part, shared with the other transfers from there.
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
    traffic.parts_ = (end - begin + protocol::kPartSize - 1) / protocol::kPartSize;
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

  /// Notes that [begin, end) is on its way.
  /// @param round the one in which its first part has arrived.
  void add(Holder from, Holder to, std::uint64_t begin, std::uint64_t end, const Token& token,
           std::uint64_t round) {
    auto& arrivals = arrivals_[to];
    // This transfer follows the earlier ones of the same range. Those from elsewhere stay, for departing().
    std::erase_if(arrivals, [&](const Arrival& earlier) {
      return ended_(earlier.token) || (earlier.from == from && begin <= earlier.begin && earlier.end <= end);
    });
    arrivals.push_back({begin, end, token, from, round});
  }

  /// The transfers under way that bring any part of [begin, end) to a holder. Transfers of other ranges are
  /// left out, since they may wait for something that comes after the caller's command.
  std::vector<Token> under_way(Holder to, std::uint64_t begin, std::uint64_t end) const {
    std::vector<Token> tokens;
    const auto found = arrivals_.find(to);
    if (found == arrivals_.end()) return tokens;
    for (const Arrival& arrival : found->second)
      if (arrival.overlaps(begin, end) && !ended_(arrival.token)) tokens.push_back(arrival.token);
    return tokens;
  }

  /// The transfers under way that read any part of [begin, end) from a holder.
  std::vector<Token> departing(Holder from, std::uint64_t begin, std::uint64_t end) const {
    std::vector<Token> tokens;
    for (const auto& [to, arrivals] : arrivals_)
      for (const Arrival& arrival : arrivals)
        if (arrival.from == from && arrival.overlaps(begin, end) && !ended_(arrival.token))
          tokens.push_back(arrival.token);
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
  /// By their destination. Of one range and origin only the last, which follows the others.
  std::map<Holder, std::vector<Arrival>> arrivals_;
};

}  // namespace clique::icd
