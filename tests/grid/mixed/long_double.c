/* Two clusters of two ranks. Without arguments their long double is the same, and all data passes.
   If the arguments name two architectures, their long double differs. Each call that would send one
   to the other cluster raises MPI_ERR_TYPE and names both architectures. All other data passes, and
   so does long double inside a cluster. */
#include "../../programs/p2p/p2p.h"

static int differ;
static char** archs;

static void expect(int code, const char* what) {
  int class = MPI_SUCCESS, length = 0;
  char text[MPI_MAX_ERROR_STRING] = "";
  MPI_Error_class(code, &class);
  MPI_Error_string(code, text, &length);
  CHECK(class == (differ ? MPI_ERR_TYPE : MPI_SUCCESS), "%s: class %d (%s)", what, class, text);
  if (!differ) return;
  CHECK(strstr(text, "LONG_DOUBLE") || strstr(text, "f90"), "%s: %s", what, text);
  CHECK(strstr(text, archs[0]) && strstr(text, archs[1]), "%s: %s", what, text);
}

/* ---- datatypes, by a message of each from rank 0 to rank 2 ---- */

static char buffer[4096];

static void across(MPI_Datatype type, const char* what) {
  MPI_Type_commit(&type);
  if (rank == 0) expect(MPI_Send(buffer, 1, type, 2, 5, WORLD), what);
  if (rank == 2) expect(MPI_Recv(buffer, 1, type, 0, 5, WORLD, MPI_STATUS_IGNORE), what);
}

static void derived(void) {
  MPI_Datatype inner, type;
  MPI_Type_contiguous(3, MPI_LONG_DOUBLE, &inner);
  across(inner, "contiguous");
  MPI_Type_vector(2, 1, 2, inner, &type);
  across(type, "a vector of it");
  MPI_Type_free(&type);
  int lengths[] = {1, 2};
  MPI_Aint places[] = {0, 16};
  MPI_Datatype members[] = {MPI_INT, MPI_LONG_DOUBLE};
  MPI_Type_create_struct(2, lengths, places, members, &type);
  across(type, "a struct");
  MPI_Type_free(&type);
  MPI_Type_create_resized(inner, 0, 128, &type);
  across(type, "resized");
  MPI_Type_free(&type);
  MPI_Type_dup(inner, &type);
  across(type, "a duplicate");
  MPI_Type_free(&type);
  int sizes[] = {4, 4}, part[] = {2, 2}, starts[] = {1, 1};
  MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_C, MPI_LONG_DOUBLE, &type);
  across(type, "a subarray");
  MPI_Type_free(&type);
  int whole[] = {4}, how[] = {MPI_DISTRIBUTE_BLOCK}, args[] = {MPI_DISTRIBUTE_DFLT_DARG},
      grid[] = {1};
  MPI_Type_create_darray(1, 0, 1, whole, how, args, grid, MPI_ORDER_C, MPI_LONG_DOUBLE, &type);
  across(type, "a distributed array");
  MPI_Type_free(&type);
#if MPI_VERSION >= 4 && !defined(OPEN_MPI)
  MPI_Type_contiguous_c(2, MPI_LONG_DOUBLE, &type);
#else
  MPI_Type_contiguous(2, MPI_LONG_DOUBLE, &type);
#endif
  across(type, "made by a function for large counts");
  MPI_Type_free(&type);
  MPI_Type_free(&inner);
}

/* A datatype for `digits` digits; MPI_DATATYPE_NULL when a rank's library, without Fortran, has
 * none. */
static MPI_Datatype fortran_real(int digits) {
  MPI_Datatype kind = MPI_DATATYPE_NULL;
  const int code = MPI_Type_create_f90_real(digits, MPI_UNDEFINED, &kind);
  int known = code == MPI_SUCCESS && kind != MPI_DATATYPE_NULL, everywhere;
  MPI_Allreduce(&known, &everywhere, 1, MPI_INT, MPI_MIN, WORLD);
  return everywhere ? kind : MPI_DATATYPE_NULL;
}

static void predefined(void) {
  across(MPI_LONG_DOUBLE, "MPI_LONG_DOUBLE");
  across(MPI_C_LONG_DOUBLE_COMPLEX, "MPI_C_LONG_DOUBLE_COMPLEX");
  across(MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT");
  const MPI_Datatype kind = fortran_real(17);
  if (kind != MPI_DATATYPE_NULL) across(kind, "17 digits");
}

/* ---- forms of messages ---- */

static void messages(void) {
  long double x[2] = {rank, 7}, y = -1;
  const int other = (rank + 2) % 4;
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank < 2) {
    expect(MPI_Ssend(x, 1, MPI_LONG_DOUBLE, other, 1, WORLD), "MPI_Ssend");
    expect(MPI_Isend(x, 1, MPI_LONG_DOUBLE, other, 2, WORLD, &request), "MPI_Isend");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    static char attached[1000 + MPI_BSEND_OVERHEAD];
    MPI_Buffer_attach(attached, sizeof attached);
    expect(MPI_Bsend(x, 1, MPI_LONG_DOUBLE, other, 3, WORLD), "MPI_Bsend");
    void* detached;
    int size_of;
    MPI_Buffer_detach(&detached, &size_of);
    MPI_Send_init(x, 1, MPI_LONG_DOUBLE, other, 4, WORLD, &request);
    expect(MPI_Start(&request), "MPI_Start of a send");
  } else {
    expect(MPI_Recv(&y, 1, MPI_LONG_DOUBLE, other, 1, WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
    expect(MPI_Irecv(&y, 1, MPI_LONG_DOUBLE, other, 2, WORLD, &request), "MPI_Irecv");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(MPI_Recv(&y, 1, MPI_LONG_DOUBLE, other, 3, WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
    MPI_Recv_init(&y, 1, MPI_LONG_DOUBLE, other, 4, WORLD, &request);
    expect(MPI_Start(&request), "MPI_Start of a receive");
  }
  if (!differ) MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  expect(MPI_Sendrecv(x, 1, MPI_LONG_DOUBLE, other, 6, &y, 1, MPI_LONG_DOUBLE, other, 6, WORLD,
                      MPI_STATUS_IGNORE),
         "MPI_Sendrecv");
  CHECK(differ || y == other, "MPI_Sendrecv brought %Lg", y);
  expect(MPI_Sendrecv_replace(x, 2, MPI_LONG_DOUBLE, other, 7, other, 7, WORLD, MPI_STATUS_IGNORE),
         "MPI_Sendrecv_replace");
  /* Only what is sent cannot pass: the receive that was begun for it goes. */
  char c = 0;
  if (differ)
    expect(MPI_Sendrecv(x, 1, MPI_LONG_DOUBLE, other, 8, &c, 1, MPI_CHAR, other, 8, WORLD,
                        MPI_STATUS_IGNORE),
           "MPI_Sendrecv, received as characters");
  /* Nothing passes. */
  MPI_Sendrecv(x, 0, MPI_LONG_DOUBLE, other, 9, &y, 0, MPI_LONG_DOUBLE, other, 9, WORLD,
               MPI_STATUS_IGNORE);
}

/* ---- collectives ---- */

static long double twice(long double* x) { return x[0] + x[1]; }

static void collectives(void) {
  long double x[8] = {1, 1, 1, 1, 1, 1, 1, 1}, y[8] = {0};
  const MPI_Datatype type = MPI_LONG_DOUBLE;
  int counts[] = {1, 1, 1, 1}, places[] = {0, 1, 2, 3}, bytes[] = {0, 16, 32, 48};
  MPI_Datatype types[] = {type, type, type, type};
  MPI_Request request = MPI_REQUEST_NULL;
  expect(MPI_Bcast(x, 1, type, 0, WORLD), "MPI_Bcast");
  expect(MPI_Gather(x, 1, type, y, 1, type, 0, WORLD), "MPI_Gather");
  expect(MPI_Gatherv(x, 1, type, y, counts, places, type, 3, WORLD), "MPI_Gatherv");
  expect(MPI_Scatter(x, 1, type, y, 1, type, 0, WORLD), "MPI_Scatter");
  expect(MPI_Scatterv(x, counts, places, type, y, 1, type, 2, WORLD), "MPI_Scatterv");
  expect(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, y, 1, type, WORLD), "MPI_Allgather");
  expect(MPI_Allgatherv(x, 1, type, y, counts, places, type, WORLD), "MPI_Allgatherv");
  expect(MPI_Alltoall(x, 1, type, y, 1, type, WORLD), "MPI_Alltoall");
  expect(MPI_Alltoallv(x, counts, places, type, y, counts, places, type, WORLD), "MPI_Alltoallv");
  expect(MPI_Alltoallw(x, counts, bytes, types, y, counts, bytes, types, WORLD), "MPI_Alltoallw");
  expect(MPI_Reduce(x, y, 2, type, MPI_SUM, 1, WORLD), "MPI_Reduce");
  expect(MPI_Allreduce(x, y, 2, type, MPI_MAX, WORLD), "MPI_Allreduce");
  expect(MPI_Allreduce(x, y, 1, MPI_LONG_DOUBLE_INT, MPI_MAXLOC, WORLD), "MPI_MAXLOC");
  expect(MPI_Reduce_scatter(x, y, counts, type, MPI_SUM, WORLD), "MPI_Reduce_scatter");
  expect(MPI_Reduce_scatter_block(x, y, 1, type, MPI_SUM, WORLD), "MPI_Reduce_scatter_block");
  expect(MPI_Scan(x, y, 1, type, MPI_SUM, WORLD), "MPI_Scan");
  expect(MPI_Exscan(x, y, 1, type, MPI_SUM, WORLD), "MPI_Exscan");
  expect(MPI_Iallreduce(x, y, 2, type, MPI_SUM, WORLD, &request), "MPI_Iallreduce");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(differ || twice(y) == 2 * size, "MPI_Iallreduce made %Lg", twice(y));
}

/* ---- what passes on every grid ---- */

static void all_else(void) {
  double x = rank, sum = 0;
  MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD);
  CHECK(sum == 6, "the sum of doubles is %g", sum);
  struct {
    int i;
    double d;
  } pair = {rank, rank / 2.0}, largest;
  struct {
    double d;
    int i;
  } own = {rank / 2.0, rank}, found;
  MPI_Allreduce(&own, &found, 1, MPI_DOUBLE_INT, MPI_MAXLOC, WORLD);
  CHECK(found.i == 3 && found.d == 1.5, "MPI_MAXLOC found %g at %d", found.d, found.i);
  int lengths[] = {1, 1};
  MPI_Aint places[] = {0, (char*)&pair.d - (char*)&pair};
  MPI_Datatype members[] = {MPI_INT, MPI_DOUBLE}, type;
  MPI_Type_create_struct(2, lengths, places, members, &type);
  MPI_Type_commit(&type);
  largest = pair;
  MPI_Bcast(&largest, 1, type, 3, WORLD);
  CHECK(largest.i == 3 && largest.d == 1.5, "the struct is {%d, %g}", largest.i, largest.d);
  MPI_Type_free(&type);
  const MPI_Datatype kind = fortran_real(15);
  if (kind != MPI_DATATYPE_NULL) {
    x = rank + 0.5;
    MPI_Bcast(&x, 1, kind, 2, WORLD);
    CHECK(x == 2.5, "15 digits: %g", x);
  }
}

static void inside_a_cluster(void) {
  long double x = rank, y = -1;
  const int mate = rank ^ 1;
  MPI_Comm cluster;
  MPI_Request request;
  MPI_Comm_split(WORLD, rank / 2, rank, &cluster);
  MPI_Allreduce(&x, &y, 1, MPI_LONG_DOUBLE, MPI_SUM, cluster);
  CHECK(y == rank + mate, "the sum in the cluster is %Lg", y);
  MPI_Comm_free(&cluster);
  MPI_Irecv(&y, 1, MPI_LONG_DOUBLE, MPI_ANY_SOURCE, 11, WORLD, &request);
  MPI_Send(&x, 1, MPI_LONG_DOUBLE, mate, 11, WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(y == mate, "from the cluster's other rank comes %Lg", y);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  CHECK(size == 4, "this program is for four ranks");
  differ = argc > 2;
  archs = argv + 1;
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  predefined();
  derived();
  messages();
  collectives();
  all_else();
  inside_a_cluster();
  return finish("long_double");
}
