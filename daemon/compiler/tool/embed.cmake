# Writes a C++ source that defines a function returning the bytes of a file:
# cmake -DINPUT=FILE -DOUTPUT=SOURCE -DFUNCTION=NAME -DHEADER=HEADER -P embed.cmake, where HEADER declares the
# function.
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
set(four "(0x..,0x..,0x..,0x..,)")
string(REGEX REPLACE "(${four}${four}${four}${four})" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "// Made from ${INPUT}.
#include \"${HEADER}\"

namespace clique::daemon::compiler {

std::string_view ${FUNCTION}() {
  static const unsigned char bytes[] = {
${bytes}0};
  return {reinterpret_cast<const char*>(bytes), sizeof bytes - 1};
}

}  // namespace clique::daemon::compiler
")
