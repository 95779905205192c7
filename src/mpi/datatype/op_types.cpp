#include "mpi/datatype/op_types.hpp"

#include <map>

#include "coll/engine/party.hpp"
#include "core/base/mutex.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/require.hpp"

namespace isthmus::face {
namespace {

constexpr std::size_t kMostAnswers = 1024;

core::Mutex answers_mutex;  // guards `answers`, and keeps collectives on grid()->self apart
std::map<std::pair<std::uintptr_t, std::uintptr_t>, bool> answers GUARDED_BY(answers_mutex);

/// Asks the native library, by a reduction of zero elements with oneself: libraries allow more than
/// the standard's table, and they differ.
bool ask(MPI_Op op, MPI_Datatype type) {
  char in = 0, out = 0;
  const int code = native.Allreduce(&in, &out, 0, type, op, grid()->self);
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) native.Error_class(code, &error_class);
  return error_class != MPI_ERR_OP;
}

bool goes_with(MPI_Op op, MPI_Datatype type) {
  const std::pair pair(key(op), key(type));
  const core::Lock lock(answers_mutex);
  if (const auto known = answers.find(pair); known != answers.end()) return known->second;
  const bool allowed = ask(op, type);
  // The library reuses the handles of derived datatypes. It reuses those of operations as well, but
  // all of those are the program's own, which go with every datatype.
  if (is_predefined(type)) {
    if (answers.size() >= kMostAnswers) answers.clear();
    answers.emplace(pair, allowed);
  }
  return allowed;
}

}  // namespace

void check_op(MPI_Op op, MPI_Datatype type) {
  require(op != MPI_OP_NULL, MPI_ERR_OP, "the operation is MPI_OP_NULL");
  require(goes_with(op, type), MPI_ERR_OP,
          "the operation is not defined for elements of this datatype");
}

}  // namespace isthmus::face
