// The files that programs include, as messages bring them.
#include <CL/cl.h>

#include "harness.hpp"
#include "ids.hpp"

namespace clique::test {
namespace {

class IncludedFiles : public testing::Test {
 protected:
  static constexpr ObjectId kFiles = 90;

  IncludedFiles() { client_.set_up("#include \"a.h\"\nkernel void NAME() {}"); }
  static ProgramFile file(const std::string& path, const std::string& text) {
    return {path, protocol::digest_of(text), {text.begin(), text.end()}};
  }
  /// A file whose text the worker has.
  static ProgramFile known(const std::string& path, const std::string& text) {
    return {path, protocol::digest_of(text), {}};
  }
  static ProgramFiles files(std::vector<ProgramFile> list, ObjectId id = kFiles) {
    return {id, false, "/client", std::move(list)};
  }
  static BuildProgram build(ObjectId with = kFiles) { return {kRequest, kProgram, {0}, "", with}; }
  std::string kernel() {
    const auto built = client_.next<ProgramBuilt>();
    if (built.status != CL_SUCCESS || built.kernels.empty()) return built.devices.at(0).log;
    return built.kernels.at(0).name;
  }
  /// The reason with which a session ends that sends this.
  template <typename... M>
  std::string end_of(const M&... messages) {
    Client client(node_);
    client.set_up("kernel void k() {}");
    client.send(messages...);
    return client.template next<SessionEnded>().reason;
  }
  Node node_{{"--nvidia", "opencl"}};
  Client client_{node_};
};

TEST_F(IncludedFiles, GivenFilesThenTheBuildIncludesThem) {
  client_.send(files({file("/client/a.h", "#define NAME first\n")}), build());
  EXPECT_EQ(kernel(), "first");
  // The files belong to one build.
  client_.send(BuildProgram{kRequest, kProgram, {0}, "", 0});
  EXPECT_NE(client_.next<ProgramBuilt>().status, CL_SUCCESS);
}

TEST_F(IncludedFiles, GivenTextThatWasSentThenItsDigestIsEnough) {
  const std::string text = "#define NAME first\n";
  client_.send(files({file("/client/a.h", "#include \"b.h\"\n"), file("/client/b.h", text)}), build());
  EXPECT_EQ(kernel(), "first");
  client_.send(files({known("/client/a.h", text), file("/client/empty.h", "")}), build());
  EXPECT_EQ(kernel(), "first");
  client_.send(ProgramFiles{kFiles, true, "/client", {file("/client/a.h", "#define NAME second\n")}},
               build());
  EXPECT_EQ(kernel(), "second");
}

TEST_F(IncludedFiles, GivenWrongMessagesThenTheSessionEndsWithTheReason) {
  const std::string text = "// text\n";
  const auto has = [](const std::string& reason, const char* part) {
    EXPECT_NE(reason.find(part), std::string::npos) << reason;
  };
  has(end_of(files({known("/client/a.h", text)})), "nor known");
  has(end_of(files({file("/client/a.h", text)}),
             ProgramFiles{kFiles + 1, true, "/", {known("/client/a.h", text)}}),
      "nor known");
  for (const std::string& path :
       {std::string("a.h"), std::string("/a/../b.h"), std::string("/a//b.h"), std::string(""),
        std::string("/a\0b", 4), "/" + std::string(kMaxPath, 'x'), std::string("/a/")})
    has(end_of(files({file(path, text)})), "normal form");
  has(end_of(ProgramFiles{kFiles, false, "relative", {}}), "normal form");
  has(end_of(files({}), files({})), "must be new");
  has(end_of(files({}, 0)), "must be new");
  has(end_of(build()), "there are no ProgramFiles");
  has(end_of(files({}), build(), BuildProgram{kRequest, kProgram, {0}, "", kFiles}),
      "there are no ProgramFiles");
  has(end_of(CompileProgram{kRequest, kProgram, {0}, "", {}, {}, kFiles}), "there are no ProgramFiles");
  has(end_of(files(std::vector<ProgramFile>(kMaxProgramFiles + 1, file("/a", "")))), "files; the limit is");
}

TEST_F(IncludedFiles, GivenMoreBytesThanAreAllowedThenTheSessionEnds) {
  const std::string half(kMaxProgramFileBytes / 2 + 1, ' ');
  const std::string other(kMaxProgramFileBytes / 2 + 1, '\n');
  const std::string reason = end_of(files({file("/a", half), file("/b", other)}));
  EXPECT_NE(reason.find("32 MiB"), std::string::npos) << reason;
}

TEST_F(IncludedFiles, GivenSetsThatNobodyUsesThenTheirNumberIsLimited) {
  Client client(node_);
  client.set_up("kernel void k() {}");
  for (ObjectId id = 1000; id < 1000 + 1025; ++id) client.send(files({}, id));
  EXPECT_NE(client.next<SessionEnded>().reason.find("limit"), std::string::npos);
}

}  // namespace
}  // namespace clique::test
