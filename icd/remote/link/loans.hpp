// Payloads that wait to be sent.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>

namespace clique::icd {

/// Counts the payloads that a line holds. After closing it, this tells when nothing reads them any more: a
/// thread of ZeroMQ's may go on for a moment. Thread-safe.
class Loans {
 public:
  /// @returns an owner that holds `owner` and counts as one payload for as long as it exists.
  std::shared_ptr<const void> lend(std::shared_ptr<const void> owner) {
    return std::make_shared<Loan>(count_, std::move(owner));
  }
  /// Waits until all payloads are released. For use after the line was closed.
  /// @param linger the line's linger period; the wait ends kLetGo after it at the latest.
  void await_return(std::chrono::milliseconds linger = {}) const {
    const auto give_up = std::chrono::steady_clock::now() + linger + kLetGo;
    while (count_->load() != 0 && std::chrono::steady_clock::now() < give_up)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }

 private:
  /// ZeroMQ's threads release the messages of a closed socket at once. They take longer than this only if
  /// they are dead.
  static constexpr std::chrono::seconds kLetGo{2};

  using Count = std::shared_ptr<std::atomic<std::size_t>>;

  class Loan {
   public:
    Loan(Count count, std::shared_ptr<const void> owner)
        : count_(std::move(count)), owner_(std::move(owner)) {
      count_->fetch_add(1);
    }
    ~Loan() {
      owner_.reset();
      count_->fetch_sub(1);
    }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

   private:
    Count count_;
    std::shared_ptr<const void> owner_;
  };

  /// Shared with the loans, because ZeroMQ's threads decrement it.
  Count count_ = std::make_shared<std::atomic<std::size_t>>(0);
};

}  // namespace clique::icd
