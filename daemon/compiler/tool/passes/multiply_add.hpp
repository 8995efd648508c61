// GPUs multiply integers and add to the product in one instruction. LLVM 19 often does not use it:
//
// - it prefers fewer multiplications, and turns a * b + b into (a + 1) * b;
// - it selects the instruction for numbers of 32 bits only, not for those of 16, nor for vectors.
#pragma once

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// For integers of 16 and 32 bits: turns the products (a + 1) * b and (p + a) * b, where p is a * b, into a *
/// b + b and p * b + p; splits sums of a product and another number by components; writes those of 16 bits as
/// PTX. Run after all optimisations, which would not understand the result.
void use_multiply_add(llvm::Module& module);

}  // namespace clique::daemon::compiler
