// Files whose starter has not answered yet.
#include "daemon/worker/transfers/files.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/fuzz/fake_backend.hpp"
#include "tests/unit/daemon/worker/reports/reporter_fixture.hpp"

namespace clique::daemon {
namespace {

class FilesTest : public WithReporter {
 protected:
  ReportOrder order_{reporter_};
  PeerLinks peers_{context_, {}, std::chrono::milliseconds(0)};
  MemoryBudget memory_{0};
  Pacer pacer_{tasks_};
  fuzz::FakeBackend backend_;
  const Surroundings surroundings_{reporter_, order_, peers_, tasks_, memory_, waiting_, pacer_};
};

TEST_F(FilesTest, ASessionThatEndsReleasesWhatWaitsForAFile) {
  auto data = std::make_shared<const std::vector<std::byte>>(16);
  const std::weak_ptr<const void> kept = data;
  {
    Files files(surroundings_, backend_, [](const FileRequest& /*request*/) {});
    files.open({5, 2, "/file", protocol::file_access::kWrite});
    const auto sink = files.write({{7, 3, 0, {}}, 5, 0, data->size()});
    sink->write(0, {*data, data});
    data.reset();
    EXPECT_FALSE(kept.expired()) << "the content has to wait for the file";
  }
  EXPECT_TRUE(kept.expired());
}

}  // namespace
}  // namespace clique::daemon
