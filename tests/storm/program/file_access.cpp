#include "file_access.hpp"

namespace storm {

AccessForm draw_access_form(Step& step) {
  AccessForm form;
  form.collective = step.random.chance(60);
  Random& random = form.collective ? step.random : step.own;
  form.pointer = random.chance(50);
  const int way = random.below(form.collective ? 3 : 2);
  form.kind = way == 0   ? AccessForm::kBlocking
              : way == 1 ? AccessForm::kNonblocking
                         : AccessForm::kSplit;
  return form;
}

void access_file(Step& step, MPI_File file, AccessForm form, bool write, MPI_Offset offset,
                 void* memory, int count, MPI_Datatype type, UnderWay& operations,
                 const UnderWay::Done& done) {
  if (form.pointer) MPI_File_seek(file, offset, MPI_SEEK_SET);
  MPI_Status status;
  if (form.kind == AccessForm::kNonblocking) {
    MPI_Request* request = operations.add(done);
    if (form.pointer && write) {
      (form.collective ? MPI_File_iwrite_all : MPI_File_iwrite)(file, memory, count, type, request);
    } else if (form.pointer) {
      (form.collective ? MPI_File_iread_all : MPI_File_iread)(file, memory, count, type, request);
    } else if (write) {
      (form.collective ? MPI_File_iwrite_at_all : MPI_File_iwrite_at)(file, offset, memory, count,
                                                                      type, request);
    } else {
      (form.collective ? MPI_File_iread_at_all : MPI_File_iread_at)(file, offset, memory, count,
                                                                    type, request);
    }
    return;
  }
  if (form.kind == AccessForm::kSplit && write) {
    if (form.pointer) {
      MPI_File_write_all_begin(file, memory, count, type);
    } else {
      MPI_File_write_at_all_begin(file, offset, memory, count, type);
    }
    step.dawdle();
    (form.pointer ? MPI_File_write_all_end : MPI_File_write_at_all_end)(file, memory, &status);
  } else if (form.kind == AccessForm::kSplit) {
    if (form.pointer) {
      MPI_File_read_all_begin(file, memory, count, type);
    } else {
      MPI_File_read_at_all_begin(file, offset, memory, count, type);
    }
    step.dawdle();
    (form.pointer ? MPI_File_read_all_end : MPI_File_read_at_all_end)(file, memory, &status);
  } else if (write) {
    if (form.pointer) {
      (form.collective ? MPI_File_write_all : MPI_File_write)(file, memory, count, type, &status);
    } else {
      (form.collective ? MPI_File_write_at_all : MPI_File_write_at)(file, offset, memory, count,
                                                                    type, &status);
    }
  } else if (form.pointer) {
    (form.collective ? MPI_File_read_all : MPI_File_read)(file, memory, count, type, &status);
  } else {
    (form.collective ? MPI_File_read_at_all : MPI_File_read_at)(file, offset, memory, count, type,
                                                                &status);
  }
  done(status);
}

}  // namespace storm
