/* The neighbourhood collectives in every form, with the counts of one kind: included once for int
   and once for MPI_Count. X(name) is the function, Y(name) one of this file. */

/* One call in the form that `form` says. */
#if PERSISTENT
#define RUN_PERSISTENT(name, ...)                                    \
  if (form == 2) {                                                   \
    MPI_Request r_;                                                  \
    X(MPI_N##name##_init)(__VA_ARGS__, comm, MPI_INFO_NULL, &r_);    \
    for (int start_ = 0; start_ < 2; ++start_) {                     \
      MPI_Start(&r_);                                                \
      MPI_Wait(&r_, MPI_STATUS_IGNORE);                              \
    }                                                                \
    MPI_Request_free(&r_);                                           \
  }
#else
#define RUN_PERSISTENT(name, ...)
#endif
#define RUN(name, ...)                            \
  if (form == 0) X(MPI_N##name)(__VA_ARGS__, comm); \
  if (form == 1) {                                \
    MPI_Request r_;                               \
    X(MPI_In##name)(__VA_ARGS__, comm, &r_);      \
    MPI_Wait(&r_, MPI_STATUS_IGNORE);             \
  }                                               \
  RUN_PERSISTENT(name, __VA_ARGS__)

static void Y(check_allgather)(MPI_Comm comm, const struct Edges* e, int form) {
  int mine[ELEMENTS], all[MAX_DEGREE * ELEMENTS];
  for (int i = 0; i < ELEMENTS; ++i) mine[i] = value(e->rank, 0, i);
  clear(all, MAX_DEGREE * ELEMENTS);
  RUN(eighbor_allgather, mine, ELEMENTS, MPI_INT, all, ELEMENTS, MPI_INT)
  for (int b = 0; b < e->in; ++b)
    for (int i = 0; i < ELEMENTS; ++i)
      CHECK(all[b * ELEMENTS + i] == expected(e->sources[b], 0, i),
            "allgather, form %d: element %d of block %d from %d is %d", form, i, b, e->sources[b],
            all[b * ELEMENTS + i]);

  /* Blocks in reverse, of as many elements as the rank says. */
  COUNT counts[MAX_DEGREE];
  PLACE places[MAX_DEGREE];
  for (int b = 0; b < e->in; ++b) {
    counts[b] = e->sources[b] == MPI_PROC_NULL ? 1 : size_of(e->sources[b], 0);
    places[b] = (e->in - 1 - b) * ELEMENTS;
  }
  clear(all, MAX_DEGREE * ELEMENTS);
  RUN(eighbor_allgatherv, mine, size_of(e->rank, 0), MPI_INT, all, counts, places, MPI_INT)
  for (int b = 0; b < e->in; ++b)
    for (int i = 0; i < ELEMENTS; ++i) {
      const int want = i < counts[b] ? expected(e->sources[b], 0, i) : -1;
      CHECK(all[places[b] + i] == want, "allgatherv, form %d: element %d of block %d is %d, not %d",
            form, i, b, all[places[b] + i], want);
    }
}

static void Y(check_alltoall)(MPI_Comm comm, const struct Edges* e, int form) {
  static int out[MAX_DEGREE * ELEMENTS], in[MAX_DEGREE * ELEMENTS];
  for (int b = 0; b < e->out; ++b)
    for (int i = 0; i < ELEMENTS; ++i) out[b * ELEMENTS + i] = value(e->rank, b, i);
  clear(in, MAX_DEGREE * ELEMENTS);
  RUN(eighbor_alltoall, out, ELEMENTS, MPI_INT, in, ELEMENTS, MPI_INT)
  for (int b = 0; b < e->in; ++b)
    for (int i = 0; i < ELEMENTS; ++i)
      CHECK(in[b * ELEMENTS + i] == expected(e->sources[b], e->source_block[b], i),
            "alltoall, form %d: element %d of block %d from %d is %d", form, i, b, e->sources[b],
            in[b * ELEMENTS + i]);

  COUNT out_counts[MAX_DEGREE], in_counts[MAX_DEGREE];
  PLACE out_places[MAX_DEGREE], in_places[MAX_DEGREE];
  MPI_Aint out_bytes[MAX_DEGREE], in_bytes[MAX_DEGREE];
  MPI_Datatype out_types[MAX_DEGREE], in_types[MAX_DEGREE], spread;
  /* Every other int; its extent makes the blocks' room. */
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &spread);
  MPI_Type_commit(&spread);
  for (int b = 0; b < e->out; ++b) {
    out_counts[b] = size_of(e->rank, b);
    out_places[b] = b * ELEMENTS;
    out_bytes[b] = (MPI_Aint)(b * ELEMENTS * sizeof(int));
    out_types[b] = MPI_INT;
  }
  for (int b = 0; b < e->in; ++b) {
    const int missing = e->sources[b] == MPI_PROC_NULL;
    in_counts[b] = missing ? 1 : size_of(e->sources[b], e->source_block[b]);
    in_places[b] = (e->in - 1 - b) * ELEMENTS;
    in_bytes[b] = (MPI_Aint)(in_places[b] * sizeof(int));
    in_types[b] = spread;
  }
  clear(in, MAX_DEGREE * ELEMENTS);
  RUN(eighbor_alltoallv, out, out_counts, out_places, MPI_INT, in, in_counts, in_places, MPI_INT)
  for (int b = 0; b < e->in; ++b)
    for (int i = 0; i < ELEMENTS; ++i) {
      const int want = i < in_counts[b] ? expected(e->sources[b], e->source_block[b], i) : -1;
      CHECK(in[in_places[b] + i] == want, "alltoallv, form %d: element %d of block %d is %d, not %d",
            form, i, b, in[in_places[b] + i], want);
    }
  clear(in, MAX_DEGREE * ELEMENTS);
  RUN(eighbor_alltoallw, out, out_counts, out_bytes, out_types, in, in_counts, in_bytes, in_types)
  MPI_Type_free(&spread);
  for (int b = 0; b < e->in; ++b)
    for (int i = 0; i < ELEMENTS; ++i) {
      const int there = i % 2 == 0 && i / 2 < in_counts[b];
      const int want = there ? expected(e->sources[b], e->source_block[b], i / 2) : -1;
      CHECK(in[in_places[b] + i] == want, "alltoallw, form %d: element %d of block %d is %d, not %d",
            form, i, b, in[in_places[b] + i], want);
    }
}

#undef RUN
#undef RUN_PERSISTENT
