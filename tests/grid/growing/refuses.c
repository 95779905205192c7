/* Spawns that cannot succeed say why, and the parents go on. refuses PLACE[@SECONDS] TEXT...: the
   place of each, the time that it may wait, and what its error contains. */
#include <string.h>

#include "../../programs/checking.h"

static int spawn(const char* self, const char* place, MPI_Comm* children) {
  char *words[] = {"child", NULL}, name[64];
  const char* const limit = strchr(place, '@');
  MPI_Info info;
  MPI_Info_create(&info);
  snprintf(name, sizeof name, "%.*s", (int)strcspn(place, "@"), place);
  MPI_Info_set(info, "cluster", name);
  if (limit != NULL) MPI_Info_set(info, "timeout", limit + 1);
  const int code =
      MPI_Comm_spawn(self, words, 1, info, 0, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE);
  MPI_Info_free(&info);
  return code;
}

int main(int argc, char** argv) {
  MPI_Comm children;
  MPI_Init(&argc, &argv);
  if (argc > 1 && !strcmp(argv[1], "child")) {
    MPI_Comm_get_parent(&children);
    MPI_Comm_disconnect(&children);
    MPI_Finalize();
    return 0;
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (char** place = argv + 1; *place != NULL; place += 2) {
    char said[4 * MPI_MAX_ERROR_STRING] = "";
    int length = 0, class = 0, sum = 0, one = 1, size = 0;
    const int code = spawn(argv[0], place[0], &children);
    if (code != MPI_SUCCESS) {
      MPI_Error_class(code, &class);
      MPI_Error_string(code, said, &length);
      CHECK(class == MPI_ERR_SPAWN, "%s: class %d", place[0], class);
    }
    CHECK(strstr(said, place[1]) != NULL, "%s: '%s'", place[0], said);
    if (code == MPI_SUCCESS) MPI_Comm_disconnect(&children);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size, "the sum is %d", sum);
  }
  MPI_Finalize();
  return 0;
}
