// Linked with libFuzzer, which has main(), and one target. With --seeds=FOLDER, the program writes its seeds
// to the folder, as a corpus to begin with, and exits. libFuzzer ignores options that begin with two dashes.
#include <fstream>

#include "tests/fuzz/fuzz.hpp"

// The names of both are libFuzzer's.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  constexpr std::string_view kOption = "--seeds=";
  for (const std::string_view argument : std::span(*arguments, static_cast<std::size_t>(*count))) {
    if (!argument.starts_with(kOption)) continue;
    const std::string folder(argument.substr(kOption.size()));
    std::size_t number = 0;
    for (const std::string& seed : clique::fuzz::targets().front().seeds()) {
      std::ofstream file(folder + "/seed-" + std::to_string(++number), std::ios::binary);
      file << seed;
      clique::fuzz::require(file.flush().good(), "the folder of --seeds can be written to");
    }
    std::exit(EXIT_SUCCESS);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  clique::fuzz::targets().front().test(data, size);
  return 0;
}
