// Reads and writes of a file in every form.
#pragma once

#include "step.hpp"

namespace storm {

/// The form of a call that reads or writes.
struct AccessForm {
  enum Kind { kBlocking, kNonblocking, kSplit };
  Kind kind = kBlocking;
  bool collective = false, pointer = false;  ///< the individual pointer, else an explicit offset
};

/// One that all ranks have; where it is not collective, each process draws again.
AccessForm draw_access_form(Step& step);

/// `offset` is in etypes. Returns at once in non-blocking forms, else `done` has been called.
void access_file(Step& step, MPI_File file, AccessForm form, bool write, MPI_Offset offset,
                 void* memory, int count, MPI_Datatype type, UnderWay& operations,
                 const UnderWay::Done& done);

}  // namespace storm
