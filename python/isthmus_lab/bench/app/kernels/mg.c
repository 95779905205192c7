/* MG, "multigrid": a Poisson equation on a periodic cube, by V-cycles over grids of halved width.
 *
 * Communication: on each grid of each cycle faces of all sizes to six neighbours, point to point,
 * in the three directions one after the other: 130 KB on the finest grid of class B on 16 ranks,
 * down to some ten bytes. Where grids get coarser than there are ranks, an allgather of the last
 * one, and all ranks go on alike. Most messages are small and wait for the wide area. Ranks are
 * powers of two. */
#include "nas.h"

enum { MOST_LEVELS = 9, CHARGES = 10 };
static const int LOG_WIDTH[CLASSES] = {5, 7, 8, 8};
static const int CYCLES[CLASSES] = {4, 4, 4, 20};
static const uint64_t SEED = 314159265;

/* Published: the residual's norm, to 1e-8. */
static const double NORM[CLASSES] = {0.5307707005734e-4, 0.6467329375339e-5, 0.2433365309069e-5,
                                     0.1800564401355e-5};

/* Weights by distance: itself, 6 at faces, 12 at edges, 8 at corners. */
static const double LAPLACE[4] = {-8.0 / 3, 0, 1.0 / 6, 1.0 / 12};
static const double SMOOTH_SMALL[4] = {-3.0 / 8, 1.0 / 32, -1.0 / 64, 0};
static const double SMOOTH_LARGE[4] = {-3.0 / 17, 1.0 / 33, -1.0 / 61, 0};
static const double RESTRICT[4] = {1.0 / 2, 1.0 / 4, 1.0 / 8, 1.0 / 16};

/* A process's part of a grid: `own` points in each direction, and one more at both ends that belong
 * to the neighbours. `lone` is a grid that each process has as a whole. */
typedef struct {
  int own[3];
  int lone;
  int stride[3]; /* 1, and so on */
  size_t room;
} Grid;

static int processes[3], position[3];

static Grid grid_of(int width, int lone) {
  Grid grid = {.lone = lone};
  size_t room = 1;
  for (int d = 0; d < 3; ++d) {
    grid.own[d] = lone ? width : width / processes[d];
    grid.stride[d] = (int)room;
    room *= (size_t)grid.own[d] + 2;
  }
  grid.room = room;
  return grid;
}

static double* make(const Grid* grid) { return need(grid->room, sizeof(double)); }

/* The index of point (0, j, k) of its own; -1 and `own` are the neighbours'. */
static size_t line(const Grid* grid, int j, int k) {
  return (size_t)(1 + (j + 1) * grid->stride[1]) + (size_t)(k + 1) * (size_t)grid->stride[2];
}

/* -- neighbours ---------------------------------------------------------------------------------
 */

static int neighbour(int direction, int step) {
  int at[3] = {position[0], position[1], position[2]};
  at[direction] = (at[direction] + step + processes[direction]) % processes[direction];
  return (at[2] * processes[1] + at[1]) * processes[0] + at[0];
}

/* Copies the plane at `index` (0 to own + 1) across a direction into `packed`, or out of it. All
 * planes have the ends of the other directions with them, so that edges and corners get round. */
static int copy_plane(const Grid* grid, double* u, int direction, int index, double* packed,
                      int out) {
  const int a = direction == 0 ? 1 : 0, b = direction == 2 ? 1 : 2;
  int count = 0;
  for (int j = 0; j < grid->own[b] + 2; ++j) {
    for (int i = 0; i < grid->own[a] + 2; ++i, ++count) {
      double* point = u + (size_t)index * (size_t)grid->stride[direction] +
                      (size_t)j * (size_t)grid->stride[b] + (size_t)i * (size_t)grid->stride[a];
      if (out)
        packed[count] = *point;
      else
        *point = packed[count];
    }
  }
  return count;
}

static double *planes_out[2], *planes_in[2]; /* to and from the neighbours before and after */

static void update_ends(const Grid* grid, double* u) {
  for (int direction = 0; direction < 3; ++direction) {
    const int last = grid->own[direction];
    const int alone = grid->lone || processes[direction] == 1;
    MPI_Request requests[4];
    int count = 0;
    for (int side = 0; side < 2; ++side)
      count = copy_plane(grid, u, direction, side ? last : 1, planes_out[side], 1);
    for (int side = 0; side < 2 && !alone; ++side) {
      const int peer = neighbour(direction, side ? 1 : -1);
      /* Both peers are the same process if a direction has two: tags tell the sides apart. */
      MPI_Irecv(planes_in[side], count, MPI_DOUBLE, peer, !side, MPI_COMM_WORLD, &requests[side]);
      MPI_Isend(planes_out[side], count, MPI_DOUBLE, peer, side, MPI_COMM_WORLD,
                &requests[2 + side]);
    }
    if (!alone) MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int side = 0; side < 2; ++side)
      copy_plane(grid, u, direction, side ? last + 1 : 0,
                 alone ? planes_out[!side] : planes_in[side], 0);
  }
}

/* -- stencils -----------------------------------------------------------------------------------
 */

/* The weighted sum of the 27 points around `u`. */
static inline double around(const double* u, const Grid* grid, const double* weights) {
  const int y = grid->stride[1], z = grid->stride[2];
  double faces = 0, edges = 0, corners = 0;
  if (weights[1] != 0) faces = u[-1] + u[1] + u[-y] + u[y] + u[-z] + u[z];
  edges = u[-y - 1] + u[-y + 1] + u[y - 1] + u[y + 1] + u[-z - 1] + u[-z + 1] + u[z - 1] +
          u[z + 1] + u[-z - y] + u[-z + y] + u[z - y] + u[z + y];
  if (weights[3] != 0)
    corners = u[-z - y - 1] + u[-z - y + 1] + u[-z + y - 1] + u[-z + y + 1] + u[z - y - 1] +
              u[z - y + 1] + u[z + y - 1] + u[z + y + 1];
  return weights[0] * u[0] + weights[1] * faces + weights[2] * edges + weights[3] * corners;
}

/* r = v - A u. r may be v. */
static void residual(const Grid* grid, const double* u, const double* v, double* r) {
  for (int k = 0; k < grid->own[2]; ++k)
    for (int j = 0; j < grid->own[1]; ++j) {
      const size_t at = line(grid, j, k);
      for (int i = 0; i < grid->own[0]; ++i)
        r[at + (size_t)i] = v[at + (size_t)i] - around(u + at + i, grid, LAPLACE);
    }
  update_ends(grid, r);
}

/* u += S r. */
static void smooth(const Grid* grid, const double* r, double* u) {
  const double* weights = CLASS_NAMES[class_number] == 'B' ? SMOOTH_LARGE : SMOOTH_SMALL;
  for (int k = 0; k < grid->own[2]; ++k)
    for (int j = 0; j < grid->own[1]; ++j) {
      const size_t at = line(grid, j, k);
      for (int i = 0; i < grid->own[0]; ++i) u[at + (size_t)i] += around(r + at + i, grid, weights);
    }
  update_ends(grid, u);
}

/* A coarse point takes the mean around its fine one, which is the second of each pair. */
static void coarsen(const Grid* fine, const double* r, const Grid* coarse, double* to) {
  for (int k = 0; k < coarse->own[2]; ++k)
    for (int j = 0; j < coarse->own[1]; ++j)
      for (int i = 0; i < coarse->own[0]; ++i)
        to[line(coarse, j, k) + (size_t)i] =
            around(r + line(fine, 2 * j + 1, 2 * k + 1) + 2 * i + 1, fine, RESTRICT);
  update_ends(coarse, to);
}

/* u += Q z: a fine point takes the mean of the coarse ones that it lies between. */
static void refine(const Grid* coarse, const double* z, const Grid* fine, double* u) {
  for (int k = 0; k < fine->own[2]; ++k)
    for (int j = 0; j < fine->own[1]; ++j) {
      /* Half of an even place, rounded down, is the coarse point before it. */
      const double* lines[4];
      for (int n = 0; n < 4; ++n)
        lines[n] = z + line(coarse, (j + (n & 1) + 1) / 2 - 1, (k + (n >> 1) + 1) / 2 - 1);
      const size_t at = line(fine, j, k);
      for (int i = 0; i < fine->own[0]; ++i) {
        const int left = (i + 1) / 2 - 1, right = (i + 2) / 2 - 1;
        double sum = 0;
        for (int n = 0; n < 4; ++n) sum += lines[n][left] + lines[n][right];
        u[at + (size_t)i] += sum / 8;
      }
    }
  update_ends(fine, u);
}

/* -- the cycle ----------------------------------------------------------------------------------
 */

static int top, shared_level; /* on that level and those below, each process has the whole grid */
static Grid grids[MOST_LEVELS], lone_grids[MOST_LEVELS];
static double *residuals[MOST_LEVELS], *corrections[MOST_LEVELS];
static double *lone_residuals[MOST_LEVELS], *lone_corrections[MOST_LEVELS];
static double *mine_packed, *all_packed;
static const int ORIGIN[3] = {0, 0, 0};

/* Copies the part of a process at `at` between a whole grid and the packed form, or out of it. */
static void place(const Grid* part, const Grid* whole, const int* at, double* u, double* packed,
                  int out) {
  size_t count = 0;
  for (int k = 0; k < part->own[2]; ++k)
    for (int j = 0; j < part->own[1]; ++j)
      for (int i = 0; i < part->own[0]; ++i, ++count) {
        double* point = u + line(whole, j + at[1] * part->own[1], k + at[2] * part->own[2]) + i +
                        at[0] * part->own[0];
        if (out)
          packed[count] = *point;
        else
          *point = packed[count];
      }
}

static void vcycle(const Grid* levels, double** r, double** z, int level, int bottom);

/* Everybody gets the whole of the last grid that is divided, and does the rest alone. */
static void share_the_rest(void) {
  const Grid *part = &grids[shared_level], *whole = &lone_grids[shared_level];
  const int count = part->own[0] * part->own[1] * part->own[2];
  place(part, part, ORIGIN, residuals[shared_level], mine_packed, 1);
  MPI_Allgather(mine_packed, count, MPI_DOUBLE, all_packed, count, MPI_DOUBLE, MPI_COMM_WORLD);
  for (int from = 0; from < ranks; ++from) {
    const int at[3] = {from % processes[0], from / processes[0] % processes[1],
                       from / processes[0] / processes[1]};
    place(part, whole, at, lone_residuals[shared_level], all_packed + (size_t)from * (size_t)count,
          0);
  }
  update_ends(whole, lone_residuals[shared_level]);
  vcycle(lone_grids, lone_residuals, lone_corrections, shared_level, 1);
  place(part, whole, position, lone_corrections[shared_level], mine_packed, 1);
  place(part, part, ORIGIN, corrections[shared_level], mine_packed, 0);
  update_ends(part, corrections[shared_level]);
}

/* Makes the correction of `level` out of its residual, which it changes. */
static void vcycle(const Grid* levels, double** r, double** z, int level, int bottom) {
  if (level == shared_level && bottom > 1) {
    share_the_rest();
    return;
  }
  memset(z[level], 0, levels[level].room * sizeof(double));
  if (level > 1) {
    coarsen(&levels[level], r[level], &levels[level - 1], r[level - 1]);
    vcycle(levels, r, z, level - 1, bottom);
    refine(&levels[level - 1], z[level - 1], &levels[level], z[level]);
    residual(&levels[level], z[level], r[level], r[level]);
  }
  smooth(&levels[level], r[level], z[level]);
}

/* -- the charges --------------------------------------------------------------------------------
 */

typedef struct {
  double value;
  int place[3]; /* of the whole grid */
} Charge;

/* Keeps the CHARGES first of `kept` by `sign` times their value, the largest first. */
static void keep(Charge* kept, int* count, const Charge* one, double sign) {
  int at = *count;
  while (at > 0 && sign * one->value > sign * kept[at - 1].value) --at;
  if (at == CHARGES) return;
  if (*count < CHARGES) ++*count;
  memmove(kept + at + 1, kept + at, (size_t)(*count - 1 - at) * sizeof(Charge));
  kept[at] = *one;
}

/* +1 where the ten largest of as many random numbers as there are points stand, -1 at the smallest.
 */
static void set_charges(const Grid* grid, int width, double* v) {
  static const double SIGNS[2] = {1, -1};
  Charge kept[2][CHARGES] = {{{0}}};
  int counts[2] = {0, 0};
  for (int k = 0; k < grid->own[2]; ++k)
    for (int j = 0; j < grid->own[1]; ++j) {
      Charge one = {.place = {0, j + position[1] * grid->own[1], k + position[2] * grid->own[2]}};
      const int first = position[0] * grid->own[0];
      uint64_t state =
          skip(SEED, ((uint64_t)one.place[2] * (uint64_t)width + (uint64_t)one.place[1]) *
                             (uint64_t)width +
                         (uint64_t)first);
      for (int i = 0; i < grid->own[0]; ++i) {
        one.place[0] = first + i;
        one.value = draw(&state);
        for (int s = 0; s < 2; ++s) keep(kept[s], &counts[s], &one, SIGNS[s]);
      }
    }
  Charge* all = need((size_t)ranks * CHARGES, sizeof(Charge));
  const int bytes = (int)(CHARGES * sizeof(Charge));
  for (int s = 0; s < 2; ++s) {
    Charge found[CHARGES];
    int count = 0;
    MPI_Allgather(kept[s], bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < ranks * CHARGES; ++i) keep(found, &count, &all[i], SIGNS[s]);
    for (int n = 0; n < CHARGES; ++n) {
      int here = 1, at[3];
      for (int d = 0; d < 3; ++d) {
        at[d] = found[n].place[d] - position[d] * grid->own[d];
        here &= at[d] >= 0 && at[d] < grid->own[d];
      }
      if (here) v[line(grid, at[1], at[2]) + (size_t)at[0]] = SIGNS[s];
    }
  }
  free(all);
  update_ends(grid, v);
}

static double norm(const Grid* grid, const double* r, int width) {
  double sum = 0;
  for (int k = 0; k < grid->own[2]; ++k)
    for (int j = 0; j < grid->own[1]; ++j)
      for (int i = 0; i < grid->own[0]; ++i) {
        const double value = r[line(grid, j, k) + (size_t)i];
        sum += value * value;
      }
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sqrt(sum / pow(width, 3));
}

/* Divides the ranks among the directions, the last first, and makes the grids of all levels. */
static void lay_out(int power) {
  const int at[3] = {(power + 0) / 3, (power + 1) / 3, (power + 2) / 3};
  for (int d = 0, rest = rank; d < 3; ++d) {
    processes[d] = 1 << at[d];
    position[d] = rest % processes[d];
    rest /= processes[d];
  }
  shared_level = ranks > 1 ? at[2] + 1 : 0; /* where a process still has two points */
  size_t most = 0;
  for (int level = 1; level <= top; ++level) {
    if (level >= shared_level) {
      grids[level] = grid_of(1 << level, 0);
      residuals[level] = make(&grids[level]);
      corrections[level] = make(&grids[level]);
      for (int d = 0; d < 3; ++d) {
        const size_t plane = grids[level].room / ((size_t)grids[level].own[d] + 2);
        if (plane > most) most = plane;
      }
    }
    if (level <= shared_level) {
      lone_grids[level] = grid_of(1 << level, 1);
      lone_residuals[level] = make(&lone_grids[level]);
      lone_corrections[level] = make(&lone_grids[level]);
      const size_t plane = lone_grids[level].room / ((size_t)lone_grids[level].own[0] + 2);
      if (plane > most) most = plane;
    }
  }
  for (int side = 0; side < 2; ++side) {
    planes_out[side] = need(most, sizeof(double));
    planes_in[side] = need(most, sizeof(double));
  }
  const size_t points = (size_t)1 << (3 * (shared_level > 0 ? shared_level : 1));
  mine_packed = need(points, sizeof(double));
  all_packed = need(points, sizeof(double));
}

int main(int argc, char** argv) {
  begin(&argc, &argv, "MG");
  top = LOG_WIDTH[class_number];
  lay_out(need_power_of_two(1 << (3 * (top - 1))));
  const Grid* grid = &grids[top];
  const int width = 1 << top;
  double *u = make(grid), *v = make(grid), **r = residuals;
  set_charges(grid, width, v);

  start_clock();
  residual(grid, u, v, r[top]);
  for (int cycle = 0; cycle < CYCLES[class_number]; ++cycle) {
    vcycle(grids, residuals, corrections, top, shared_level + 1);
    for (size_t i = 0; i < grid->room; ++i) u[i] += corrections[top][i];
    residual(grid, u, v, r[top]);
  }
  const double found = norm(grid, r[top], width);
  const double seconds = stop_clock();

  return finish(seconds, rank > 0 || agrees("the norm", found, NORM[class_number], 1e-8));
}
