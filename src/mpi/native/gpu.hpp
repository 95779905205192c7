// The memory of GPUs, which the CPU cannot read.
#pragma once

namespace isthmus::face {

/// Throws MpiError with MPI_ERR_BUFFER if `address` is of a GPU's own memory, as far as the
/// CUDA driver of the process knows. Costs a few ns in a process without one.
void check_reach_of_cpu(const void* address);
/// The same as an answer, as far as check_reach_of_cpu has found the driver so far. One load
/// without one.
bool in_reach_of_cpu(const void* address);

}  // namespace isthmus::face
