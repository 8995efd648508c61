// Two GPUs of one node exchange data.
#include <numeric>

#include "session.hpp"

namespace clique::test {
namespace {

TEST(CudaPeers, GivenManyTransfersBackAndForthThenEachSeesTheLatest) {
  FakeNode node;
  FakeGpuClient a(node);
  FakeGpuClient b(node);
  a.send(ConnectPeer{1, b.peers_endpoint(), b.address.token, ""});
  b.send(ConnectPeer{2, a.peers_endpoint(), a.address.token, ""});
  constexpr std::uint64_t kCount = 3'000'000;
  a.make_zeros(5, kCount);
  b.make_zeros(5, kCount);
  // Each worker increments all numbers, then hands them to the other.
  CommandId id = 100;
  CommandId arrived = 0;
  for (int i = 0; i < 6; ++i) {
    FakeGpuClient& from = i % 2 == 0 ? a : b;
    FakeGpuClient& to = i % 2 == 0 ? b : a;
    const CommandId step = ++id;
    const CommandId transfer = ++id;
    const CommandId push = ++id;
    from.send(RunKernel{command(step, Command::kEvent,
                                arrived != 0 ? std::vector<CommandId>{arrived} : std::vector<CommandId>{}),
                        10,
                        {object_arg(0, 5)},
                        {},
                        {kCount},
                        {}},
              Push{command(push, Command::kReport, {step}, 3), 5, 0, kCount * 4,
                   static_cast<PeerId>(i % 2 == 0 ? 1 : 2), transfer});
    to.send(Expect{command(transfer, Command::kReport, {}, 3), 5, 0, kCount * 4});
    EXPECT_EQ(from.ended(push).status, 0);
    EXPECT_EQ(to.ended(transfer).status, 0);
    arrived = transfer;
  }
  a.send(ReadBuffer{command(5000, Command::kReport, {arrived}), 0, 5, kCount * 4 - 8, 8});
  const auto bytes = a.data(5000);
  const std::array<int, 2> last{6, 6};
  EXPECT_EQ(std::memcmp(bytes.data(), last.data(), sizeof last), 0);
}

}  // namespace
}  // namespace clique::test
