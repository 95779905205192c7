/* Persistent requests of every mode, near and far, named and wild, started again and again.
   ranks: 2 4 */
#include "p2p.h"

enum { kRounds = 20 };

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int buffer_size = 64 * (1000 + MPI_BSEND_OVERHEAD) * size;
  void* buffer = malloc((size_t)buffer_size);
  MPI_Buffer_attach(buffer, buffer_size);

  /* Everyone sends to everyone in four modes, each message with its own tag. */
  const int n = 8 * size;
  MPI_Request* requests = malloc(sizeof(MPI_Request) * (size_t)n);
  MPI_Status* statuses = malloc(sizeof(MPI_Status) * (size_t)n);
  int(*data)[100] = malloc(sizeof(int[100]) * (size_t)n);
  for (int r = 0; r < size; ++r)
    for (int mode = 0; mode < 4; ++mode) {
      const int in = 4 * r + mode, out = 4 * (size + r) + mode;
      /* One of four takes any tag; it could match all, so it comes last. */
      MPI_Recv_init(data[in], 100, MPI_INT, r, 20 + mode, WORLD, &requests[in]);
      switch (mode) {
        case 0:
          MPI_Send_init(data[out], 100, MPI_INT, r, 20, WORLD, &requests[out]);
          break;
        case 1:
          MPI_Ssend_init(data[out], 100, MPI_INT, r, 21, WORLD, &requests[out]);
          break;
        case 2:
          MPI_Bsend_init(data[out], 100, MPI_INT, r, 22, WORLD, &requests[out]);
          break;
        case 3:
          MPI_Send_init(data[out], 100, MPI_INT, r, 23, WORLD, &requests[out]);
          break;
      }
    }
  for (int round = 0; round < kRounds; ++round) {
    for (int r = 0; r < size; ++r)
      for (int mode = 0; mode < 4; ++mode) {
        fill(data[4 * (size + r) + mode], 100, rank, r, round * 4 + mode);
        memset(data[4 * r + mode], 0, sizeof(int[100]));
      }
    if (round % 2 == 0) {
      MPI_Startall(n, requests);
    } else {
      for (int i = 0; i < n; ++i) MPI_Start(&requests[i]);
    }
    if (round % 3 == 0) {
      MPI_Waitall(n, requests, statuses);
    } else {
      for (int left = n; left > 0; --left) {
        int index = -1;
        MPI_Status status;
        MPI_Waitany(n, requests, &index, &status);
        CHECK(index >= 0 && index < n, "MPI_Waitany gave index %d with %d left", index, left);
        statuses[index] = status;
      }
      int index = 0;
      MPI_Waitany(n, requests, &index, MPI_STATUS_IGNORE);
      CHECK(index == MPI_UNDEFINED, "an inactive request is waited for");
    }
    for (int r = 0; r < size; ++r)
      for (int mode = 0; mode < 4; ++mode) {
        const int in = 4 * r + mode;
        CHECK(requests[in] != MPI_REQUEST_NULL, "a persistent request became null");
        check_status(&statuses[in], r, 20 + mode, 100, MPI_INT, "a persistent receive");
        check_data(data[in], 100, r, rank, round * 4 + mode, "a persistent receive");
      }
    MPI_Status empty;
    MPI_Wait(&requests[0], &empty);
    CHECK(empty.MPI_SOURCE == MPI_ANY_SOURCE && empty.MPI_TAG == MPI_ANY_TAG,
          "the status of an inactive request: source %d, tag %d", empty.MPI_SOURCE, empty.MPI_TAG);
  }
  for (int i = 0; i < n; ++i) {
    MPI_Request_free(&requests[i]);
    CHECK(requests[i] == MPI_REQUEST_NULL, "MPI_Request_free left a handle");
  }
  MPI_Buffer_detach(&buffer, &(int){0});
  all_here(1);

  /* A persistent wildcard; a persistent named receive that must queue behind another wildcard. */
  for (int sender = 1; sender < size; ++sender) {
    if (rank == sender) {
      for (int i = 0; i < kRounds; ++i) {
        int go, values[3] = {3 * i, 3 * i + 1, 3 * i + 2};
        MPI_Recv(&go, 1, MPI_INT, 0, 2, WORLD, MPI_STATUS_IGNORE);
        for (int k = 0; k < 3; ++k) MPI_Send(&values[k], 1, MPI_INT, 0, 30, WORLD);
      }
    } else if (rank == 0) {
      int wild = -1, any = -1, named = -1;
      MPI_Request persistent[2], request;
      MPI_Status both[2];
      MPI_Recv_init(&wild, 1, MPI_INT, MPI_ANY_SOURCE, 30, WORLD, &persistent[0]);
      MPI_Recv_init(&named, 1, MPI_INT, sender, 30, WORLD, &persistent[1]);
      for (int i = 0; i < kRounds; ++i) {
        MPI_Start(&persistent[0]);
        MPI_Irecv(&any, 1, MPI_INT, MPI_ANY_SOURCE, 30, WORLD, &request);
        MPI_Start(&persistent[1]);
        int flag = 1;
        MPI_Testall(2, persistent, &flag, both);
        CHECK(!flag, "requests completed before anything was sent");
        MPI_Send(&i, 1, MPI_INT, sender, 2, WORLD);
        MPI_Waitall(2, persistent, both);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check_status(&both[0], sender, 30, 1, MPI_INT, "a persistent wildcard");
        check_status(&both[1], sender, 30, 1, MPI_INT, "a persistent receive behind wildcards");
        CHECK(wild == 3 * i && any == 3 * i + 1 && named == 3 * i + 2,
              "from rank %d: in posting order the receives got %d, %d, %d, not %d and on", sender,
              wild, any, named, 3 * i);
      }
      MPI_Request_free(&persistent[0]);
      MPI_Request_free(&persistent[1]);
    }
    all_here(3);
  }
  free(requests), free(statuses), free(data);
  return finish("persistent");
}
