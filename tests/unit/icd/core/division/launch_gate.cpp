#include "icd/core/division/launch_gate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace clique::icd {

namespace {

constexpr LaunchSize kGateSize{{1024, 1, 1}, {64, 1, 1}};
constexpr Divisible kAmongFour{.members = 4};
constexpr MovementMeter::Speed kNear{MovementMeter::kAssumedNear, false};
constexpr Divisible kAmongFourNear{.members = 4, .movement = kNear};
const Borders kHalves{0, 8, 16};
constexpr std::array<std::uint64_t, 2> kEqual{5, 5};
const auto kNoContent = [] { return std::vector<UsedContent>{}; };

/// Content of one object of which so many bytes move.
auto content_of_bytes(std::uint64_t bytes) {
  return [bytes] { return std::vector<UsedContent>{{&kGateSize, bytes, true}}; };
}

/// A whole launch that ended before the next one was enqueued.
void run_whole(LaunchGate& gate, std::uint64_t time) {
  gate.measured(kGateSize, {}, time, time);
}

bool would_divide(LaunchGate& gate, const Divisible& divisible = kAmongFour, std::uint64_t bytes = 0) {
  return gate.decide(kGateSize, divisible, content_of_bytes(bytes)).divided;
}

TEST(LaunchGate, GivenNoMeasurementThenLaunchesAreWhole) {
  LaunchGate gate;
  EXPECT_FALSE(would_divide(gate));
}

TEST(LaunchGate, GivenTimeThatIsUnknownOrShortThenDivisionGainsNothing) {
  LaunchGate gate;
  EXPECT_FALSE(gate.may_gain(kGateSize, 4));
  run_whole(gate, 200'000);
  EXPECT_FALSE(gate.may_gain(kGateSize, 4));
  run_whole(gate, 100'000'000);
  EXPECT_TRUE(gate.may_gain(kGateSize, 4));
  EXPECT_FALSE(gate.may_gain(kGateSize, 1));
}

TEST(LaunchGate, GivenContentOfLongLaunchesThenShortOnesMayGainWithThem) {
  LaunchGate gate;
  const LaunchSize small{{16, 1, 1}, {16, 1, 1}};
  std::shared_ptr<LaunchGroup> writers;
  const std::array use{LaunchGate::Use{&writers, true}};
  gate.uses(kGateSize, use);
  gate.uses(small, use);
  gate.measured(small, {}, 10'000, 10'000);
  EXPECT_FALSE(gate.may_gain(small, 4));
  run_whole(gate, 10'000'000);
  EXPECT_FALSE(would_divide(gate, kAmongFour, 100'000'000));
  EXPECT_TRUE(gate.may_gain(small, 4));
}

TEST(LaunchGate, GivenLongLaunchThenTheNextOneIsDivided) {
  LaunchGate gate;
  EXPECT_FALSE(would_divide(gate));
  run_whole(gate, 10'000'000);
  EXPECT_TRUE(would_divide(gate));
  EXPECT_FALSE(gate.decide({{2048, 1, 1}, {64, 1, 1}}, kAmongFour, kNoContent).divided);
}

TEST(LaunchGate, GivenShortLaunchOrMuchToMoveThenItStaysWhole) {
  LaunchGate brief;
  EXPECT_FALSE(would_divide(brief));
  run_whole(brief, 200'000);
  EXPECT_FALSE(would_divide(brief));
  LaunchGate gate;
  EXPECT_FALSE(would_divide(gate));
  run_whole(gate, 10'000'000);
  EXPECT_FALSE(would_divide(gate, kAmongFour, 100'000'000));
}

TEST(LaunchGate, GivenMuchToMergeThenItStaysWhole) {
  for (const std::uint64_t merged : {4'000'000U, 6'000'000U})
    for (const bool near : {false, true}) {
      LaunchGate gate;
      const Divisible divisible{4, near ? kNear : MovementMeter::Speed{}, merged, 0};
      EXPECT_FALSE(would_divide(gate, divisible));
      run_whole(gate, 10'000'000);
      EXPECT_EQ(would_divide(gate, divisible), near || merged == 4'000'000) << merged;
    }
}

TEST(LaunchGate, GivenMuchToMoveThenItIsDividedOnceThatWouldHavePaidOff) {
  for (const Divisible& divisible : {kAmongFour, kAmongFourNear}) {
    LaunchGate gate;
    const auto bytes = static_cast<std::uint64_t>(100'000'000 / divisible.movement.each_byte);
    int launches = 0;
    for (; !would_divide(gate, divisible, bytes); ++launches) {
      ASSERT_LT(launches, 100);
      run_whole(gate, 10'000'000);
    }
    // Each would have saved 7.3 ms of 100 ms.
    EXPECT_EQ(launches, 14);
  }
}

TEST(LaunchGate, GivenMuchToMoveThenSomeMovesSoonAndItsSpeedCounts) {
  for (const double each_byte : {0.02, 0.5, 8.0}) {
    LaunchGate gate;
    Divisible divisible = kAmongFour;
    int launches = 0;
    int tried = 0;
    for (;; ++launches) {
      ASSERT_LT(launches, 200);
      const GateDecision decision = gate.decide(kGateSize, divisible, content_of_bytes(100'000'000));
      if (decision.divided) break;
      run_whole(gate, 10'000'000);
      if (!decision.tries_movement) continue;
      EXPECT_EQ(launches, 1) << "the first one that is known to be slow";
      ++tried;
      divisible.movement = {each_byte, true};
    }
    EXPECT_EQ(tried, 1);
    // Each would have saved 7.3 ms.
    EXPECT_EQ(launches, std::max(2, static_cast<int>(std::ceil(100 * each_byte / 7.3)))) << each_byte;
  }
}

TEST(LaunchGate, GivenNothingToGainThenNothingMovesToBeMeasured) {
  LaunchGate gate;
  for (int launch = 0; launch < 100; ++launch) {
    EXPECT_FALSE(gate.decide(kGateSize, kAmongFour, content_of_bytes(100'000'000)).tries_movement);
    run_whole(gate, 200'000);
  }
}

TEST(LaunchGate, GivenSpeedThatStaysUnknownThenAFewLaunchesTryToMeasureIt) {
  LaunchGate gate;
  unsigned tried = 0;
  for (int launch = 0; launch < 100; ++launch) {
    const GateDecision decision = gate.decide(kGateSize, kAmongFour, content_of_bytes(10'000'000'000));
    if (decision.tries_movement) ++tried;
    run_whole(gate, 10'000'000);
  }
  EXPECT_EQ(tried, LaunchGroup::kMostTrials);
  // One that has not ended is enough.
  LaunchGate other;
  Divisible divisible = kAmongFour;
  divisible.movement.under_way = true;
  for (int launch = 0; launch < 10; ++launch) {
    EXPECT_FALSE(other.decide(kGateSize, divisible, content_of_bytes(10'000'000'000)).tries_movement);
    run_whole(other, 10'000'000);
  }
}

TEST(LaunchGate, GivenManyLaunchesBeforeTheFirstEndsThenTheyCount) {
  LaunchGate gate;
  EXPECT_FALSE(would_divide(gate, kAmongFour, 100'000'000));
  run_whole(gate, 10'000'000);
  // None of the others ends meanwhile.
  int launches = 1;
  while (launches < 100 && !would_divide(gate, kAmongFour, 100'000'000)) ++launches;
  EXPECT_EQ(launches, 14);
}

TEST(LaunchGate, GivenSlowFirstLaunchThenItIsForgotten) {
  LaunchGate gate;
  EXPECT_FALSE(would_divide(gate));
  run_whole(gate, 100'000'000);
  run_whole(gate, 200'000);
  EXPECT_FALSE(would_divide(gate)) << "the kernel was compiled during the first one";
}

/// Launches of a kernel that end before the next one is enqueued, as a program with clFinish has them.
/// @returns how many of them had a look
unsigned looks_of(LaunchGate& gate, const LaunchSize& size, const Divisible& divisible, std::uint64_t time,
                  std::uint64_t look_time, unsigned launches) {
  unsigned looks = 0;
  for (unsigned i = 0; i < launches; ++i) {
    if (gate.look(size) != Look::Needed) continue;
    ++looks;
    const GateDecision decision = gate.decide(size, divisible, kNoContent);
    gate.looked(size, look_time);
    if (decision.measured) gate.measured(size, decision, time, time);
  }
  return looks;
}

TEST(LaunchGate, GivenLaunchesThatAreTooShortToGainThenFewHaveALook) {
  for (const Divisible& divisible : {kAmongFour, Divisible{}}) {
    LaunchGate gate;
    EXPECT_EQ(looks_of(gate, kGateSize, divisible, 100'000, 2'000, 1), 1U);
    const unsigned looks = looks_of(gate, kGateSize, divisible, 100'000, 2'000, 6'400);
    EXPECT_GE(looks, 90U);
    EXPECT_LE(looks, 101U);
    // The looks would take as long as the launches.
    LaunchGate slow;
    looks_of(slow, kGateSize, divisible, 5'000, 320'000, 1);
    EXPECT_LE(looks_of(slow, kGateSize, divisible, 5'000, 320'000, 8'192), 2U);
  }
}

TEST(LaunchGate, GivenLaunchesThatBecomeLongThenTheyAreDivided) {
  LaunchGate gate;
  looks_of(gate, kGateSize, kAmongFour, 100'000, 2'000, 1'000);
  bool divided = false;
  for (unsigned i = 0; i < 10'000 && !divided; ++i) {
    if (gate.look(kGateSize) != Look::Needed) continue;
    const GateDecision decision = gate.decide(kGateSize, kAmongFour, kNoContent);
    divided = decision.divided;
    if (decision.measured && !divided) gate.measured(kGateSize, decision, 50'000'000, 50'000'000);
  }
  EXPECT_TRUE(divided);
}

TEST(LaunchGate, GivenLooksThatTakeLongThenTheyAreRare) {
  // A look at each would take a tenth of the time.
  LaunchGate gate;
  looks_of(gate, kGateSize, {}, 1'000'000, 100'000, 1);
  const unsigned looks = looks_of(gate, kGateSize, {}, 1'000'000, 100'000, 1'000);
  EXPECT_GE(looks, 80U);
  EXPECT_LE(looks, 120U);
  LaunchGate quick;
  EXPECT_EQ(looks_of(quick, kGateSize, {}, 1'000'000, 2'000, 1'000), 1'000U);
}

TEST(LaunchGate, GivenLaunchesWithoutALookThenTheyCount) {
  // Looks take 5 % of the time, so one in six launches has one. Each of 20 ms would save 14.8 of 1,000 ms.
  LaunchGate gate;
  unsigned launches = 0;
  for (;; ++launches) {
    ASSERT_LT(launches, 1'000U);
    if (gate.look(kGateSize) != Look::Needed) continue;
    const GateDecision decision = gate.decide(kGateSize, kAmongFour, content_of_bytes(1'000'000'000));
    if (decision.divided) break;
    gate.looked(kGateSize, 1'000'000);
    if (decision.measured) gate.measured(kGateSize, decision, 20'000'000, 20'000'000);
  }
  EXPECT_GE(launches, 66U);
  EXPECT_LE(launches, 80U);
}

TEST(LaunchGate, GivenEverSmallerSizesThatAreTooShortThenFewHaveALook) {
  LaunchGate gate;
  const auto size = [](std::size_t rows) { return LaunchSize{{rows, rows, 1}, {8, 8, 1}}; };
  EXPECT_EQ(looks_of(gate, size(4096), kAmongFour, 50'000, 10'000, 1), 1U);
  unsigned looks = 0;
  for (std::size_t rows = 4088; rows > 0; rows -= 8) {
    const Look look = gate.look(size(rows));
    EXPECT_NE(look, Look::Spared) << rows;
    if (look == Look::Needed) ++looks;
  }
  EXPECT_EQ(looks, 511U / 64);
  // A larger one may be long.
  EXPECT_EQ(gate.look(size(8192)), Look::Needed);
}

TEST(LaunchGate, GivenDividedLaunchesThenEachHasALook) {
  LaunchGate gate;
  looks_of(gate, kGateSize, kAmongFour, 10'000'000, 9'000'000, 1);
  EXPECT_TRUE(would_divide(gate));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(gate.look(kGateSize), Look::Needed);
}

TEST(LaunchGate, GivenDividedLaunchesThatAreSlowThenLaterOnesAreWhole) {
  LaunchGate gate;
  EXPECT_FALSE(would_divide(gate));
  run_whole(gate, 10'000'000);
  int launches = 0;
  for (; launches < 20; ++launches) {
    const GateDecision decision = gate.decide(kGateSize, kAmongFour, kNoContent);
    if (!decision.divided) break;
    // The first one compiles the kernel.
    gate.measured(kGateSize, decision, launches == 0 ? 90'000'000 : 9'000'000, kHalves, 1, kEqual);
  }
  EXPECT_GT(launches, 1) << "the first one says nothing of later ones";
  EXPECT_LE(launches, 5);
}

TEST(LaunchGate, GivenOneDividedLaunchThatIsVerySlowThenTheNextOneIsWhole) {
  LaunchGate gate;
  EXPECT_FALSE(would_divide(gate));
  run_whole(gate, 10'000'000);
  for (int launch = 0; launch < 3; ++launch) {
    const GateDecision decision = gate.decide(kGateSize, kAmongFour, kNoContent);
    ASSERT_TRUE(decision.divided);
    gate.measured(kGateSize, decision, launch == 0 ? 10'000'000 : 30'000'000, kHalves, 1, kEqual);
  }
  EXPECT_FALSE(would_divide(gate));
}

/// A kernel of a program that repeats steps, each of which launches all kernels: what its launches take, in
/// ns.
struct SteppedKernel {
  std::uint64_t whole;
  std::uint64_t divided;
  std::size_t members = 4;  ///< 1: it cannot be divided
  std::uint64_t late = 0;   ///< what a divided one takes from some step on; 0: the same
};

/// Such a program on a combined device, where content lies either on the first member, or divided. All
/// kernels write all content.
class SteppedProgram {
 public:
  /// @param moves ns that it takes to gather the content, or to distribute it
  SteppedProgram(std::vector<SteppedKernel> kernels, std::uint64_t moves, std::uint64_t bytes)
      : kernels_(std::move(kernels)), moves_(moves), bytes_(bytes), gates_(kernels_.size()) {}

  void run(int steps, int late_from = 1 << 30) {
    for (int step = 0; step < steps; ++step)
      for (std::size_t i = 0; i < kernels_.size(); ++i) launch(i, step >= late_from);
  }
  double time() const { return time_; }
  int switches() const { return switches_; }
  /// What all launches take that run whole, or divided where possible, without anything to learn.
  double best(int steps) const {
    double whole = 0, divided = 0;
    for (const SteppedKernel& kernel : kernels_) {
      whole += static_cast<double>(kernel.whole);
      divided += static_cast<double>(kernel.members > 1 ? kernel.divided : kernel.whole + 2 * moves_);
    }
    return steps * std::min(whole, divided);
  }

 private:
  void launch(std::size_t i, bool late) {
    const SteppedKernel& kernel = kernels_[i];
    LaunchGate& gate = gates_[i];
    const LaunchGate::Use use{&writers_, true};
    gate.uses(kGateSize, {&use, 1});
    const auto content = [this] { return std::vector<UsedContent>{{&bytes_, bytes_, true}}; };
    const GateDecision decision = gate.decide(kGateSize, {.members = kernel.members}, content);
    const std::uint64_t moves = decision.divided == is_divided_ ? 0 : moves_;
    if (moves != 0) ++switches_;
    is_divided_ = decision.divided;
    const std::uint64_t own = !decision.divided          ? kernel.whole
                              : late && kernel.late != 0 ? kernel.late
                                                         : kernel.divided;
    time_ += static_cast<double>(own + moves);
    if (decision.divided)
      gate.measured(kGateSize, decision, own + moves, kHalves, 1, kEqual);
    else if (decision.measured)
      gate.measured(kGateSize, decision, own, own + moves);
  }

  std::vector<SteppedKernel> kernels_;
  std::uint64_t moves_;
  std::uint64_t bytes_;
  std::vector<LaunchGate> gates_;
  std::shared_ptr<LaunchGroup> writers_;
  bool is_divided_ = false;
  double time_ = 0;
  int switches_ = 0;
};

TEST(LaunchGroup, GivenKernelsThatShareContentThenTheyAreDividedTogether) {
  // Alone, the second kernel would run whole, and content would move for each of its launches.
  SteppedProgram program({{3'000'000, 1'100'000}, {1'000'000, 900'000}, {3'000'000, 1'100'000}}, 20'000'000,
                         30'000'000);
  program.run(500);
  EXPECT_LE(program.switches(), 5) << "there, and back to see how long whole launches take";
  EXPECT_LE(program.time(), 1.06 * program.best(500));
}

TEST(LaunchGroup, GivenDivisionThatDoesNotPayOffThenItSettles) {
  SteppedProgram program({{3'000'000, 3'200'000}, {1'000'000, 1'300'000}, {3'000'000, 2'500'000}}, 20'000'000,
                         30'000'000);
  program.run(500);
  EXPECT_LE(program.switches(), 6);
  EXPECT_LE(program.time(), 1.05 * program.best(500));
  const int before = program.switches();
  program.run(500);
  EXPECT_LE(program.switches() - before, 2) << "and more rarely as time goes on";
}

TEST(LaunchGroup, GivenKernelThatCannotBeDividedThenWhatMovesForItCounts) {
  // What the first kernel gains, the second one loses.
  SteppedProgram program({{8'000'000, 3'000'000}, {500'000, 0, 1}}, 10'000'000, 20'000'000);
  program.run(500);
  EXPECT_LE(program.switches(), 10);
  EXPECT_LE(program.time(), 1.05 * program.best(500));
  // It gains more.
  SteppedProgram longer({{80'000'000, 22'000'000}, {500'000, 0, 1}}, 10'000'000, 20'000'000);
  longer.run(200);
  EXPECT_LE(longer.time(), 1.1 * longer.best(200));
}

TEST(LaunchGroup, GivenMovementThatIsCheaperThanItsBytesSuggestThenItIsTriedInTheEnd) {
  SteppedProgram program({{8'000'000, 2'200'000}, {8'000'000, 2'200'000}}, 2'000'000, 400'000'000);
  program.run(2000);
  EXPECT_LE(program.time(), 1.1 * program.best(2000));
}

TEST(LaunchGroup, GivenDividedLaunchesThatBecomeSlowThenTheyAreWholeAgain) {
  const std::vector<SteppedKernel> kernels{{3'000'000, 1'100'000, 4, 6'000'000}};
  SteppedProgram program(kernels, 10'000'000, 10'000'000);
  program.run(2000, 500);
  const double best = 500 * 1'100'000.0 + 1500 * 3'000'000.0;
  EXPECT_LE(program.time(), 1.1 * best);
}

TEST(LaunchGroup, GivenContentThatMovesForOtherCommandsThenItCounts) {
  LaunchGate gate;
  std::shared_ptr<LaunchGroup> writers;
  int divided = 0;
  for (int launch = 0; launch < 100; ++launch) {
    const LaunchGate::Use use{&writers, true};
    gate.uses(kGateSize, {&use, 1});
    const GateDecision decision = gate.decide(kGateSize, kAmongFour, content_of_bytes(10'000'000));
    if (!decision.divided) {
      gate.measured(kGateSize, decision, 10'000'000, 10'000'000);
      continue;
    }
    ++divided;
    gate.measured(kGateSize, decision, 3'000'000, kHalves, 1, kEqual);
    // A copy, for which everything is gathered.
    LaunchGate::charge(writers, 10'000'000);
  }
  EXPECT_GT(divided, 0);
  EXPECT_LE(divided, 15);
}

TEST(LaunchGroup, GivenKernelsWithoutCommonContentThenEachIsDividedByItself) {
  LaunchGate one, other;
  std::shared_ptr<LaunchGroup> of_one, of_other;
  const LaunchGate::Use first{&of_one, true}, second{&of_other, true};
  int divided = 0;
  for (int launch = 0; launch < 20; ++launch) {
    one.uses(kGateSize, {&first, 1});
    other.uses(kGateSize, {&second, 1});
    const GateDecision decision = one.decide(kGateSize, kAmongFour, kNoContent);
    if (decision.divided) {
      ++divided;
      one.measured(kGateSize, decision, 2'800'000, kHalves, 1, kEqual);
    } else {
      one.measured(kGateSize, decision, 10'000'000, 10'000'000);
    }
    const GateDecision brief = other.decide(kGateSize, kAmongFour, kNoContent);
    EXPECT_FALSE(brief.divided);
    other.measured(kGateSize, brief, 100'000, 100'000);
  }
  EXPECT_EQ(divided, 19);
}

TEST(LaunchGroup, GivenKernelsOfAGroupThenTheirBordersAreTheSame) {
  std::array<LaunchGate, 2> gates;
  std::shared_ptr<LaunchGroup> writers;
  for (int step = 0; step < 40; ++step) {
    for (std::size_t kernel = 0; kernel < 2; ++kernel) {
      LaunchGate& gate = gates[kernel];
      const LaunchGate::Use use{&writers, true};
      gate.uses(kGateSize, {&use, 1});
      gate.decide(kGateSize, {.members = 2}, kNoContent);
      Borders borders = gate.borders(kGateSize);
      if (borders.empty()) borders = kHalves;
      // The groups of one kernel take longer at the end, those of the other one less so.
      const std::uint64_t slower = kernel == 0 ? 3 : 2;
      gate.measured(kGateSize, {}, 1000, borders, 1,
                    std::array<std::uint64_t, 2>{1000 * (borders[1] - borders[0]),
                                                 1000 * slower * (borders[2] - borders[1])});
    }
  }
  EXPECT_EQ(gates[0].borders(kGateSize), gates[1].borders(kGateSize));
  EXPECT_EQ(gates[0].version(kGateSize), gates[1].version(kGateSize));
  // 2 * 11 ms and 5 * 5 ms.
  EXPECT_EQ(gates[0].borders(kGateSize), (Borders{0, 11, 16}));
}

TEST(LaunchGroup, GivenGateThatIsGoneThenOthersGoOn) {
  std::shared_ptr<LaunchGroup> writers;
  LaunchGate gate;
  const LaunchGate::Use use{&writers, true};
  for (int program = 0; program < 3; ++program) {
    LaunchGate gone;
    for (LaunchGate* each : {&gone, &gate}) {
      each->uses(kGateSize, {&use, 1});
      const GateDecision decision = each->decide(kGateSize, kAmongFour, content_of_bytes(1'000'000));
      if (decision.divided)
        each->measured(kGateSize, decision, 3'000'000, kHalves, 1, kEqual);
      else
        each->measured(kGateSize, decision, 10'000'000, 10'000'000);
    }
  }
  EXPECT_TRUE(would_divide(gate));
}

TEST(LaunchGroup, GivenEverNewSizesThenOnlyRecentContentCounts) {
  LaunchGate gate;
  std::shared_ptr<LaunchGroup> writers;
  std::array<char, 10'000> objects{};
  int divided = 0;
  for (std::size_t launch = 0; launch < objects.size(); ++launch) {
    const LaunchSize size{{64 * (launch + 1), 1, 1}, {64, 1, 1}};
    const LaunchGate::Use use{&writers, true};
    for (int repetition = 0; repetition < 2; ++repetition) {
      gate.uses(size, {&use, 1});
      const auto content = [&] { return std::vector<UsedContent>{{&objects[launch], 1'000'000, true}}; };
      const GateDecision decision = gate.decide(size, kAmongFour, content);
      if (decision.divided)
        ++divided;
      else
        gate.measured(size, decision, 10'000'000, 10'000'000);
    }
  }
  // Moving what all of them use would take 10 s, which would be too much for a long time.
  EXPECT_GT(divided, 9000);
}

TEST(LaunchGate, GivenBordersThatTurnOutWorseThenTheBestOnesStay) {
  LaunchGate gate;
  Borders borders{0, 8, 16};
  for (int launch = 0; launch < 40; ++launch) {
    // Four groups at a time take as long as one.
    std::array<std::uint64_t, 2> times{};
    for (std::size_t part = 0; part < 2; ++part)
      times[part] = (borders[part + 1] - borders[part] + 3) / 4 * 100 + (part == 0 ? 0 : 60);
    gate.measured(kGateSize, {}, 1000, borders, 1, times);
    if (const Borders next = gate.borders(kGateSize); !next.empty()) borders = next;
  }
  EXPECT_EQ(borders, (Borders{0, 8, 16}));
}

TEST(LaunchGate, GivenUnevenPartsThenBordersMoveUntilTheyAreEven) {
  LaunchGate gate;
  // Group i takes i nanoseconds.
  Borders borders{0, 25, 50, 75, 100};
  const std::uint64_t version = gate.version(kGateSize);
  for (int launch = 0; launch < 40; ++launch) {
    std::vector<std::uint64_t> times;
    for (std::size_t part = 0; part < 4; ++part) {
      times.push_back(0);
      for (std::uint64_t group = borders[part]; group < borders[part + 1]; ++group) times.back() += group;
    }
    gate.measured(kGateSize, {}, 1000, borders, 1, times);
    if (const Borders next = gate.borders(kGateSize); !next.empty()) borders = next;
  }
  EXPECT_GT(gate.version(kGateSize), version);
  for (std::size_t part = 0; part < 4; ++part)
    EXPECT_NEAR(static_cast<double>(borders[part]), 100 * std::sqrt(static_cast<double>(part) / 4), 3);
}

TEST(LaunchGate, GivenVeryUnevenPartsThenBordersMoveAfterEachLaunch) {
  LaunchGate gate;
  // The work is in the middle.
  const auto times_of = [](const Borders& borders) {
    std::vector<std::uint64_t> times;
    for (std::size_t part = 0; part < 4; ++part) {
      times.push_back(0);
      for (std::uint64_t group = borders[part]; group < borders[part + 1]; ++group)
        times.back() += group >= 96 && group < 160 ? 1000 : 100;
    }
    return times;
  };
  Borders borders{0, 64, 128, 192, 256};
  int launches = 0;
  const auto longest = [&] {
    const auto times = times_of(borders);
    return *std::max_element(times.begin(), times.end());
  };
  for (; launches < 20 && longest() > 22'000; ++launches) {
    gate.measured(kGateSize, {}, 1000, borders, 1, times_of(borders));
    if (const Borders next = gate.borders(kGateSize); !next.empty()) borders = next;
  }
  EXPECT_LE(launches, 7) << "20,800 ns each would be even";
}

TEST(LaunchGate, GivenMemberThatBecomesSlowerThenItGetsLess) {
  LaunchGate gate;
  Borders borders = kHalves;
  for (int launch = 0; launch < 200; ++launch) {
    const std::uint64_t slower = launch < 50 ? 1 : 3;
    const std::array<std::uint64_t, 2> times{1000 * (borders[1] - borders[0]),
                                             1000 * slower * (borders[2] - borders[1])};
    gate.measured(kGateSize, {}, 1000, borders, 1, times);
    if (const Borders next = gate.borders(kGateSize); !next.empty()) borders = next;
    if (launch == 49) {
      EXPECT_EQ(borders, kHalves);
    }
  }
  EXPECT_EQ(borders, (Borders{0, 12, 16}));
}

TEST(LaunchGate, GivenPartsThatStayVeryUnevenThenPausesAreShorter) {
  LaunchGate gate;
  Borders borders{0, 50, 100};
  const auto launch = [&](std::uint64_t first, std::uint64_t second) {
    gate.measured(kGateSize, {}, 1000, borders, 1, std::array<std::uint64_t, 2>{first, second});
    if (const Borders next = gate.borders(kGateSize); !next.empty()) borders = next;
  };
  // The pause that begins in these 1,000 launches is 512 launches long at least, the next one 1,024.
  for (int i = 0; i < 1000; ++i) launch(i / 3 % 2 == 0 ? 10 : 90, i / 3 % 2 == 0 ? 90 : 10);
  for (int i = 0; i < 300; ++i) launch(1000 * (borders[1] - borders[0]), 3000 * (borders[2] - borders[1]));
  EXPECT_NEAR(static_cast<double>(borders[1]), 75, 3);
}

TEST(LaunchGate, GivenEvenPartsThenBordersStay) {
  LaunchGate gate;
  for (int launch = 0; launch < 10; ++launch)
    gate.measured(kGateSize, {}, 1000, kHalves, 1, std::array<std::uint64_t, 2>{100, 108});
  EXPECT_EQ(gate.borders(kGateSize), Borders{});
}

TEST(LaunchGate, GivenLaunchesThatDifferAllTheTimeThenBordersMoveLessAndLess) {
  LaunchGate gate;
  Borders borders{0, 50, 100};
  std::uint64_t early = 0;
  for (int launch = 0; launch < 3200; ++launch) {
    const bool first = launch / 3 % 2 == 0;
    gate.measured(kGateSize, {}, 1000, borders, 1,
                  std::array<std::uint64_t, 2>{first ? 10U : 90U, first ? 90U : 10U});
    if (const Borders next = gate.borders(kGateSize); !next.empty()) borders = next;
    if (launch == 200) early = gate.version(kGateSize);
  }
  EXPECT_LE(gate.version(kGateSize) - early, 6);
}

TEST(LaunchGates, GivenOneDeviceThenItsGateIsTheSame) {
  LaunchGates gates;
  const int one = 0, other = 0;
  const auto gate = gates.of(&one);
  EXPECT_FALSE(would_divide(*gate));
  run_whole(*gate, 10'000'000);
  EXPECT_TRUE(would_divide(*gates.of(&one)));
  EXPECT_FALSE(would_divide(*gates.of(&other)));
}

TEST(Balance, GivenAnyTimesThenPartsAreNotEmptyAndBordersAreMultiplesOfTheUnit) {
  for (const std::uint64_t groups : {4U, 7U, 64U, 1000U})
    for (const std::uint64_t unit : {1U, 2U})
      for (const std::array<std::uint64_t, 3>& times :
           {std::array<std::uint64_t, 3>{0, 0, 9}, {9, 0, 0}, {1, 1000, 1}, {0, 0, 0}, {1, 2, 3}}) {
        if (groups < 3 * unit) continue;
        const Borders equal = equal_borders(groups, unit, 3);
        const Borders balanced = balanced_borders(equal, unit, times);
        if (balanced.empty()) continue;
        ASSERT_EQ(balanced.size(), 4U);
        EXPECT_EQ(balanced.front(), 0U);
        EXPECT_EQ(balanced.back(), groups);
        for (std::size_t i = 0; i < 3; ++i) {
          EXPECT_LT(balanced[i], balanced[i + 1]);
          EXPECT_EQ(balanced[i] % unit, 0U);
        }
      }
}

}  // namespace

}  // namespace clique::icd
