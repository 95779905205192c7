/* FT, "Fourier transform": a diffusion equation in three dimensions, solved by a transformation
 * there and one back at each point of time.
 *
 * Communication: an alltoall of the whole field for each transformation, in blocks of its bytes
 * over ranks squared (2 MB in class B on 16 ranks), and a reduction of 16 bytes. Half of all bytes
 * crosses between two halves: bandwidth over the wide area is everything. Ranks are powers of two,
 * at most as many as there are planes.
 *
 * Each rank has some planes z of the field; there it transforms along x and y. The alltoall gives
 * it all z of some rows y, along which it transforms last. */
#include "nas.h"

typedef struct {
  double re, im;
} Complex;

enum { MOST_STEPS = 20, CHECKED = 1024 };
static const int WIDTHS[CLASSES][3] = {
    {64, 64, 64}, {128, 128, 32}, {256, 256, 128}, {512, 256, 256}};
static const int STEPS[CLASSES] = {6, 6, 6, 20};
static const double ALPHA = 1e-6;
static const uint64_t SEED = 314159265;

/* Published: sums of 1024 numbers at each point of time, to 1e-12. */
static const double CHECKSUMS[CLASSES][MOST_STEPS][2] = {
    {{5.546087004964e+02, 4.845363331978e+02},
     {5.546385409189e+02, 4.865304269511e+02},
     {5.546148406171e+02, 4.883910722336e+02},
     {5.545423607415e+02, 4.901273169046e+02},
     {5.544255039624e+02, 4.917475857993e+02},
     {5.542683411902e+02, 4.932597244941e+02}},
    {{5.673612178944e+02, 5.293246849175e+02},
     {5.631436885271e+02, 5.282149986629e+02},
     {5.594024089970e+02, 5.270996558037e+02},
     {5.560698047020e+02, 5.260027904925e+02},
     {5.530898991250e+02, 5.249400845633e+02},
     {5.504159734538e+02, 5.239212247086e+02}},
    {{5.046735008193e+02, 5.114047905510e+02},
     {5.059412319734e+02, 5.098809666433e+02},
     {5.069376896287e+02, 5.098144042213e+02},
     {5.077892868474e+02, 5.101336130759e+02},
     {5.085233095391e+02, 5.104914655194e+02},
     {5.091487099959e+02, 5.107917842803e+02}},
    {{5.177643571579e+02, 5.077803458597e+02}, {5.154521291263e+02, 5.088249431599e+02},
     {5.146409228649e+02, 5.096208912659e+02}, {5.142378756213e+02, 5.101023387619e+02},
     {5.139626667737e+02, 5.103976610617e+02}, {5.137423460082e+02, 5.105948019802e+02},
     {5.135547056878e+02, 5.107404165783e+02}, {5.133910925466e+02, 5.108576573661e+02},
     {5.132470705390e+02, 5.109577278523e+02}, {5.131197729984e+02, 5.110460304483e+02},
     {5.130070319283e+02, 5.111252433800e+02}, {5.129070537032e+02, 5.111968077718e+02},
     {5.128182883502e+02, 5.112616233064e+02}, {5.127393733383e+02, 5.113203605551e+02},
     {5.126691062020e+02, 5.113735928093e+02}, {5.126064276004e+02, 5.114218460548e+02},
     {5.125504076570e+02, 5.114656139760e+02}, {5.125002331720e+02, 5.115053595966e+02},
     {5.124551951846e+02, 5.115415130407e+02}, {5.124146770029e+02, 5.115744692211e+02}},
};

static int nx, ny, nz;     /* of the field */
static int planes, slices; /* z of this rank, and y when it has all z */

/* -- transformation of lines --------------------------------------------------------------------
 */

/* Lines are transformed some at a time, side by side, so that memory is read in order. */
enum { BESIDE = 16 };

static Complex *roots, *line_a, *line_b; /* roots of unity of the longest line */
static int longest;

static void make_roots(void) {
  longest = nx > ny ? nx : ny;
  longest = longest > nz ? longest : nz;
  roots = need((size_t)longest, sizeof(Complex));
  for (int i = 0; i < longest; ++i)
    roots[i] = (Complex){cos(2 * M_PI * i / longest), sin(2 * M_PI * i / longest)};
  line_a = need((size_t)longest * BESIDE, sizeof(Complex));
  line_b = need((size_t)longest * BESIDE, sizeof(Complex));
}

/* Transforms BESIDE lines of `length` numbers, number i of line l at a[i BESIDE + l], by halving
 * (Stockham's order, which needs no exchange of places). `sign` is that of the exponent. Gives
 * where the result is: a or b. */
static Complex* transform(Complex* a, Complex* b, int length, int sign) {
  for (int half = length / 2, step = 1; half >= 1; half /= 2, step *= 2) {
    for (int j = 0; j < half; ++j) {
      Complex root = roots[j * step * (longest / length)];
      root.im *= sign;
      for (int k = 0; k < step * BESIDE; ++k) {
        const Complex u = a[j * step * BESIDE + k], v = a[(j + half) * step * BESIDE + k];
        const Complex d = {u.re - v.re, u.im - v.im};
        b[2 * j * step * BESIDE + k] = (Complex){u.re + v.re, u.im + v.im};
        b[(2 * j + 1) * step * BESIDE + k] =
            (Complex){d.re * root.re - d.im * root.im, d.re * root.im + d.im * root.re};
      }
    }
    Complex* other = a;
    a = b, b = other;
  }
  return a;
}

/* Transforms `count` lines in place: number i of line l is at data[i stride + l apart]. */
static void transform_lines(Complex* data, int length, int stride, int count, int apart, int sign) {
  for (int first = 0; first < count; first += BESIDE) {
    const int beside = count - first < BESIDE ? count - first : BESIDE;
    Complex* lines = data + (size_t)first * (size_t)apart;
    for (int i = 0; i < length; ++i)
      for (int l = 0; l < beside; ++l)
        line_a[i * BESIDE + l] = lines[(size_t)i * (size_t)stride + (size_t)l * (size_t)apart];
    const Complex* done = transform(line_a, line_b, length, sign);
    for (int i = 0; i < length; ++i)
      for (int l = 0; l < beside; ++l)
        lines[(size_t)i * (size_t)stride + (size_t)l * (size_t)apart] = done[i * BESIDE + l];
  }
}

static void transform_planes(Complex* field, int sign) {
  for (int z = 0; z < planes; ++z) {
    Complex* plane = field + (size_t)z * (size_t)ny * (size_t)nx;
    transform_lines(plane, nx, 1, ny, nx, sign);
    transform_lines(plane, ny, nx, nx, 1, sign);
  }
}

/* Fills all z: field[z][y][x] for the y of this rank. */
static void transform_depth(Complex* field, int sign) {
  transform_lines(field, nz, slices * nx, slices * nx, 1, sign);
}

/* -- from planes to all z of some rows, and back ------------------------------------------------
 */

/* A block is what one rank has of another: its planes of the other's rows. In the sender's field
 * rows of other ranks lie between; with all z the block of each rank stands together. */
static void exchange(Complex* field, Complex* blocks, int to_depth) {
  const size_t row = (size_t)slices * (size_t)nx, block = (size_t)planes * row;
  if (!to_depth)
    MPI_Alltoall(field, (int)(2 * block), MPI_DOUBLE, blocks, (int)(2 * block), MPI_DOUBLE,
                 MPI_COMM_WORLD);
  for (int other = 0; other < ranks; ++other)
    for (int z = 0; z < planes; ++z) {
      Complex* here = field + (size_t)z * (size_t)ny * (size_t)nx + (size_t)other * row;
      Complex* there = blocks + (size_t)other * block + (size_t)z * row;
      memcpy(to_depth ? there : here, to_depth ? here : there, row * sizeof(Complex));
    }
  if (to_depth)
    MPI_Alltoall(blocks, (int)(2 * block), MPI_DOUBLE, field, (int)(2 * block), MPI_DOUBLE,
                 MPI_COMM_WORLD);
}

/* -- the equation -------------------------------------------------------------------------------
 */

static void fill(Complex* field) {
  uint64_t state = skip(SEED, 2 * (uint64_t)nx * (uint64_t)ny * (uint64_t)planes * (uint64_t)rank);
  for (size_t i = 0; i < (size_t)nx * (size_t)ny * (size_t)planes; ++i) {
    field[i].re = draw(&state);
    field[i].im = draw(&state);
  }
}

/* Square of the wave number at index i of n: those of the upper half are negative. */
static int wave_square(int i, int n) {
  const int wave = i < n / 2 ? i : i - n;
  return wave * wave;
}

/* Lets one unit of time go by for the waves of this rank, and copies them. `decay[s]` is for waves
 * whose squares add up to s. */
static void evolve(Complex* waves, Complex* copy, const double* decay) {
  size_t at = 0;
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < slices; ++y) {
      const int square = wave_square(z, nz) + wave_square(rank * slices + y, ny);
      for (int x = 0; x < nx; ++x, ++at) {
        const double factor = decay[square + wave_square(x, nx)];
        waves[at].re *= factor;
        waves[at].im *= factor;
        copy[at] = waves[at];
      }
    }
}

/* The sum over certain points; on rank 0 alone. */
static Complex checksum(const Complex* field) {
  Complex sum = {0, 0}, all = {0, 0};
  for (int j = 1; j <= CHECKED; ++j) {
    const int x = j % nx, y = 3 * j % ny, z = 5 * j % nz - rank * planes;
    if (z < 0 || z >= planes) continue;
    const Complex* point = field + ((size_t)z * (size_t)ny + (size_t)y) * (size_t)nx + x;
    sum.re += point->re;
    sum.im += point->im;
  }
  MPI_Reduce(&sum, &all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  const double points = (double)nx * ny * nz;
  return (Complex){all.re / points, all.im / points};
}

int main(int argc, char** argv) {
  begin(&argc, &argv, "FT");
  nx = WIDTHS[class_number][0], ny = WIDTHS[class_number][1], nz = WIDTHS[class_number][2];
  need_power_of_two(nz < ny ? nz : ny);
  planes = nz / ranks, slices = ny / ranks;
  make_roots();
  const size_t own = (size_t)planes * (size_t)ny * (size_t)nx;
  Complex *waves = need(own, sizeof(Complex)), *field = need(own, sizeof(Complex));
  Complex* blocks = need(own, sizeof(Complex));
  const int squares = (nx * nx + ny * ny + nz * nz) / 4 + 1;
  double* decay = need((size_t)squares, sizeof(double));
  for (int s = 0; s < squares; ++s) decay[s] = exp(-4 * ALPHA * M_PI * M_PI * s);
  Complex sums[MOST_STEPS];
  fill(waves);

  start_clock();
  transform_planes(waves, -1);
  exchange(waves, blocks, 1);
  transform_depth(waves, -1);
  for (int step = 0; step < STEPS[class_number]; ++step) {
    evolve(waves, field, decay);
    transform_depth(field, 1);
    exchange(field, blocks, 0);
    transform_planes(field, 1);
    sums[step] = checksum(field);
  }
  const double seconds = stop_clock();

  int well = 1;
  for (int step = 0; step < STEPS[class_number] && rank == 0; ++step) {
    const double* wanted = CHECKSUMS[class_number][step];
    well &= agrees("the real checksum", sums[step].re, wanted[0], 1e-12);
    well &= agrees("the imaginary checksum", sums[step].im, wanted[1], 1e-12);
  }
  return finish(seconds, well);
}
