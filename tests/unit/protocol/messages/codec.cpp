// The bytes of messages, which must not change between releases, and the errors of invalid ones.
#include <gtest/gtest.h>

#include <cstring>

#include "protocol/batch.hpp"
#include "protocol/codec.hpp"
#include "protocol/decode_error.hpp"
#include "protocol/messages.hpp"
#include "protocol/version.hpp"

namespace clique::protocol {
namespace {

std::string hex(std::span<const std::byte> bytes) {
  std::string result;
  for (const std::byte byte : bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    result += kDigits[static_cast<unsigned>(byte) >> 4U];
    result += kDigits[static_cast<unsigned>(byte) & 15U];
  }
  return result;
}

template <typename... M>
std::string encoded(const M&... messages) {
  Batch batch;
  (batch.add(messages), ...);
  return hex(batch.records());
}

std::vector<std::byte> bytes_of(const Batch& batch) {
  return {batch.records().begin(), batch.records().end()};
}

/// Decodes a batch that holds one message of type M.
template <typename M>
M decoded(std::span<const std::byte> records, std::span<const Payload> frames = {}) {
  BatchReader reader;
  M result;
  int count = 0;
  reader.read(MessageList<M>{}, records, frames, nullptr, [&](M&& message) {
    result = std::move(message);
    ++count;
  });
  EXPECT_EQ(count, 1);
  return result;
}

template <typename M>
M round_trip(const M& message) {
  Batch batch;
  batch.add(message);
  return decoded<M>(bytes_of(batch), batch.payloads());
}

TEST(Codec, GivenIntegersThenTheyTakeTheSmallestForm) {
  EXPECT_EQ(encoded(Finish{1, 0x1234}), "936401cd1234");
  EXPECT_EQ(encoded(SetRemote{1ULL << 40U, -5}), "9366cf0000010000000000fb");
}

TEST(Codec, GivenTextThenItIsAStr) {
  EXPECT_EQ(encoded(Refused{"abc"}), "9203a3616263");
}

TEST(Codec, GivenBytesThenTheyAreABin) {
  EXPECT_EQ(encoded(Print{{1, 2, 255}, {7}}), "93cc80c4030102ff9107");
}

TEST(Codec, GivenBooleanAndEnumThenTheyAreTheirOwn) {
  EXPECT_EQ(encoded(CreateSampler{1, 2, true, 3, 4}), "961a0102c30304");
  EXPECT_EQ(encoded(CreateProgram{1, 2, 3, ProgramKind::Binary, {4}, {{5}}}), "971b01020301910491c40105");
}

TEST(Codec, GivenNestedStructuresThenTheyAreArrays) {
  EXPECT_EQ(encoded(Marker{{7, 8, Command::kReport, {9, 10}}}),
            "924a940708029209"
            "0a");
  EXPECT_EQ(encoded(EventState{1, 0, {1, 2, 3, 4}}),
            "94"
            "7d"
            "01"
            "00"
            "9401020304");
}

TEST(Codec, GivenAddressesThenTheyAreNumbersAndBytes) {
  EXPECT_EQ(encoded(CreateBuffer{1, 2, 3, 4, 0x110000001000}), "981701020304cf000011000000100000c2");
  const KernelArg pointer{0, KernelArg::Pointer, 9, {8, 0, 0, 0, 0, 0, 0, 0}};
  EXPECT_EQ(encoded(RunKernel{{1, 2, 0, {}}, 5, {pointer}, {}, {6}, {}, {7}}),
            "9b3c"
            "9401020090"
            "05"
            "91940004"
            "09c4080800000000000000"
            "90910690"
            "9107"
            "93000000"
            "90"
            "90");
  EXPECT_EQ(encoded(TrimBuffer{1, {{2, 3}}}), "93280191920203");
}

TEST(Codec, GivenSmallPayloadThenItIsInline) {
  const std::array<std::byte, 2> bytes{std::byte{0xaa}, std::byte{0xbb}};
  Batch batch;
  batch.add(Data{1, 0, {bytes, nullptr}});
  EXPECT_EQ(hex(batch.records()), "947c0100c402aabb");
  EXPECT_TRUE(batch.payloads().empty());
}

TEST(Codec, GivenLargePayloadThenItIsAFrameOfItsOwn) {
  const std::vector<std::byte> bytes(kInlinePayload + 1, std::byte{5});
  Batch batch;
  batch.add(Data{1, 0, {bytes, nullptr}});
  EXPECT_EQ(hex(batch.records()), "947c0100c0");
  ASSERT_EQ(batch.payloads().size(), 1U);
  EXPECT_EQ(batch.payloads()[0].bytes.data(), bytes.data()) << "payloads are not copied";
  const auto data = decoded<Data>(bytes_of(batch), batch.payloads());
  EXPECT_EQ(data.data.bytes.size(), bytes.size());
}

TEST(Codec, GivenStateOfANodeThenItIsTheseBytes) {
  const DeviceStatus device{"g", 4, "cuda", "d", "v", 5, kUnknown, 6, "p"};
  const SessionStatus session{7, "c", "", "a", "p", 8, {"g"}, {1, 2, 3, 4, 5, 6, 7, 8, 9}, true, 3, 21};
  const NodeHealth health{true, {{"w", "y", "z"}}, {"f", 2, 1}, {"", kUnknown, kUnknown}, "", "x", "1"};
  const Status status{16,    "n",      "r",       9,   false, "", 1, 0, Encryption::All,
                      false, {device}, {session}, "h", health};
  EXPECT_EQ(encoded(status),
            "9f0b10a16ea17209c2a0010002c2"
            "9199a16704a463756461a164a17605cfffffffffffffffff06a170"
            "919b07a163a0a161a1700891a16799010203040506070809c30315"
            "a168"
            "97c39193a177a179a17a93a166020193a0cfffffffffffffffffcfffffffffffffffffa0a178a131");
  const auto read = round_trip(status);
  EXPECT_EQ(read.devices[0].memory_free, kUnknown);
  EXPECT_EQ(read.listed[0].usage.fields(), session.usage.fields());
}

TEST(Codec, GivenWhatANodeIsToDoThenItIsTheseBytes) {
  EXPECT_EQ(encoded(Hello{16, Wish::Steer, "c", ""}, Steer{Steer::Act::Drain, 0, "why"}),
            "96011003a163a01a"
            "940c0100a3776879");
  EXPECT_EQ(encoded(Steered{16, "n"}), "930d10a16e");
}

TEST(Codec, GivenNodesToReachThenTheyAreTheseBytes) {
  EXPECT_EQ(encoded(Hello{23, Wish::Reach, "c", ""}, Reach{{"tcp://a:1"}, 100}),
            "96011705a163a01a"
            "931091a97463703a2f2f613a3164");
  EXPECT_EQ(encoded(Reached{23, {{ReachedNode::Outcome::Silent, "w", {1, 2}, 5}}}),
            "931117919402a177c402010205");
  EXPECT_EQ(encoded(PeerSilent{3, "w"}), "93cc8703a177");
  EXPECT_EQ(encoded(PeerLost{3, "w", true}), "94cc8403a177c3");
}

TEST(Codec, GivenAChoiceOfDevicesThenItIsTheseBytes) {
  EXPECT_EQ(encoded(Hello{17, Wish::Reserve, "c", ""}, Choice{{{1, 2, 3}}, true, 4}),
            "96011104a163a01a"
            "950e9193010203c304c400");
  EXPECT_EQ(encoded(Loads{17, {{1, 2, 3, 4, false, true}}}),
            "930f119196010203"
            "04c2c3");
  EXPECT_EQ(encoded(Welcome{17, "n", "", {}, {{1, "r"}}}), "960211a16ea090919201a172");
}

TEST(Codec, GivenPushAndWhereItEndsThenTheyAreTheseBytes) {
  EXPECT_EQ(encoded(Push{{101, 3, 0, {9}}, 5, 16, 64, 1, 200, 4, 6}), "994c94650300910905104001ccc80406");
  EXPECT_EQ(encoded(PeerData{200, 64, 0, {}}), "95cc8dccc84000c400");
}

TEST(Codec, GivenTransfersOfSegmentsThenTheyAreTheseBytes) {
  EXPECT_EQ(encoded(ReadToSegment{{101, 3, Command::kReport, {}}, 5, 16, 64, 9, 128}),
            "974f"
            "9465030290"
            "05"
            "10"
            "40"
            "09"
            "cc80");
  EXPECT_EQ(encoded(WriteFromSegment{{101, 3, 0, {}}, 5, 16, 64, 9, 128}),
            "9750"
            "9465030090"
            "05"
            "10"
            "40"
            "09"
            "cc80");
}

TEST(Codec, GivenSegmentsOfVirtualMachinesThenTheyAreTheseBytes) {
  EXPECT_EQ(encoded(PlaceSegment{9, 4096, 64}), "94cc9309cd100040");
  EXPECT_EQ(encoded(SegmentFreed{9}), "92cc8809");
}

TEST(Codec, GivenWindowAndPartInItThenTheyAreTheseBytes) {
  EXPECT_EQ(encoded(OpenWindow{7, {1, 2}, {}}), "94cc9107c4020102c400");
  EXPECT_EQ(encoded(WindowData{200, 64, 7, 256, 512, {}}), "97cc92ccc84007cd0100cd0200c400");
}

TEST(Codec, GivenRecordingAndItsRunThenTheyAreTheseBytes) {
  EXPECT_EQ(encoded(FillBuffer{{}, 5, {1}, 0, 16}),
            "9643"
            "9400000090"
            "05"
            "c40101"
            "00"
            "10");
  EXPECT_EQ(encoded(DefineRecording{7, {1, 2}}), "932307c4020102");
  EXPECT_EQ(encoded(UpdateRecording{7, {3, 5}, {1, 2}}), "942707920305c4020102");
  EXPECT_EQ(encoded(RunRecording{{101, 3, Command::kReport, {9}}, 7}),
            "934e946503029109"
            "07");
}

TEST(Codec, GivenMessageWithEverythingThenItComesBack) {
  RunKernel message{{1, 2, 3, {4, ~0ULL}},
                    5,
                    {{0, KernelArg::Value, 0, {1, 2, 3}}, {1, KernelArg::Object, 77, {}}},
                    {1, 2},
                    {3, 4},
                    {},
                    {8, 9}};
  message.expected = {{1, {{0, 4}}, {{8, 16}, {32, 1}}}};
  const auto back = round_trip(message);
  EXPECT_EQ(back.command.waits, message.command.waits);
  ASSERT_EQ(back.args.size(), 2U);
  EXPECT_EQ(back.args[0].value, message.args[0].value);
  EXPECT_EQ(back.args[1].number, 77U);
  EXPECT_EQ(back.global, message.global);
  EXPECT_TRUE(back.local.empty());
  EXPECT_EQ(back.reached, message.reached);
  ASSERT_EQ(back.expected.size(), 1U);
  EXPECT_EQ(back.expected[0].argument, 1U);
  ASSERT_EQ(back.expected[0].writes.size(), 2U);
  EXPECT_EQ(back.expected[0].reads.at(0).size, 4U);
  EXPECT_EQ(back.expected[0].writes[1].offset, 32U);
}

TEST(Codec, GivenSeveralMessagesThenTheyComeInOrder) {
  Batch batch;
  batch.add(Finish{1, 2});
  batch.add(SyncClock{3});
  batch.add(Finish{4, 5});
  std::vector<RequestId> requests;
  BatchReader reader;
  const auto records = bytes_of(batch);
  reader.read(ClientMessages{}, records, {}, nullptr, [&](auto&& message) {
    if constexpr (requires { message.request; }) requests.push_back(message.request);
  });
  EXPECT_EQ(requests, (std::vector<RequestId>{1, 3, 4}));
}

void expect_refused(const std::string& hex_records, const char* reason, std::size_t frames = 0) {
  std::vector<std::byte> records;
  for (std::size_t i = 0; i < hex_records.size(); i += 2)
    records.push_back(static_cast<std::byte>(std::stoi(hex_records.substr(i, 2), nullptr, 16)));
  const std::vector<Payload> payloads(frames);
  BatchReader reader;
  try {
    reader.read(ClientMessages{}, records, payloads, nullptr, [](auto&&) {});
    FAIL() << hex_records << " was taken";
  } catch (const DecodeError& error) {
    EXPECT_NE(std::string(error.what()).find(reason), std::string::npos)
        << hex_records << ": " << error.what();
  }
}

/// Versions of one structure.
struct Older {
  std::uint32_t a = 0;
  std::string b = {};
  CLIQUE_FIELDS(Older, a, b)
};
struct Present {
  std::uint32_t a = 0;
  std::string b = {};
  std::uint32_t c = 7;
  std::vector<std::uint32_t> d = {8};
  CLIQUE_FIELDS(Present, a, b, c, d)
};
struct One {
  std::uint32_t a = 0;
  CLIQUE_FIELDS(One, a)
};
struct Whole {
  std::uint32_t first = 0;
  std::vector<Present> list = {};
  CLIQUE_FIELDS(Whole, first, list)
};
struct OlderWhole {
  std::uint32_t first = 0;
  std::vector<Older> list = {};
  CLIQUE_FIELDS(OlderWhole, first, list)
};

}  // namespace

template <>
inline constexpr std::size_t kAppendedFields<Present> = 2;

namespace {

/// Encodes a value as one version, and decodes it as another.
template <typename To, typename From>
To reread(const From& value) {
  const Buffer bytes = encode(value);
  const auto parsed =
      parse(std::as_bytes(std::span(bytes.data(), bytes.size())), msgpack::unpack_limit(9, 9, 9, 9, 9, 9));
  return decode<To>(parsed.get());
}

TEST(Codec, GivenAnOlderSenderThenAppendedFieldsHaveTheirDefaults) {
  const auto read = reread<Whole>(OlderWhole{1, {{2, "x"}, {3, "y"}}});
  EXPECT_EQ(read.first, 1U);
  ASSERT_EQ(read.list.size(), 2U);
  EXPECT_EQ(read.list[0].fields(), (Present{2, "x", 7, {8}}.fields()));
  EXPECT_EQ(read.list[1].fields(), (Present{3, "y", 7, {8}}.fields()));
}

TEST(Codec, GivenANewerSenderThenFieldsThatItHasAppendedAreIgnored) {
  const auto read = reread<OlderWhole>(Whole{1, {{2, "x", 3, {4, 5}}, {6, "y", 7, {}}}});
  ASSERT_EQ(read.list.size(), 2U);
  EXPECT_EQ(read.list[0].fields(), (Older{2, "x"}.fields()));
  EXPECT_EQ(read.list[1].fields(), (Older{6, "y"}.fields()));
}

TEST(Codec, GivenFewerFieldsThanTheOldestVersionHasThenTheyAreRefused) {
  EXPECT_THROW(reread<Present>(One{1}), DecodeError);
  EXPECT_THROW(reread<Older>(One{1}), DecodeError);
}

TEST(Codec, GivenAMessageOfANewerSenderThenFieldsThatItHasAppendedAreIgnored) {
  // Finish{1, 2}, to which a later version has appended a number and a list of texts.
  const char bytes[] = "\x95\x64\x01\x02\x2a\x92\xa1x\xa1y";
  const auto read = decoded<Finish>(std::as_bytes(std::span(bytes, sizeof bytes - 1)));
  EXPECT_EQ(read.request, 1U);
  EXPECT_EQ(read.queue, 2U);
}

TEST(Codec, GivenVersionsThenThoseThatOverlapSpeak) {
  EXPECT_TRUE(speaks(kVersion, kOldestVersion));
  EXPECT_TRUE(speaks(kVersion + 1, kVersion));
  EXPECT_TRUE(speaks(kOldestVersion, 0));
  EXPECT_FALSE(speaks(kVersion + 1, kVersion + 1));
  EXPECT_FALSE(speaks(kOldestVersion - 1, 0));
}

TEST(Codec, GivenWrongMessagesThenTheyAreRefusedWithTheReason) {
  expect_refused("c1", "msgpack");                        // a byte that msgpack never uses
  expect_refused("9364", "msgpack");                      // cut off
  expect_refused("64", "array");                          // no record
  expect_refused("90", "number");                         // empty
  expect_refused("91cd03e7", "999");                      // unknown
  expect_refused("92cc8000", "128");                      // a message that only workers send
  expect_refused("926401", "fields");                     // too few
  expect_refused("9364a16101", "integer");                // text for an integer
  expect_refused("9364ff01", "integer");                  // negative for an unsigned
  expect_refused("9364cb3ff000000000000001", "integer");  // a float
  expect_refused("9366019381", "msgpack");                // cut off in a nested array
  expect_refused(
      "96"
      "1a"
      "0102"
      "01"
      "0304",
      "boolean");
  expect_refused(
      "936401"
      "02",
      "frames", 1);  // a surplus frame
  expect_refused(
      "92d9"
      "04"
      "746578740"
      "1",
      "integer");                                       // a number that is text
  expect_refused("9999999999999999999901", "msgpack");  // nested too deep
  expect_refused("dd7fffffff", "msgpack");              // an array of 2^31 - 1 elements
  expect_refused("9268c6ffffffff", "msgpack");          // a block of 2^32 - 1 bytes
  expect_refused("81a16101", "map");                    // a map
}

TEST(Codec, GivenMoreElementsThanARecordMayHaveThenTheyAreRefused) {
  // Arrays of as many nils as one may have, so often that they are too many together.
  constexpr std::size_t kArrays = Limits::kElements / (Limits::kArray - 1) + 1;
  std::string records{"\x92\x64\xdc\x00", 4};
  records += static_cast<char>(kArrays);
  for (std::size_t i = 0; i < kArrays; ++i)
    records += std::string("\xdc\xff\xff", 3) + std::string(Limits::kArray - 1, '\xc0');
  BatchReader reader;
  try {
    reader.read(ClientMessages{}, std::as_bytes(std::span(records)), {}, nullptr, [](auto&&) {});
    FAIL();
  } catch (const DecodeError& error) {
    EXPECT_NE(std::string(error.what()).find("elements"), std::string::npos) << error.what();
  }
}

TEST(Codec, GivenMoreFramesThanABatchMayHaveThenItIsRefused) {
  Batch batch;
  batch.add(Finish{1, 2});
  BatchReader reader;
  const std::vector<Payload> frames(Limits::kFrames + 1);
  try {
    reader.read(ClientMessages{}, batch.records(), frames, nullptr, [](auto&&) {});
    FAIL();
  } catch (const DecodeError& error) {
    EXPECT_NE(std::string(error.what()).find("65536 frames"), std::string::npos) << error.what();
  }
}

TEST(Codec, GivenIntegerOutOfTheFieldsRangeThenItIsRefused) {
  // Command::flags is one byte.
  expect_refused(
      "924a9407"
      "08"
      "cd0100"
      "90",
      "integer");
}

TEST(Codec, GivenEveryPrefixOfABatchThenItIsRefusedOrShorter) {
  Batch batch;
  const std::vector<std::byte> data(100);
  batch.add(CreateImage{1, 2, 3, 4, 5, 6, {7, 8, 9}, 10, 11, 12});
  batch.add(RunKernel{{1, 2, 3, {4}}, 5, {{0, 0, 0, {1}}}, {1}, {2}, {3}});
  batch.add(WriteBuffer{{1, 2, 0, {}}, 3, 4, {data, nullptr}});
  const auto whole = bytes_of(batch);
  BatchReader reader;
  int complete = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    // A copy of exactly that size, so that a sanitizer detects reads beyond it.
    const std::vector<std::byte> prefix(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    int messages = 0;
    try {
      reader.read(ClientMessages{}, prefix, {}, nullptr, [&](auto&&) { ++messages; });
      ++complete;
    } catch (const DecodeError&) {
    }
    EXPECT_LT(messages, 3);
  }
  EXPECT_EQ(complete, 3) << "only where a message ends";
}

}  // namespace
}  // namespace clique::protocol
