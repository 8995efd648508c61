#include "protocol/security/public_key.hpp"

#include <gtest/gtest.h>

namespace clique::protocol {
namespace {

PublicKey key_from(std::uint8_t first, std::uint8_t step) {
  PublicKey::Bytes bytes{};
  for (std::uint8_t& byte : bytes) {
    byte = first;
    first = static_cast<std::uint8_t>(first + step);
  }
  return PublicKey(bytes);
}

TEST(PublicKey, TextAndFingerprintAreThoseOfOtherTools) {
  // printf '\0\1…\37' | base64, and | sha256sum | xxd -r -p | base64
  const PublicKey key = key_from(0, 1);
  EXPECT_EQ(key.text(), "ed25519:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
  EXPECT_EQ(key.fingerprint(), "SHA256:Yw3NKWbEM2aRElRIu7JbT/QSpJxzLbLIq8G4WBvXEN0");
}

TEST(PublicKey, ReadsWhatItWrites) {
  for (const PublicKey& key : {key_from(0, 0), key_from(255, 0), key_from(7, 13)})
    EXPECT_EQ(PublicKey::parse(key.text()), key);
}

TEST(PublicKey, HasOneSpelling) {
  const std::string text = key_from(7, 13).text();
  ASSERT_EQ(text.size(), 52U);
  std::string other_bits = text;
  ++other_bits[text.size() - 2];  // the last character before '=' has two bits that mean nothing
  std::string space = text;
  space[20] = ' ';
  std::string zero = text;
  zero[20] = '\0';
  EXPECT_THROW(PublicKey::parse(zero), SecurityError);
  for (const std::string& wrong :
       {std::string(), std::string("ed25519:"), text.substr(8), text.substr(0, text.size() - 1),
        text.substr(0, text.size() - 1) + "A", text + "=", text + "\n", " " + text,
        "ED25519:" + text.substr(8), "ed25519 " + text.substr(8), other_bits, space,
        std::string(1U << 20U, 'A')}) {
    try {
      PublicKey::parse(wrong);
      ADD_FAILURE() << "accepts '" << wrong.substr(0, 100) << "'";
    } catch (const SecurityError& error) {
      EXPECT_NE(std::string(error.what()).find("is not a public key"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace clique::protocol
