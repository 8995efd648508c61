// What can be said about MUNGE without munged. tests/security/munge.py has the rest.
#include "protocol/security/munge.hpp"

#include <gtest/gtest.h>

namespace clique::protocol {
namespace {

TEST(Munge, SettingsNameItsSocket) {
  EXPECT_EQ(munge_socket("munge"), "");
  EXPECT_EQ(munge_socket("munge:/run/munge/other"), "/run/munge/other");
  EXPECT_EQ(munge_socket("munge:a:b"), "a:b");
  for (const char* other : {"", "keys", "mung", "munge:", "munge2", "Munge", " munge"})
    EXPECT_EQ(munge_socket(other), std::nullopt) << other;
}

TEST(Munge, WithoutMungedThereIsNoCredential) {
  try {
    const Munge munge("/nonexistent/socket");
    EXPECT_THROW(munge.encode({}), SecurityError);
    EXPECT_THROW(munge.decode("MUNGE:AwQD:", {}), SecurityError);
  } catch (const SecurityError& error) {
    // The library is missing.
    EXPECT_NE(std::string(error.what()).find("libmunge2"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace clique::protocol
