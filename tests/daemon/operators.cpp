// Messages of clients that look at the node and steer it: right ones, and wrong ones, which concern nobody
// else.
#include <netinet/in.h>
#include <sys/socket.h>

#include "harness.hpp"
#include "ids.hpp"
#include "protocol/fd.hpp"

namespace clique::test {
namespace {

class Operators : public testing::Test {
 protected:
  /// The answer to a Hello with this wish, and what follows it.
  template <typename Answer, typename... M>
  Answer answer(Wish wish, const M&... messages) const {
    Caller caller(node.endpoint());
    caller.send(Hello{kVersion, wish, "an operator"}, messages...);
    return caller.next<Answer>();
  }

  const Node node{std::vector<std::string>{"--devices", "0"}};
};

TEST_F(Operators, GivenAClientThatLooksThenItIsToldWhatRuns) {
  const auto before = answer<Status>(Wish::Status);
  EXPECT_EQ(before.version, kVersion);
  EXPECT_EQ(before.sessions, 0U);
  EXPECT_TRUE(before.listed.empty());
  EXPECT_TRUE(before.administrator);
  EXPECT_EQ(before.encryption, protocol::Encryption::All);
  EXPECT_EQ(before.devices.size(), 1U);
  Client client(node, "somebody");
  client.set_up();
  Status now;
  EXPECT_TRUE(eventually([&] {
    now = answer<Status>(Wish::Status);
    return now.listed.size() == 1 && now.listed[0].usage.network_in > 0;
  }));
  EXPECT_EQ(now.sessions, 1U);
  EXPECT_EQ(now.listed.at(0).program, "somebody");
  EXPECT_EQ(now.listed.at(0).id, 1U);
  EXPECT_TRUE(now.listed.at(0).own);
  EXPECT_EQ(now.listed.at(0).devices.size(), 1U);
  EXPECT_GT(now.uptime_ms, before.uptime_ms);
}

TEST_F(Operators, GivenTheEndOfASessionThenItsClientIsToldWhy) {
  Client client(node);
  client.set_up();
  answer<Steered>(Wish::Steer, Steer{Steer::Act::EndSession, 1, "a test"});
  EXPECT_NE(client.next<SessionEnded>().reason.find("ended by its owner "), std::string::npos);
  EXPECT_TRUE(eventually([&] { return answer<Status>(Wish::Status).sessions == 0; }));
}

TEST_F(Operators, GivenWrongMessagesThenTheirSendersAloneAreDropped) {
  Client client(node);
  client.set_up();
  const Steer end{Steer::Act::EndSession, 1, ""};
  const auto dropped = [&](const auto&... messages) {
    Caller caller(node.endpoint());
    caller.send(messages...);
    return caller.closed();
  };
  const Hello looks{kVersion, Wish::Status, "x"};
  const Hello steers{kVersion, Wish::Steer, "x"};
  EXPECT_TRUE(dropped(steers)) << "what to do is missing";
  EXPECT_TRUE(dropped(end));
  EXPECT_TRUE(dropped(end, steers));
  EXPECT_TRUE(dropped(steers, end, end));
  EXPECT_TRUE(dropped(looks, end));
  EXPECT_TRUE(dropped(looks, looks));
  EXPECT_TRUE(dropped(Hello{kVersion, Wish::Session, "x"}, end));
  EXPECT_TRUE(dropped(Steered{kVersion, "x"}));
  const Hello reserves{kVersion, Wish::Reserve, "x"};
  EXPECT_TRUE(dropped(reserves)) << "what to reserve is missing";
  EXPECT_TRUE(dropped(reserves, Choice{}, Choice{}));
  EXPECT_TRUE(dropped(Choice{}, reserves));
  EXPECT_TRUE(dropped(looks, Choice{}));
  EXPECT_TRUE(dropped(Hello{kVersion, Wish::Devices, "x"}, Choice{}));
  EXPECT_TRUE(dropped(steers, end, Choice{}));
  const Hello reaches{kVersion, Wish::Reach, "x"};
  EXPECT_TRUE(dropped(reaches)) << "whom to reach is missing";
  EXPECT_TRUE(dropped(reaches, Reach{}, Reach{}));
  EXPECT_TRUE(dropped(Reach{}, reaches));
  EXPECT_TRUE(dropped(looks, Reach{}));
  EXPECT_TRUE(dropped(steers, Steer{Steer::Act::EndSession, 1, std::string(9000, 'x')}));
  EXPECT_NE(
      answer<Refused>(Wish::Steer, Steer{static_cast<Steer::Act>(7), 1, ""}).reason.find("does not know"),
      std::string::npos);
  EXPECT_NE(answer<Refused>(Wish::Steer, Steer{Steer::Act::EndSession, 0, ""}).reason.find("no session 0"),
            std::string::npos);
  EXPECT_EQ(answer<Status>(Wish::Status).sessions, 1U) << node.log();
}

TEST_F(Operators, GivenOtherNodesThenItSaysWhichItReaches) {
  const Node other(std::vector<std::string>{"--devices", "0"});
  const Reached reached = answer<Reached>(
      Wish::Reach, Reach{{other.endpoint(), "tcp://127.0.0.1:1", "ipc:///tmp/x", "tcp://:7890", ""}, 5000});
  EXPECT_EQ(reached.version, kVersion);
  ASSERT_EQ(reached.nodes.size(), 5U);
  EXPECT_EQ(reached.nodes[0].outcome, ReachedNode::Outcome::Reached) << reached.nodes[0].reason;
  EXPECT_EQ(reached.nodes[0].key.size(), PublicKey::kBytes);
  EXPECT_EQ(reached.nodes[1].outcome, ReachedNode::Outcome::Refused) << reached.nodes[1].reason;
  for (std::size_t i = 1; i < reached.nodes.size(); ++i) {
    EXPECT_NE(reached.nodes[i].outcome, ReachedNode::Outcome::Reached) << i;
    EXPECT_FALSE(reached.nodes[i].reason.empty()) << i;
    EXPECT_TRUE(reached.nodes[i].key.empty()) << i;
  }
  EXPECT_TRUE(answer<Reached>(Wish::Reach, Reach{}).nodes.empty());
}

TEST_F(Operators, GivenMoreNodesToReachThanPossibleThenItRefuses) {
  // The system accepts connections there, and nobody answers.
  const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener.get(), 64), 0);
  ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string silent = "tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  const Reach too_many{std::vector<std::string>(kMostReached + 1, silent), 1};
  EXPECT_NE(answer<Refused>(Wish::Reach, too_many).reason.find("names 17 nodes to reach; at most 16"),
            std::string::npos);
  // Attempts at the silent port last kLongestReachMs, so that some of the callers find two others before
  // them.
  const Reach most{std::vector<std::string>(kMostReached, silent), kLongestReachMs};
  constexpr int kCallers = 8;
  std::vector<std::unique_ptr<Caller>> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.push_back(std::make_unique<Caller>(node.endpoint()));
    callers.back()->send(Hello{kVersion, Wish::Reach, "an operator"}, most);
  }
  int refused = 0;
  int served = 0;
  // All are polled in turn: a connection whose owner waits for another one makes no progress.
  EXPECT_TRUE(eventually([&] {
    for (std::unique_ptr<Caller>& caller : callers) {
      if (!caller) continue;
      if (caller->comes<Refused>(std::chrono::milliseconds{0})) {
        EXPECT_NE(caller->next<Refused>().reason.find("try again in some seconds"), std::string::npos);
        ++refused;
      } else if (caller->comes<Reached>(std::chrono::milliseconds{0})) {
        const Reached reached = caller->next<Reached>();
        EXPECT_EQ(reached.nodes.size(), kMostReached);
        for (const ReachedNode& each : reached.nodes) EXPECT_NE(each.outcome, ReachedNode::Outcome::Reached);
        ++served;
      } else {
        continue;
      }
      caller.reset();
    }
    return refused + served == kCallers;
  }));
  EXPECT_GE(refused, 1);
  EXPECT_GE(served, 2);
}

TEST_F(Operators, GivenReservationsThenOthersSeeThem) {
  constexpr std::uint64_t kMine = 7;
  const auto look = [&](const Choice& choice) { return answer<Loads>(Wish::Reserve, choice).devices.at(0); };
  const DeviceLoad before = look({{}, false, kMine});
  EXPECT_EQ(before.users, 0U);
  EXPECT_FALSE(before.taken);
  const ChosenDevice wanted{before.driver, before.device, before.users};
  EXPECT_FALSE(look({{wanted}, false, 0}).reserved) << "nobody could find it again";
  const DeviceLoad mine = look({{wanted}, false, kMine});
  EXPECT_TRUE(mine.reserved);
  EXPECT_EQ(mine.users, 0U) << "of others";
  const DeviceLoad other = look({{wanted}, false, kMine + 1});
  EXPECT_FALSE(other.reserved) << "it has more users than the client has seen";
  EXPECT_EQ(other.users, 1U);
  EXPECT_TRUE(look({{{wanted.driver, wanted.device, 1}}, false, kMine + 1}).reserved);
  EXPECT_TRUE(look({{}, true, kMine + 2}).taken) << "it could not be exclusive";
}

TEST_F(Operators, GivenASessionForDevicesThatDoNotExistThenItIsRefused) {
  for (const ChosenDevice& wrong : {ChosenDevice{9, 0, 0}, ChosenDevice{0, 9, 0}}) {
    const Choice choice{{wrong}, false, 1};
    EXPECT_NE(answer<Refused>(Wish::Session, choice).reason.find("has no device"), std::string::npos);
    EXPECT_NE(answer<Refused>(Wish::Reserve, choice).reason.find("has no device"), std::string::npos);
  }
}

TEST_F(Operators, GivenAnExclusiveSessionThenItsDevicesAreWithheld) {
  Caller holder(node.endpoint());
  holder.send(Hello{kVersion, Wish::Session, "holder"}, Choice{{}, true, 1});
  EXPECT_TRUE(holder.next<Welcome>().withheld.empty());
  EXPECT_TRUE(answer<Offer>(Wish::Devices).drivers.at(0).taken);
  EXPECT_NE(answer<Refused>(Wish::Session).reason.find("is taken exclusively by session 1 "),
            std::string::npos);
}

TEST_F(Operators, GivenALongReasonThenItIsCutOffAndEscaped) {
  Client client(node);
  client.set_up();
  answer<Steered>(Wish::Steer, Steer{Steer::Act::EndSession, 1, "a\n\x1b[2J" + std::string(3000, 'x')});
  const std::string reason = client.next<SessionEnded>().reason;
  EXPECT_NE(reason.find(": a\\n\\x1b[2Jxxx"), std::string::npos) << reason;
  EXPECT_LT(reason.size(), 700U);
}

}  // namespace
}  // namespace clique::test
