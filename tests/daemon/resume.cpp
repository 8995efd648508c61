// Clients whose connections break, and who come back, or do not.
#include <optional>

#include "harness.hpp"
#include "ids.hpp"

namespace clique::test {
namespace {

/// A client on another host, in that it shares no memory.
class Resume : public testing::Test {
 protected:
  /// What comes on a connection that goes on with the reports.
  using Reports = MessageList<Received, Attached, EventState>;
  /// What comes on one for commands.
  using Acknowledgements = MessageList<Received, SessionEnded>;

  static constexpr CommandId kFill = 100, kMarker = 101;

  /// One batch.
  template <typename... M>
  void send(const M&... messages) {
    client_.send(messages...);
    ++sent_;
  }
  void set_up() {
    send(CreateContext{kContext, {0}}, CreateQueue{kInOrder, kContext, 0, 0},
         CreateBuffer{kBuffer, kContext, kReadWrite, 64});
    send(FillBuffer{command(kFill), kBuffer, Bytes{7}, 0, 64});
    EXPECT_EQ(client_.ended(kFill).status, 0);
  }
  /// Closes both of the client's connections.
  void cut() {
    client_.commands.close();
    client_.reports_socket.close();
    EXPECT_TRUE(eventually([&] { return node_.logged("its session waits"); }));
  }
  /// Another connection for a line, the newest one unless `attempt` says otherwise.
  zmq::socket_t connect(std::uint16_t port, LineId line, std::uint64_t received,
                        std::optional<std::uint32_t> attempt = {}) {
    zmq::socket_t socket = dealer(port, client_.address.client);
    test::send(socket, AttachLine{line, line == kReportsLine, received, attempt ? *attempt : ++attempts_});
    return socket;
  }
  /// Another connection for the commands. @returns how many batches had come there.
  std::uint64_t resume_commands() {
    client_.commands = connect(client_.address.commands, kCommandsLine, 0);
    return Receiver<Acknowledgements>(client_.commands).next<Received>().batches;
  }
  void resume_reports(std::uint64_t received) {
    client_.reports_socket = connect(client_.address.reports, kReportsLine, received);
  }

  Node node_{{"--resume-timeout", "60"}};
  Client client_{node_};
  std::uint64_t sent_ = 0;
  std::uint32_t attempts_ = 0;
};

TEST_F(Resume, GivenCutThenTheSessionGoesOnWhereItWas) {
  EXPECT_EQ(client_.attached.resume_ms, 60'000U);
  set_up();
  send(AwaitRemote{kRemote, kContext}, Marker{command(kMarker, Command::kReport, {kRemote})});
  EXPECT_FALSE(client_.reports.comes<EventState>(std::chrono::milliseconds(100)));
  cut();
  EXPECT_EQ(resume_commands(), sent_);
  // Ends while nobody can be told.
  send(SetRemote{kRemote, 0});
  resume_reports(client_.reports.batches());
  Receiver<Reports> reports(client_.reports_socket);
  const auto state = reports.next<EventState>();
  EXPECT_EQ(state.command, kMarker);
  EXPECT_EQ(state.status, 0);
  EXPECT_FALSE(reports.comes<Attached>(std::chrono::milliseconds(50))) << "what had come, came again";
  EXPECT_TRUE(eventually([&] { return node_.logged("is back"); }));
}

TEST_F(Resume, GivenReportsThatWereLostThenTheyComeAgain) {
  set_up();
  cut();
  resume_commands();
  // Of all that was reported, nothing had come.
  resume_reports(0);
  Receiver<Reports> reports(client_.reports_socket);
  EXPECT_EQ(reports.next<Attached>().devices.size(), client_.attached.devices.size());
  EXPECT_EQ(reports.next<EventState>().command, kFill);
}

TEST_F(Resume, GivenManyCutsThenNothingIsLostOrTwice) {
  set_up();
  std::uint64_t received = client_.reports.batches();
  CommandId last = 200;
  for (int round = 0; round < 20; ++round) {
    // What is sent right before may or may not arrive, and is sent again where it has not.
    const CommandId first = last + 1;
    for (int i = 0; i < 3; ++i) {
      send(Marker{command(++last)});
      if (i == 1) client_.commands.close();
      if (i == 1) break;
    }
    const std::uint64_t arrived = resume_commands();
    ASSERT_LE(arrived, sent_);
    for (std::uint64_t missing = sent_ - arrived; missing > 0; --missing)
      client_.send(Marker{command(last - missing + 1)});
    client_.reports_socket.close();
    resume_reports(received);
    Receiver<Reports> reports(client_.reports_socket);
    for (CommandId id = first; id <= last; ++id) ASSERT_EQ(reports.next<EventState>().command, id);
    ASSERT_TRUE(reports.messages().empty() || !std::holds_alternative<EventState>(reports.messages().back()));
    received += reports.batches() - 1;
  }
}

TEST_F(Resume, GivenAttachLineOfAnEarlierConnectionThenItIsIgnored) {
  set_up();
  cut();
  const std::uint32_t earlier = ++attempts_;
  resume_commands();
  resume_reports(client_.reports.batches());
  Receiver<Reports> reports(client_.reports_socket);
  reports.next<Received>();
  zmq::socket_t late_commands = connect(client_.address.commands, kCommandsLine, 0, earlier);
  zmq::socket_t late_reports = connect(client_.address.reports, kReportsLine, 0, earlier);
  EXPECT_FALSE(Receiver<Acknowledgements>(late_commands).comes<Received>(std::chrono::milliseconds(100)));
  EXPECT_FALSE(Receiver<Reports>(late_reports).comes<Attached>(std::chrono::milliseconds(100)));
  send(Marker{command(kMarker)});
  EXPECT_EQ(reports.next<EventState>().command, kMarker);
}

TEST_F(Resume, GivenALineThatIsNotThereThenItIsRefusedAndTheSessionGoesOn) {
  zmq::socket_t wrong = connect(client_.address.commands, kReportsLine, 0);
  Receiver<Acknowledgements> answers(wrong);
  EXPECT_NE(answers.next<SessionEnded>().reason, "");
  set_up();
}

TEST_F(Resume, GivenAcknowledgementOfWhatWasNeverSentThenTheSessionEnds) {
  set_up();
  cut();
  resume_commands();
  resume_reports(1'000'000);
  EXPECT_TRUE(eventually([&] { return node_.logged("were sent"); }));
}

TEST(ResumeTimeout, GivenClientThatDoesNotComeBackThenItsSessionEnds) {
  const Node node({"--resume-timeout", "1"});
  {
    Client client(node);
    ASSERT_TRUE(eventually([&] { return node.workers().size() == 2; }));
  }
  EXPECT_TRUE(eventually([&] { return node.logged("did not come back in time"); }));
  EXPECT_TRUE(eventually([&] { return node.workers().size() == 1; }));
}

TEST(ResumeTimeout, GivenNoneThenSessionsEndWithTheirConnections) {
  const Node node({"--resume-timeout", "0"});
  {
    Client client(node);
    EXPECT_EQ(client.attached.resume_ms, 0U);
    ASSERT_TRUE(eventually([&] { return node.workers().size() == 2; }));
  }
  EXPECT_TRUE(eventually([&] { return node.logged("the client is gone"); }));
  EXPECT_TRUE(eventually([&] { return node.workers().size() == 1; }));
}

}  // namespace
}  // namespace clique::test
