/* SP: a flow by steps that are implicit along one direction after the other, where each direction's
 * equations are those of five waves that do not mix: scalar, with fourth differences in them and so
 * pentadiagonal (the diagonal form of Pulliam and Chaussee).
 *
 * Communication, all point to point: in each time step, along x and along y, eight bundles of lines
 * go there (in class B on 16 ranks 60 KB each) and back (26 KB); then two layers to all four
 * neighbours (200 KB). As BT, with less to compute between messages. Any number of ranks that
 * leaves each two points in both directions. */
#include "lines.h"

static const int WIDTH[CLASSES] = {12, 36, 64, 102};
static const int STEPS[CLASSES] = {100, 400, 400, 400};
static const double STEP_TIME[CLASSES] = {0.015, 0.0015, 0.0015, 0.001};

/* Published, to 1e-8. */
static const State CHANGES[CLASSES] = {
    {2.7470315451339479e-02, 1.0360746705285417e-02, 1.6235745065095532e-02, 1.5840557224455615e-02,
     3.4849040609362460e-02},
    {0.1893253733584e-02, 0.1717075447775e-03, 0.2778153350936e-03, 0.2887475409984e-03,
     0.3143611161242e-02},
    {2.4799822399300195e+00, 1.1276337964368832e+00, 1.5028977888770491e+00, 1.4217816211695179e+00,
     2.1292113035138280e+00},
    {0.6903293579998e+02, 0.3095134488084e+02, 0.4103336647017e+02, 0.3864769009604e+02,
     0.5643482272596e+02},
};
static const State DISTANCES[CLASSES] = {
    {2.7289258557377227e-05, 1.0364446640837285e-05, 1.6154798287166471e-05, 1.5750704994480102e-05,
     3.4177666183390531e-05},
    {0.7542088599534e-04, 0.6512852253086e-05, 0.1049092285688e-04, 0.1128838671535e-04,
     0.1212845639773e-03},
    {1.0900140297820550e-04, 3.7343951769282091e-05, 5.0092785406541633e-05, 4.7671093939528255e-05,
     1.3621613399213001e-04},
    {0.9810006190188e-02, 0.1022827905670e-02, 0.1720597911692e-02, 0.1694479428231e-02,
     0.1847456263981e-01},
};

/* The values of each point: velocities, half of their square, the speed of sound, the mean
   viscosity. */
typedef struct {
  double v[3], half, sound, viscosity;
} Medium;

static State *u, *v; /* the flow, and its change */
static Medium* medium;

static void look_at_medium(void) {
  for (size_t i = 0; i < room; ++i) {
    if (u[i][0] == 0) continue; /* the corners of ghosts */
    const Derived of = derive(u[i]);
    Medium* m = &medium[i];
    memcpy(m->v, of.v, sizeof m->v);
    m->half = of.half;
    m->sound = sqrt(C1 * of.pressure / u[i][0]);
    m->viscosity = C15 * C34 / u[i][0]; /* the largest of all */
  }
}

/* -- waves --------------------------------------------------------------------------------------
 */

/* The parts of the change of a state. They are the change of density beyond pressure's effect on
 * it, the velocities, and pressure by density and the speed of sound. Along a direction d, all but
 * PRESSURE and VELOCITY + d go with the flow; the sum and difference of these two with the sound,
 * ahead and back. */
enum { EXCESS, VELOCITY, PRESSURE = 4 };

static void to_waves(const double* state, const Medium* m, double* change) {
  const double mass = change[0], by_mass = 1 / state[0];
  double pressure = change[ENERGY] + m->half * mass;
  for (int d = 0; d < 3; ++d) {
    pressure -= m->v[d] * change[1 + d];
    change[VELOCITY + d] = (change[1 + d] - m->v[d] * mass) * by_mass;
  }
  pressure *= C2;
  change[EXCESS] = mass - pressure / (m->sound * m->sound);
  change[PRESSURE] = pressure * by_mass / m->sound;
}

static void from_waves(const double* state, const Medium* m, double* change) {
  const double pressure = change[PRESSURE] * state[0] * m->sound;
  const double mass = change[EXCESS] + pressure / (m->sound * m->sound);
  double energy = pressure / C2 + m->half * mass;
  for (int d = 0; d < 3; ++d) {
    const double momentum = state[0] * change[VELOCITY + d];
    energy += m->v[d] * momentum;
    change[1 + d] = momentum + m->v[d] * mass;
  }
  change[0] = mass;
  change[ENERGY] = energy;
}

static void each_inner(void change_point(const double*, const Medium*, double*)) {
  for (int k = inner_begin[2]; k < inner_end[2]; ++k)
    for (int j = inner_begin[1]; j < inner_end[1]; ++j)
      for (int i = inner_begin[0]; i < inner_end[0]; ++i) {
        const size_t at = point(i, j, k);
        change_point(u[at], &medium[at], v[at]);
      }
}

/* -- equations along lines ----------------------------------------------------------------------
 */

/* The waves with the flow, and those with the sound ahead and back. */
enum { FLOW, AHEAD, BACKWARD, KINDS, FORTH = 2 * (2 * KINDS + VARIABLES), BACK = 2 * VARIABLES };
static const double SOUND[KINDS] = {0, 1, -1};

/* Which kind component m is of, once those of d are summed and subtracted. */
static int kind_of(int d, int m) {
  return m == PRESSURE ? AHEAD : m == VELOCITY + d ? BACKWARD : FLOW;
}

/* The rest of an equation: x + next x(+1) + second x(+2) = right. */
typedef struct {
  double next[KINDS], second[KINDS], right[VARIABLES];
} Row;

static double (*nexts)[KINDS], (*seconds_ahead)[KINDS];

/* Weights of a point's equation for the waves of one kind, from two points behind to two ahead. */
static void equation(int d, size_t at, int place, int kind, double* weights) {
  const double* fourth = fourth_difference(place);
  for (int n = 0; n < 5; ++n) weights[n] = step_time * FOURTH * fourth[n];
  for (int side = -1; side <= 1; ++side) {
    const Medium* m =
        side < 0 ? &medium[at - (size_t)stride[d]] : &medium[at + (size_t)(side * stride[d])];
    const double speed = m->v[d] + SOUND[kind] * m->sound;
    const double viscosity = step_time * second_order * (ARTIFICIAL[d] + m->viscosity);
    weights[2 + side] +=
        side ? side * step_time * first_order * speed - viscosity : 1 + 2 * viscosity;
  }
}

/* Carries the rows of the last two points. */
static void eliminate(int d, size_t at, int place, int count, double* carried) {
  Row* last = (Row*)carried; /* [0] is two points behind */
  for (int n = 0; n < count; ++n, at += (size_t)stride[d]) {
    Row row;
    double by[KINDS], from_second[KINDS], from_last[KINDS];
    for (int kind = 0; kind < KINDS; ++kind) {
      double w[5];
      equation(d, at, place + n, kind, w);
      from_second[kind] = w[0];
      from_last[kind] = w[1] - w[0] * last[0].next[kind];
      by[kind] = 1 / (w[2] - w[0] * last[0].second[kind] - from_last[kind] * last[1].next[kind]);
      row.next[kind] = (w[3] - from_last[kind] * last[1].second[kind]) * by[kind];
      row.second[kind] = w[4] * by[kind];
    }
    const double pressure = v[at][PRESSURE], velocity = v[at][VELOCITY + d];
    v[at][PRESSURE] = pressure + velocity, v[at][VELOCITY + d] = pressure - velocity;
    for (int m = 0; m < VARIABLES; ++m) {
      const int kind = kind_of(d, m);
      row.right[m] =
          (v[at][m] - from_second[kind] * last[0].right[m] - from_last[kind] * last[1].right[m]) *
          by[kind];
    }
    memcpy(v[at], row.right, sizeof(State));
    memcpy(nexts[at], row.next, sizeof row.next);
    memcpy(seconds_ahead[at], row.second, sizeof row.second);
    last[0] = last[1], last[1] = row;
  }
}

/* Carries the waves at the next two points. */
static void substitute(int d, size_t at, int place, int count, double* carried) {
  (void)place;
  double *next = carried, *second = carried + VARIABLES;
  at += (size_t)(count - 1) * (size_t)stride[d];
  for (int n = 0; n < count; ++n, at -= (size_t)stride[d]) {
    for (int m = 0; m < VARIABLES; ++m) {
      const int kind = kind_of(d, m);
      v[at][m] -= nexts[at][kind] * next[m] + seconds_ahead[at][kind] * second[m];
    }
    memcpy(second, next, sizeof(State));
    memcpy(next, v[at], sizeof(State));
    const double ahead = v[at][PRESSURE], backward = v[at][VELOCITY + d];
    v[at][PRESSURE] = (ahead + backward) / 2, v[at][VELOCITY + d] = (ahead - backward) / 2;
  }
}

int main(int argc, char** argv) {
  begin(&argc, &argv, "SP");
  lay_out(WIDTH[class_number], STEP_TIME[class_number]);
  u = make_field(), v = make_field();
  medium = need(room, sizeof(Medium));
  nexts = need(room, sizeof *nexts), seconds_ahead = need(room, sizeof *seconds_ahead);
  State* force = make_force();
  set_beginning(u);

  start_clock();
  for (int step = 0; step < STEPS[class_number]; ++step) {
    drive_with(force, u, v);
    scale(v, step_time);
    look_at_medium();
    each_inner(to_waves);
    for (int d = 0; d < 3; ++d) {
      pass_lines(d, 1, FORTH, eliminate);
      pass_lines(d, -1, BACK, substitute);
    }
    each_inner(from_waves);
    add_change(u, v, 1);
  }
  const double seconds = stop_clock();

  drive_with(force, u, v);
  return finish(seconds, well_done(u, v, CHANGES[class_number], DISTANCES[class_number]));
}
