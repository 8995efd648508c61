// A worker's shared-memory offer, and the memory that clients, nodes and workers hand to each other: packets
// and descriptors of any kind. Whatever comes, no descriptor stays open, and nothing waits.
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <system_error>
#include <thread>

#include "protocol/decode_error.hpp"
#include "protocol/transport/shared_offer.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz::target_shared_offer {
namespace {

using namespace clique::protocol;

constexpr std::size_t kMostGuests = 8;
constexpr std::size_t kMostDescriptors = 6;
const std::string kClient = "secret";
const std::string kPeer = "another";
/// The size that the two sides agree on.
const std::size_t kWhole = [] {
  const auto memory = SharedMemory::create();
  return static_cast<std::size_t>(::lseek(memory->descriptors()[0], 0, SEEK_END));
}();

/// Whether no descriptor is open that is not open at the beginning of each input. The thread with which
/// libFuzzer watches the process has some open, now and then.
bool all_closed() {
  static const int first_free = Fd(::dup(STDERR_FILENO)).get();
  constexpr int kLooks = 1000;
  for (int look = 0; look < kLooks; ++look) {
    if (Fd(::dup(STDERR_FILENO)).get() <= first_free) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

/// A descriptor that the input describes.
Fd descriptor(Input& input) {
  const auto kind = input.number<std::uint8_t>();
  if (kind % 4 == 0) return Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (kind % 4 == 1) return Fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
  Fd memory(::memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const std::size_t size = kind % 4 == 2 ? kWhole : input.number<std::uint16_t>();
  require(memory && ::ftruncate(memory.get(), static_cast<off_t>(size)) == 0, "the system has memory");
  const auto content = input.take(input.number<std::uint8_t>());
  static_cast<void>(!::write(memory.get(), content.data(), std::min(content.size(), size)));
  int seals = (kind & 4U) != 0 ? F_SEAL_SHRINK : 0;
  if ((kind & 8U) != 0) seals |= F_SEAL_WRITE;
  if ((kind & 16U) != 0) seals |= F_SEAL_GROW | F_SEAL_SEAL;
  ::fcntl(memory.get(), F_ADD_SEALS, seals);
  return memory;
}

Fd connection_to(const std::string& name) {
  Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  require(socket && ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0,
          "the offer can be reached");
  return socket;
}

void send_packet(int socket, std::string_view text, std::span<const Fd> descriptors) {
  std::string copy(text);
  iovec data{copy.data(), copy.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))> ancillary{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    std::array<int, kMostDescriptors> numbers{};
    std::transform(descriptors.begin(), descriptors.end(), numbers.begin(),
                   [](const Fd& fd) { return fd.get(); });
    message.msg_control = ancillary.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), numbers.data(), descriptors.size() * sizeof(int));
  }
  ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// A guest connects, has said everything, and is gone before the offer looks at it.
void visit(SharedOffer& offer, Input& input) {
  Fd guest = connection_to(offer.name());
  const auto greeting = input.number<std::uint8_t>();
  const std::string letter(1, "cps?"[greeting % 4]);
  const std::string& token = (greeting & 4U) != 0 ? kPeer : kClient;
  const std::string_view wrong = text_of(input.take(input.number<std::uint8_t>() % 16U));
  send_packet(guest.get(), letter + token + std::string(wrong), {});
  const std::size_t size = input.number<std::uint8_t>() % 32U;
  const std::string_view packet = text_of(input.take(size));
  std::vector<Fd> descriptors;
  for (std::size_t count = input.number<std::uint8_t>() % (kMostDescriptors + 1); count > 0; --count)
    descriptors.push_back(descriptor(input));
  send_packet(guest.get(), packet, descriptors);
  guest = Fd();
  if (const auto taken = offer.serve(kClient, kPeer)) {
    require((letter == "c" && token == kClient && taken->guest == Guest::Client) ||
                (letter == "p" && token == kPeer && taken->guest == Guest::Peer) ||
                (letter == "s" && token == kClient && taken->guest == Guest::Segment),
            "nobody takes what is another's");
    require(wrong.empty(), "nobody takes anything without the secret");
    if (const auto& memory = taken->segment.memory) {
      memory->bytes().back() = memory->bytes().front();
      require(!SharedOffer::answer(taken->segment, "refused"), "a guest that is gone gets no answer");
    }
  }
}

/// A node hands memory to this process.
void take_memory(Input& input) {
  try {
    Fd memory = descriptor(input);
    Fd mine = descriptor(input);
    SharedMemory::open(std::move(memory), std::move(mine), descriptor(input))->arm();
  } catch (const DecodeError&) {
    return;
  } catch (const std::system_error&) {
    return;
  }
}

std::vector<std::string> seeds() {
  const auto segment = [](std::uint16_t size, std::uint64_t announced) {
    return Output()
        .number(std::uint8_t{1})
        .number(std::uint8_t{2})
        .number(std::uint8_t{0})
        .number(std::uint8_t{24})
        .number(std::uint64_t{9})
        .number(announced)
        .number(std::uint64_t{0})
        .number(std::uint8_t{1})
        .number(std::uint8_t{7})
        .number(size)
        .number(std::uint8_t{0})
        .text();
  };
  return {std::string("\1\0\0\1\1\0", 6) + std::string("\1\5\0\1\1\0", 6) + segment(100, 100),
          segment(100, 200), std::string("\1\2\0\1\1\3\0\0\1", 9),
          std::string("\0\6\x08\x01\0clique\0\0", 13), std::string("\0\x02\0\0\0\0\0", 7)};
}

void test(const std::uint8_t* data, std::size_t size) {
  static const bool closed_before = all_closed();
  require(closed_before, "descriptors can be made");
  Input input(data, size);
  {
    SharedOffer offer;
    for (std::size_t i = 0; i < kMostGuests && !input.empty(); ++i) {
      if ((input.number<std::uint8_t>() & 1U) != 0)
        visit(offer, input);
      else
        take_memory(input);
    }
  }
  require(all_closed(), "no descriptor stays open");
}

const Registration kTarget{"shared_offer", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_shared_offer
