#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>

namespace clique::icd {

/// Counts the payloads that ZeroMQ holds, so that whoever closes a socket knows when none of them is read any
/// more. Any thread.
class Loans {
 public:
  /// The same owner, and ZeroMQ's hold on it.
  std::shared_ptr<const void> lend(std::shared_ptr<const void> owner) {
    return std::make_shared<Loan>(count_, std::move(owner));
  }
  /// Waits until ZeroMQ has let go of everything, after a socket was closed with this linger.
  void await_return(std::chrono::milliseconds linger = {}) const {
    const auto give_up = std::chrono::steady_clock::now() + linger + kLetGo;
    while (count_->load() != 0 && std::chrono::steady_clock::now() < give_up)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }

 private:
  /// ZeroMQ's threads let go of a closed socket's messages at once; longer than this only if they have died.
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

  /// Shared with the loans, since ZeroMQ's threads count down.
  Count count_ = std::make_shared<std::atomic<std::size_t>>(0);
};

}  // namespace clique::icd
