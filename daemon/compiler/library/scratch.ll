; Local memory for the work-group collective functions: 64 bits for each sub-group. This is written in LLVM's
; language
; because OpenCL C allows local variables in kernels only.

target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@__clique_scratch_memory = internal addrspace(3) global [32 x i64] undef, align 8

define ptr addrspace(3) @__clique_scratch() alwaysinline nounwind memory(none) {
  ret ptr addrspace(3) @__clique_scratch_memory
}
