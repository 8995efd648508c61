// Slices as a stream encodes them, read with protozero.
#include "icd/trace/stream.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <protozero/pbf_message.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "icd/trace/perfetto.hpp"

namespace clique::icd::trace::test {
namespace {

using protozero::data_view;
using protozero::pbf_message;

struct FoundPacket {
  std::vector<std::string> texts;  ///< that it defines, or has in the place of a number
  std::vector<std::uint64_t> flows;
  std::uint64_t type = 0;
  std::size_t facts = 0;
  std::vector<std::uint64_t> numbers;  ///< of facts
  std::uint64_t time = 0;
  std::size_t size = 0;
};

class Streams : public ::testing::Test {
 protected:
  ~Streams() override { ::close(reader_); }

  /// The packets that the stream has encoded since the last call.
  std::vector<FoundPacket> packets() {
    stream_.flush();
    return packets_in_file();
  }

  /// The packets that the file has got since the last call.
  std::vector<FoundPacket> packets_in_file() {
    // To the end of the file, which is that of a packet.
    std::string text;
    std::string piece(1U << 20U, '\0');
    ssize_t size = 0;
    while ((size = ::pread(reader_, piece.data(), piece.size(), static_cast<off_t>(read_))) > 0) {
      text.append(piece, 0, static_cast<std::size_t>(size));
      read_ += static_cast<std::size_t>(size);
    }
    EXPECT_EQ(size, 0);
    std::vector<FoundPacket> found;
    pbf_message<perfetto::Trace> trace(text);
    while (trace.next(perfetto::Trace::packet)) found.push_back(packet(trace.get_view()));
    return found;
  }

  static FoundPacket packet(data_view view) {
    FoundPacket found;
    found.size = view.size();
    pbf_message<perfetto::TracePacket> packet(view);
    while (packet.next()) switch (packet.tag()) {
        case perfetto::TracePacket::timestamp:
          found.time = packet.get_uint64();
          break;
        case perfetto::TracePacket::track_event:
          add_event(packet.get_view(), found);
          break;
        case perfetto::TracePacket::interned_data:
          for (pbf_message<perfetto::InternedData> data(packet.get_view()); data.next();)
            for (pbf_message<perfetto::Interned> entry(data.get_view());
                 entry.next(perfetto::Interned::name);)
              found.texts.push_back(entry.get_string());
          break;
        default:
          packet.skip();
      }
    return found;
  }

  static void add_event(data_view view, FoundPacket& found) {
    pbf_message<perfetto::TrackEvent> event(view);
    while (event.next()) switch (event.tag()) {
        case perfetto::TrackEvent::type:
          found.type = event.get_uint64();
          break;
        case perfetto::TrackEvent::flow_ids:
          found.flows.push_back(event.get_fixed64());
          break;
        case perfetto::TrackEvent::name:
          found.texts.push_back(event.get_string());
          break;
        case perfetto::TrackEvent::debug_annotations:
          ++found.facts;
          for (pbf_message<perfetto::DebugAnnotation> fact(event.get_view()); fact.next();)
            if (fact.tag() == perfetto::DebugAnnotation::string_value)
              found.texts.push_back(fact.get_string());
            else if (fact.tag() == perfetto::DebugAnnotation::uint_value)
              found.numbers.push_back(fact.get_uint64());
            else
              fact.skip();
          break;
        default:
          event.skip();
      }
  }

  const int writer_ = ::memfd_create("trace", MFD_CLOEXEC);
  const int reader_ = ::dup(writer_);
  std::size_t read_ = 0;
  File file_{writer_, "trace"};
  Stream stream_{file_, 7};
};

/// A text of 1024 bytes, the longest that a stream keeps.
std::string long_text(std::size_t number) {
  std::string text = std::to_string(number);
  text.resize(1024, 'x');
  return text;
}

TEST_F(Streams, EncodeTheLargestSlice) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 34; ++i) texts.push_back(long_text(i));
  std::vector<Fact> facts;
  for (std::size_t i = 2; i < 34; i += 2) facts.push_back({texts[i], texts[i + 1]});
  const std::vector<Flow> flows(256, 1);
  const SliceView slice{texts[0], texts[1], flows, facts};

  stream_.add(slice, {5, 6}, 0, ~std::uint64_t{0} - 1);
  const auto first = packets();
  ASSERT_EQ(first.size(), 2);
  auto found = first[0].texts;
  std::sort(found.begin(), found.end());
  std::sort(texts.begin(), texts.end());
  EXPECT_EQ(found, texts);
  EXPECT_EQ(first[0].facts, facts.size());
  EXPECT_EQ(first[0].flows, std::vector<std::uint64_t>(256, ~std::uint64_t{0}));
  EXPECT_EQ(first[0].type, perfetto::kSliceBegin);
  EXPECT_EQ(first[1].type, perfetto::kSliceEnd);

  // Now its texts have numbers.
  stream_.add(slice, {7, 8}, 0, 0);
  const auto second = packets();
  ASSERT_EQ(second.size(), 2);
  EXPECT_TRUE(second[0].texts.empty());
  EXPECT_EQ(second[0].facts, facts.size());
  EXPECT_LT(second[0].size, 4096);
}

TEST_F(Streams, EncodeNumbersOfAllSizes) {
  std::uint64_t largest = 0;
  for (unsigned bits = 1; bits <= 64; ++bits) {
    largest = largest << 1U | 1U;
    const std::uint64_t smallest = std::uint64_t{1} << (bits - 1);
    const std::vector<Fact> facts{{"largest", largest}, {"smallest", smallest}, {"mixed", largest / 3}};
    const auto time = static_cast<std::int64_t>(largest >> 1U);
    stream_.add({"category", "name", {}, facts}, {time, time}, smallest, 0);
    const auto found = packets();
    ASSERT_EQ(found.size(), 2);
    EXPECT_EQ(found[0].numbers, (std::vector<std::uint64_t>{largest, smallest, largest / 3})) << bits;
    EXPECT_EQ(found[0].time, largest >> 1U) << bits;
    EXPECT_EQ(found[1].time, largest >> 1U) << bits;
  }
}

TEST_F(Streams, AreFlushedWhileAThreadAdds) {
  constexpr std::size_t kSlices = 12'000;
  std::atomic<bool> ended = false;
  std::jthread adding([&] {
    for (std::size_t i = 0; i < kSlices; ++i) {
      const auto time = static_cast<std::int64_t>(i);
      stream_.add({"category", "name"}, {time, time}, 0, 0);
    }
    ended = true;
  });
  std::vector<FoundPacket> found;
  while (!ended)
    for (FoundPacket& packet : packets()) found.push_back(std::move(packet));
  adding.join();
  for (FoundPacket& packet : packets()) found.push_back(std::move(packet));
  ASSERT_EQ(found.size(), 2 * kSlices);
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i].time, i / 2);
}

TEST_F(Streams, WriteEachPacketThroughAtTheEnd) {
  stream_.add({"category", "before"}, {5, 6}, 0, 0);
  stream_.write_through();
  EXPECT_EQ(packets_in_file().size(), 2);
  stream_.add({"category", "after"}, {7, 8}, 0, 0);
  EXPECT_EQ(packets_in_file().size(), 2);
}

TEST_F(Streams, LeaveOutWhatASliceHasNoRoomFor) {
  const std::vector<Fact> facts(1000, Fact{"fact", std::uint64_t{1}});
  const std::vector<Flow> flows(1000, 1);
  stream_.add({"category", "name", flows, facts}, {5, 6}, 1, 0);
  const auto found = packets();
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].facts, 16);
  EXPECT_EQ(found[0].flows.size(), 256);
}

TEST_F(Streams, EncodeTextsWithoutNumbers) {
  for (std::size_t i = 0; i < 4096; ++i) stream_.add({"category", std::to_string(i)}, {5, 6}, 0, 0);
  packets();
  const std::string late = long_text(0);
  std::vector<Fact> facts;
  stream_.add({"category", late, {}, facts}, {5, 6}, 0, 0);
  const auto found = packets();
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].texts, std::vector<std::string>{late});
  EXPECT_EQ(found[1].type, perfetto::kSliceEnd);
}

TEST_F(Streams, TellTextsApartThatBeginAlike) {
  const std::string text = "abc";
  stream_.add({"category", text}, {5, 6}, 0, 0);
  stream_.add({"category", std::string_view(text).substr(0, 1)}, {5, 6}, 0, 0);
  const auto found = packets();
  ASSERT_EQ(found.size(), 4);
  EXPECT_EQ(found[0].texts, (std::vector<std::string>{"category", "abc"}));
  EXPECT_EQ(found[2].texts, std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace clique::icd::trace::test
