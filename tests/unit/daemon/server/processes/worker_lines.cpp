// What workers write to standard error, and how much of it the log takes.
#include "daemon/server/processes/worker_lines.hpp"

#include <gtest/gtest.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <regex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace clique::daemon {
namespace {

class WorkerLinesTest : public testing::Test {
 protected:
  WorkerLinesTest() {
    auto logger = std::make_shared<spdlog::logger>("", sink_);
    logger->set_pattern("%v");
    spdlog::set_default_logger(std::move(logger));
  }
  ~WorkerLinesTest() override { spdlog::set_default_logger(before_); }

  /// Workers that have written so many lines each, and ended.
  /// @param client of the first worker, and so on; empty: the worker has no session
  void have_written(const std::vector<std::string>& clients, int lines) {
    std::string text;
    for (int line = 0; line < lines; ++line) text += "x\n";
    const auto reader = WorkerLines::start(LinesTo::Log);
    std::vector<std::pair<std::uint64_t, Fd>> workers;
    for (const std::string& client : clients) {
      auto pipe = WorkerLines::make_pipe();
      workers.emplace_back(reader->add(std::move(pipe.to_read), static_cast<pid_t>(1000 + workers.size())),
                           std::move(pipe.to_write));
      if (!client.empty()) reader->describe(workers.back().first, client, {{"client", client}});
    }
    for (const auto& [number, end] : workers)
      ASSERT_EQ(::write(end.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    workers.clear();
  }
  std::string log() const {
    std::string text;
    for (const std::string& line : sink_->last_formatted()) text += line;
    return text;
  }
  /// How many of the lines have been logged.
  std::uint64_t logged() const {
    std::uint64_t count = 0;
    const std::string log = this->log();
    for (std::size_t at = log.find(" says: x\n"); at != std::string::npos;
         at = log.find(" says: x\n", at + 1))
      ++count;
    return count;
  }
  /// How many lines the log says were held back.
  /// @param of the beginning of these lines
  std::uint64_t held_back(const std::string& of) const {
    const std::string log = this->log();
    const std::regex pattern(
        of + R"( wrote more than \d+ lines in a second to standard error; (\d+) were held back)");
    std::uint64_t sum = 0;
    for (auto found = std::sregex_iterator(log.begin(), log.end(), pattern); found != std::sregex_iterator();
         ++found)
      sum += std::stoull((*found)[1]);
    return sum;
  }

  // The limits are those of a second, so a test that takes several seconds sees as many times the lines. The
  // numbers are so large that 20 seconds make no difference.
  static constexpr int kWorkers = 60;
  static constexpr int kLines = 200;
  static constexpr std::uint64_t kWritten = std::uint64_t{kWorkers} * kLines;
  static constexpr std::uint64_t kSeconds = 20;

 private:
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
  std::shared_ptr<spdlog::sinks::ringbuffer_sink_mt> sink_ =
      std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(kWritten);
};

TEST_F(WorkerLinesTest, GivenFewLinesThenAllAreLogged) {
  have_written({"alice", ""}, 3);
  EXPECT_EQ(logged(), 6U) << log();
  EXPECT_EQ(log().find("held back"), std::string::npos) << log();
}

TEST_F(WorkerLinesTest, GivenManyWorkersOfOneClientThenTheyShareALimit) {
  have_written(std::vector<std::string>(kWorkers, "alice"), kLines);
  EXPECT_GE(logged(), LogLimit::kOfOneClientsWorkers);
  EXPECT_LE(logged(), kSeconds * LogLimit::kOfOneClientsWorkers);
  EXPECT_EQ(logged() + held_back("the workers of \"alice\""), kWritten) << log();
}

TEST_F(WorkerLinesTest, GivenWorkersOfManyClientsThenTheyShareALimit) {
  std::vector<std::string> clients;
  for (int client = 0; client < kWorkers; ++client) clients.push_back("client " + std::to_string(client));
  have_written(clients, kLines);
  EXPECT_GE(logged(), LogLimit::kOfAllWorkers);
  EXPECT_LE(logged(), kSeconds * LogLimit::kOfAllWorkers);
  EXPECT_EQ(logged() + held_back("all workers") + held_back("the workers of \"client \\d+\""), kWritten)
      << log();
}

TEST_F(WorkerLinesTest, GivenAFloodThenAnotherClientsLinesAreLogged) {
  // The first worker writes more than its client's limit, and less than that of all.
  have_written({"alice", "bob"}, kLines);
  EXPECT_NE(log().find("process 1001 says: x\n"), std::string::npos);
}

TEST_F(WorkerLinesTest, GivenWorkersWithoutASessionThenTheLogNamesTheProcess) {
  have_written({""}, kLines);
  EXPECT_EQ(logged() + held_back("process 1000"), static_cast<std::uint64_t>(kLines)) << log();
}

TEST_F(WorkerLinesTest, GivenTheFloodIsOverThenTheLogSaysHowManyWereHeldBackWithoutFurtherLines) {
  const auto reader = WorkerLines::start(LinesTo::Log);
  auto pipe = WorkerLines::make_pipe();
  reader->add(std::move(pipe.to_read), 1000);
  std::string text;
  for (int line = 0; line < kLines; ++line) text += "x\n";
  ASSERT_EQ(::write(pipe.to_write.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  constexpr std::chrono::milliseconds kStep{20};
  constexpr std::chrono::seconds kPatience{60};
  for (std::chrono::milliseconds waited{}; waited < kPatience && held_back("process 1000") == 0;
       waited += kStep)
    std::this_thread::sleep_for(kStep);
  EXPECT_EQ(logged() + held_back("process 1000"), static_cast<std::uint64_t>(kLines)) << log();
}

TEST(PrivateWorkerLines, GivenAnyLinesThenTheProgramHasThemWithoutControlCharacters) {
  testing::internal::CaptureStderr();
  {
    const auto reader = WorkerLines::start(LinesTo::Program);
    auto pipe = WorkerLines::make_pipe();
    reader->add(std::move(pipe.to_read), 1000);
    const std::string text = "Invalid read\n\n\tat line \x1b[2J1\n\t\t\x07\nno end";
    ASSERT_EQ(::write(pipe.to_write.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "Invalid read\n\n\tat line \\x1b[2J1\n\t\t\\x07\nno end\n");
}

}  // namespace
}  // namespace clique::daemon
