/* Wait and test in all forms on arrays that mix sends and receives, near and far, wildcards and
   MPI_REQUEST_NULL. ranks: 2 4 */
#include "p2p.h"

enum { kEach = 6 };

/* Rank 0 exchanges kEach messages with every other rank; form says how it completes them. */
static void exchange(int form) {
  if (rank != 0) {
    int out, in;
    for (int i = 0; i < kEach; ++i) {
      MPI_Status status;
      MPI_Recv(&in, 1, MPI_INT, 0, 50 + i, WORLD, &status);
      CHECK(in == rank * 1000 + i, "message %d from rank 0 is %d", i, in);
      out = rank * 1000 + 500 + i;
      MPI_Send(&out, 1, MPI_INT, 0, 50 + i, WORLD);
    }
    return;
  }
  const int n = 2 * kEach * (size - 1) + 1;
  MPI_Request* requests = malloc(sizeof(MPI_Request) * (size_t)n);
  MPI_Status* statuses = malloc(sizeof(MPI_Status) * (size_t)n);
  int *data = calloc((size_t)n, sizeof(int)), *peer = calloc((size_t)n, sizeof(int));
  int *tag = calloc((size_t)n, sizeof(int)), *done = calloc((size_t)n, sizeof(int));
  int* indices = calloc((size_t)n, sizeof(int));
  int k = 0;
  for (int r = 1; r < size; ++r)
    for (int i = 0; i < kEach; ++i) {
      peer[k] = r, tag[k] = 50 + i;
      MPI_Irecv(&data[k], 1, MPI_INT, r, tag[k], WORLD, &requests[k]);
      ++k;
    }
  requests[k++] = MPI_REQUEST_NULL;
  for (int r = 1; r < size; ++r)
    for (int i = 0; i < kEach; ++i) {
      peer[k] = -1, data[k] = r * 1000 + i;
      MPI_Isend(&data[k], 1, MPI_INT, r, 50 + i, WORLD, &requests[k]);
      ++k;
    }
  int left = n - 1;
  while (left > 0) {
    int count = 0, flag = 0;
    switch (form) {
      case 0:
        MPI_Waitall(n, requests, statuses);
        for (count = 0; count < n; ++count) indices[count] = count;
        break;
      case 1:
        while (!flag) MPI_Testall(n, requests, &flag, statuses);
        for (count = 0; count < n; ++count) indices[count] = count;
        break;
      case 2:
        MPI_Waitany(n, requests, indices, statuses);
        count = 1;
        break;
      case 3:
        while (!flag) MPI_Testany(n, requests, indices, &flag, statuses);
        count = 1;
        break;
      case 4:
        MPI_Waitsome(n, requests, &count, indices, statuses);
        CHECK(count > 0, "MPI_Waitsome completed %d", count);
        break;
      case 5:
        while (count == 0) MPI_Testsome(n, requests, &count, indices, statuses);
        break;
      case 6:
        indices[0] = n - left;
        if (peer[indices[0]] == 0) ++indices[0];
        for (int i = 0; i < n; ++i)
          if (requests[i] != MPI_REQUEST_NULL) indices[0] = i;
        MPI_Wait(&requests[indices[0]], statuses);
        count = 1;
        break;
      case 7:
        for (int i = 0; i < n && !flag; ++i)
          if (requests[i] != MPI_REQUEST_NULL) {
            indices[0] = i;
            MPI_Request_get_status(requests[i], &flag, statuses);
            if (flag) {
              CHECK(requests[i] != MPI_REQUEST_NULL, "MPI_Request_get_status freed a request");
              if (peer[i] > 0)
                check_status(statuses, peer[i], tag[i], 1, MPI_INT, "MPI_Request_get_status");
              MPI_Test(&requests[i], &flag, statuses);
              CHECK(flag, "MPI_Test says no after MPI_Request_get_status said yes");
            }
          }
        count = flag;
        break;
    }
    for (int c = 0; c < count; ++c) {
      const int i = indices[c];
      CHECK(i >= 0 && i < n, "form %d: index %d", form, i);
      if (i == kEach * (size - 1)) continue; /* the null one */
      CHECK(!done[i], "form %d: request %d completed twice", form, i);
      CHECK(requests[i] == MPI_REQUEST_NULL, "form %d: request %d is not null", form, i);
      done[i] = 1, --left;
      if (peer[i] > 0) {
        check_status(&statuses[c], peer[i], tag[i], 1, MPI_INT, "a completed receive");
        CHECK(data[i] == peer[i] * 1000 + 500 + tag[i] - 50, "form %d: receive %d got %d", form, i,
              data[i]);
      }
    }
  }
  int index = 0, flag = 0, count = 0;
  MPI_Waitany(n, requests, &index, MPI_STATUS_IGNORE);
  CHECK(index == MPI_UNDEFINED, "MPI_Waitany of null requests gave index %d", index);
  MPI_Testany(n, requests, &index, &flag, MPI_STATUS_IGNORE);
  CHECK(flag && index == MPI_UNDEFINED, "MPI_Testany of null requests");
  MPI_Testsome(n, requests, &count, indices, MPI_STATUSES_IGNORE);
  CHECK(count == MPI_UNDEFINED, "MPI_Testsome of null requests gave %d", count);
  free(requests), free(statuses), free(data), free(peer), free(tag), free(done), free(indices);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  for (int round = 0; round < 3; ++round)
    for (int form = 0; form < 8; ++form) {
      exchange(form);
      all_here(1);
    }

  /* A freed send still arrives. */
  if (rank == 0) {
    static int values[64];
    for (int r = 1; r < size; ++r) {
      MPI_Request request;
      values[r] = 70 + r;
      MPI_Isend(&values[r], 1, MPI_INT, r, 9, WORLD, &request);
      MPI_Request_free(&request);
      CHECK(request == MPI_REQUEST_NULL, "MPI_Request_free left a handle");
    }
  } else {
    int value = 0;
    MPI_Recv(&value, 1, MPI_INT, 0, 9, WORLD, MPI_STATUS_IGNORE);
    CHECK(value == 70 + rank, "a send whose request was freed brought %d", value);
  }
  return finish("waits");
}
