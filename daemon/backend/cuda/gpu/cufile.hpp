// NVIDIA's cuFile, libcufile.so.0, which reads files into the GPU's memory: past the host's memory where the
// kernel and the file system have GPUDirect Storage. It is opened at run time, where it is installed.
#pragma once

#include <cuda.h>

#include <memory>

#include "daemon/worker/backend.hpp"
#include "daemon/worker/transfers/cufile_use.hpp"

namespace clique::daemon::cuda {

/// Opens cuFile, unless that has been tried, and logs what has become of it. Takes up to a second.
/// prepare_cufile() has been called. Any thread whose current context is the GPU's.
/// @returns whether files can be read through it
bool open_cufile(CuFileUse use);

/// Registers a file. Only after open_cufile() has succeeded. Any thread.
/// @param context of the GPU that reads the file
/// Throws std::runtime_error with the reason if cuFile refuses the file.
std::unique_ptr<DirectFile> register_file(Fd file, CUcontext context);

}  // namespace clique::daemon::cuda
