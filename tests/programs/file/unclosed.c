/* A file that nobody closes has all that was written to it when MPI_Finalize returns, and nothing
   is left beside it. ranks: 2 3 */
#include <dirent.h>
#include <sys/stat.h>

#include "file.h"

enum { kPiece = 1 << 16, kPieces = 1024 };

static int beside(const char* name) {
  char folder[256], prefix[300];
  snprintf(folder, sizeof folder, "%s", name);
  *strrchr(folder, '/') = 0;
  snprintf(prefix, sizeof prefix, ".%s.", strrchr(name, '/') + 1);
  int found = 0;
  DIR* const all = opendir(folder);
  for (struct dirent* each; all && (each = readdir(all));)
    found += strncmp(each->d_name, prefix, strlen(prefix)) == 0;
  if (all) closedir(all);
  return found;
}

/* After MPI_Finalize. */
static int check(const char* name) {
  struct stat status = {0};
  const long long expected = (long long)size * kPieces * kPiece;
  if (stat(name, &status) != 0 || status.st_size != expected)
    return fprintf(stderr, "%s has %lld bytes of %lld\n", name, (long long)status.st_size,
                   expected);
  if (beside(name) > 0) return fprintf(stderr, "something is left beside %s\n", name);
  remove(name);
  return 0;
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int spans = spans_clusters(MPI_COMM_WORLD);
  const char* const name = fresh_name("unclosed");
  if (spans) {
    MPI_Info info = hints(0);
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
    MPI_Info_free(&info);
    OK(MPI_File_write_shared(file, "x", 1, MPI_BYTE, MPI_STATUS_IGNORE));
    static char data[kPiece];
    for (int k = 0; k < kPieces; ++k) {
      const MPI_Offset place = ((MPI_Offset)rank * kPieces + k) * kPiece;
      OK(MPI_File_write_at(file, place, data, kPiece, MPI_BYTE, MPI_STATUS_IGNORE));
    }
  }
  MPI_Finalize();
  if (rank == 0 && spans && check(name) != 0) return 1;
  if (rank == 0) printf("unclosed: ok\n");
  return 0;
}
