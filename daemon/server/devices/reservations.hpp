#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace clique::daemon {

/// A device that the node serves.
struct ServedDevice {
  std::uint32_t driver = 0;  ///< position in NodeDevices::served
  std::uint32_t place = 0;   ///< position in SelectedPlatform::devices
  auto operator<=>(const ServedDevice&) const = default;
};

/// The devices that programs have been promised between their lists of devices and their sessions, for a
/// short time. One thread.
class Reservations {
 public:
  using Clock = std::chrono::steady_clock;
  /// Whose a reservation is.
  struct Holder {
    std::string client;        ///< Permit::client
    std::uint64_t number = 0;  ///< Choice::reservation
    bool operator==(const Holder&) const = default;
  };

  /// Reserves a device, or goes on with that. @returns false if the client has too many reservations
  bool add(const Holder& holder, ServedDevice device, bool exclusive, Clock::time_point now);
  /// Gives the holder's devices back: it has a session with them, or needs none.
  void remove(const Holder& holder);
  /// Gives back what has been reserved for too long.
  void expire(Clock::time_point now);

  /// How many others have reserved the device.
  std::uint32_t count(ServedDevice device, const Holder& but) const;
  /// Whether others have reserved a device of the driver. @param exclusively only such reservations count
  bool any(std::uint32_t driver, bool exclusively, const Holder& but) const;

 private:
  struct Entry {
    Holder holder;
    ServedDevice device;
    bool exclusive;
    Clock::time_point until;
  };
  std::vector<Entry> entries_;
};

}  // namespace clique::daemon
