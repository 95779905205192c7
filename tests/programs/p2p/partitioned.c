/* Partitioned communication of every pair of ranks: several rounds, partitions ready in any order,
   channels with the same tag, types with gaps. Between clusters, the two sides have different
   partitions. ranks: 2 3 5 */
#include "partitioned.h"

#if HAS_PARTITIONED
#include <string.h>

enum { kTotal = 24 * 1000, kRounds = 3 };

/* A value of element `i` of the channel from `from` to `to`, by round and channel. */
static int value(int from, int to, int channel, int round, int i) {
  return ((from * 64 + to) * 4 + channel) * 16 + round + i * 31;
}

/* The i-th of `n` in an order that is not theirs. */
static int shuffled(int i, int n, int round) {
  if (round == 0) return n - 1 - i;
  if (round == 1) return i;
  return (i * (n % 7 ? 7 : 5) + 3) % n;
}

static int in_my_cluster(int peer, const int* cluster_of) {
  return cluster_of[peer] == cluster_of[rank];
}

/* Partitions of sender and receiver; the native libraries are asked for the same on both. */
static int parts_of_sender(int near) { return near ? 8 : 12; }
static int parts_of_receiver(int near) { return near ? 8 : 5 * 2; }

static void contiguous(const int* cluster_of) {
  enum { kChannels = 2 };
  MPI_Request requests[2 * 64 * kChannels];
  int *sent[64][kChannels], *received[64][kChannels];
  int n = 0;
  for (int peer = 0; peer < size; ++peer) {
    if (peer == rank) continue;
    const int near = in_my_cluster(peer, cluster_of);
    for (int c = 0; c < kChannels; ++c) {
      sent[peer][c] = malloc(sizeof(int) * kTotal);
      received[peer][c] = malloc(sizeof(int) * kTotal);
      const int s = parts_of_sender(near), r = parts_of_receiver(near);
      MPI_Precv_init(received[peer][c], r, kTotal / r, MPI_INT, peer, 7, MPI_COMM_WORLD,
                     MPI_INFO_NULL, &requests[n++]);
      MPI_Psend_init(sent[peer][c], s, kTotal / s, MPI_INT, peer, 7, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &requests[n++]);
    }
  }
  for (int round = 0; round < kRounds; ++round) {
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      for (int c = 0; c < kChannels; ++c) {
        memset(received[peer][c], -1, sizeof(int) * kTotal);
        for (int i = 0; i < kTotal; ++i) sent[peer][c][i] = value(rank, peer, c, round, i);
      }
    }
    MPI_Startall(n, requests);
    int at = 0;
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      const int s = parts_of_sender(in_my_cluster(peer, cluster_of));
      for (int c = 0; c < kChannels; ++c, at += 2) {
        const MPI_Request send = requests[at + 1];
        for (int i = 0; i < s; ++i) {
          if (round == 1) continue;
          MPI_Pready(shuffled(i, s, round), send);
        }
        if (round == 1) {
          int list[2] = {1, 0};
          MPI_Pready_list(2, list, send);
          MPI_Pready_range(2, s - 1, send);
        }
      }
    }
    if (round != 1) { /* partition by partition */
      at = 0;
      for (int peer = 0; peer < size; ++peer) {
        if (peer == rank) continue;
        const int r = parts_of_receiver(in_my_cluster(peer, cluster_of));
        for (int c = 0; c < kChannels; ++c, at += 2) {
          for (int i = r - 1; i >= 0; --i) {
            int there = 0;
            while (!there) MPI_Parrived(requests[at], i, &there);
            for (int k = i * (kTotal / r); k < (i + 1) * (kTotal / r); ++k)
              CHECK(received[peer][c][k] == value(peer, rank, c, round, k),
                    "round %d: element %d from %d, channel %d", round, k, peer, c);
          }
        }
      }
    }
    MPI_Status statuses[2 * 64 * kChannels];
    MPI_Waitall(n, requests, statuses);
    at = 0;
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      for (int c = 0; c < kChannels; ++c, at += 2) {
        if (!in_my_cluster(peer, cluster_of)) {
          int elements = 0;
          MPI_Get_count(&statuses[at], MPI_INT, &elements);
          CHECK(elements == kTotal, "count %d", elements);
          CHECK(statuses[at].MPI_SOURCE == peer && statuses[at].MPI_TAG == 7, "source %d, tag %d",
                statuses[at].MPI_SOURCE, statuses[at].MPI_TAG);
        }
        for (int k = 0; k < kTotal; ++k)
          CHECK(received[peer][c][k] == value(peer, rank, c, round, k),
                "round %d: element %d from %d, channel %d", round, k, peer, c);
      }
    }
  }
  for (int i = 0; i < n; ++i) MPI_Request_free(&requests[i]);
  for (int peer = 0; peer < size; ++peer) {
    if (peer == rank) continue;
    for (int c = 0; c < kChannels; ++c) {
      free(sent[peer][c]);
      free(received[peer][c]);
    }
  }
}

/* Every other int at the receiver, every third at the sender; first and last rank, so far ones
   where there are clusters. */
static void with_gaps(const int* cluster_of) {
  enum { kParts = 6, kEach = 10 };
  int sent[3 * 60], received[2 * 60 + 20];
  const int peer = rank == 0 ? size - 1 : 0;
  if (rank != 0 && rank != size - 1) return;
#ifdef OPEN_MPI /* 5.0 mixes the elements up */
  if (in_my_cluster(peer, cluster_of)) return;
#endif
  MPI_Datatype third, second;
  MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &third);
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &second);
  MPI_Type_commit(&third);
  MPI_Type_commit(&second);
  MPI_Request requests[2];
  MPI_Psend_init(sent, kParts, kEach, third, peer, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Precv_init(received, 4, 15, second, peer, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  MPI_Type_free(&third);
  MPI_Type_free(&second);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 60; ++i) sent[3 * i] = value(rank, peer, 0, round, i);
    for (int i = 0; i < 120; ++i) received[i] = -5;
    MPI_Startall(2, requests);
    MPI_Pready_range(0, kParts - 1, requests[0]);
    for (int done = 0; round == 1 && !done;) MPI_Parrived(requests[1], 3, &done);
    if (round == 1)
      CHECK(received[2 * 59] == value(peer, rank, 0, round, 59), "the last element is not there");
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 60; ++i) {
      CHECK(received[2 * i] == value(peer, rank, 0, round, i), "element %d", i);
      CHECK(received[2 * i + 1] == -5, "the gap after element %d was written", i);
    }
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

/* A receive larger than what may come unasked, whose sender is waited for elsewhere: the sender's
   other message comes only after its partitions have been taken. */
static void large_behind_another(void) {
  enum { kParts = 4 };
  const MPI_Count each = 8 << 20;
  if (rank != 0 && rank != size - 1) return;
  const int peer = rank == 0 ? size - 1 : 0;
  char* data = malloc((size_t)(kParts * each));
  MPI_Request request;
  int token = 0;
  if (rank == 0) {
    memset(data, 77, (size_t)(kParts * each));
    MPI_Psend_init(data, kParts, each, MPI_CHAR, peer, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Pready_range(0, kParts - 1, request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send(&token, 1, MPI_INT, peer, 5, MPI_COMM_WORLD);
  } else {
    MPI_Precv_init(data, kParts, each, MPI_CHAR, peer, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Recv(&token, 1, MPI_INT, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (MPI_Count i = 0; i < kParts * each; ++i) CHECK(data[i] == 77, "byte %lld", (long long)i);
  }
  MPI_Request_free(&request);
  free(data);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (all_have_it()) {
    int cluster_of[64], mine = 0;
    for (const char* name = getenv("ISTHMUS_CLUSTER"); *name; ++name) mine = mine * 31 + *name;
    MPI_Allgather(&mine, 1, MPI_INT, cluster_of, 1, MPI_INT, MPI_COMM_WORLD);
    contiguous(cluster_of);
    with_gaps(cluster_of);
    large_behind_another();
  }
  return finish("partitioned");
}
#else
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  all_have_it();
  return finish("partitioned");
}
#endif
