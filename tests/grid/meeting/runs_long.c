/* Two runs that talk for as long as it is wanted: `runs_long accept FILE UP BELL` makes the file UP
   once they talk and goes on until BELL is there, `runs_long connect FILE`. */
#include <string.h>
#include <unistd.h>

#include "../../programs/comm/check.h"
#include "port_file.h"

enum { kWords = 20000, kAfter = 20 };

static void fill(int* words, int round) {
  for (int i = 0; i < kWords; ++i) words[i] = round * 7 + i;
}

static void look(const int* words, int round) {
  for (int i = 0; i < kWords; ++i)
    CHECK(words[i] == round * 7 + i, "round %d: word %d is %d", round, i, words[i]);
}

/* Rounds are counted from 1; a last one says 0. */
static void lead(MPI_Comm inter, const char* up, const char* bell) {
  int words[kWords], left = kAfter;
  for (int round = 1; left > 0; ++round) {
    if (access(bell, F_OK) == 0) --left;
    const int goes_on = left > 0 ? round : 0;
    fill(words, round);
    MPI_Send(&goes_on, 1, MPI_INT, 0, 1, inter);
    MPI_Send(words, kWords, MPI_INT, 0, 2, inter);
    MPI_Recv(words, kWords, MPI_INT, 0, 2, inter, MPI_STATUS_IGNORE);
    look(words, round + 1);
    if (round == 1) fclose(fopen(up, "w"));
  }
}

static void follow(MPI_Comm inter) {
  int words[kWords], said = 1;
  for (int round = 1; said != 0; ++round) {
    MPI_Recv(&said, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
    MPI_Recv(words, kWords, MPI_INT, 0, 2, inter, MPI_STATUS_IGNORE);
    look(words, round);
    fill(words, round + 1);
    MPI_Send(words, kWords, MPI_INT, 0, 2, inter);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  const int accepts = argc > 4 && strcmp(argv[1], "accept") == 0;
  char port[kName] = "";
  MPI_Comm inter;
  if (world_rank == 0) (accepts ? open_port : read_port)(argv[2], port);
  (accepts ? MPI_Comm_accept : MPI_Comm_connect)(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  if (world_rank == 0) {
    if (accepts)
      lead(inter, argv[3], argv[4]);
    else
      follow(inter);
  }
  MPI_Comm_disconnect(&inter);
  MPI_Finalize();
  if (world_rank == 0) printf("%s: passed\n", argv[1]);
  return 0;
}
