#include "protocol/messages/programs.hpp"

#include "protocol/message_codec.hpp"

namespace clique::protocol {

CLIQUE_MESSAGE_CODEC(CreateProgram);
CLIQUE_MESSAGE_CODEC(ProgramFiles);
CLIQUE_MESSAGE_CODEC(BuildProgram);
CLIQUE_MESSAGE_CODEC(CompileProgram);
CLIQUE_MESSAGE_CODEC(LinkProgram);
CLIQUE_MESSAGE_CODEC(ProgramBuilt);
CLIQUE_MESSAGE_CODEC(AnalyseProgram);
CLIQUE_MESSAGE_CODEC(ProgramAnalysed);
CLIQUE_MESSAGE_CODEC(GetProgramBinary);
CLIQUE_MESSAGE_CODEC(ProgramBinary);
CLIQUE_MESSAGE_CODEC(CreateKernel);
CLIQUE_MESSAGE_CODEC(QueryWorkGroup);
CLIQUE_MESSAGE_CODEC(WorkGroupAnswer);

}  // namespace clique::protocol
