/* Device memory that no instruction can touch: its pages are protected, and the driver copies
 * through an alias. A thread of its own copies. Small copies wait until their stream is
 * synchronized or asked, or has more to do. Large ones wait for their end if memory of the host is
 * not pinned. DRIVER_FAILS=1: copies fail at once. DRIVER_PINS=0: no memory is pinned.
 * DRIVER_RATE=BYTES: in a second. DRIVER_TELLS=FILE: it is there once something was to be copied.
 * The functions gpu_... are for the programs of the tests. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 512 << 20, INVALID = 1, NO_MEMORY = 2, NOT_READY = 600, ILLEGAL = 700 };
enum { LARGE = 64 << 10, MOST_PINS = 1 << 10 };
static char *device, *alias;
static size_t used;
static char* freed; /* memory up to the next 4 KiB */

struct job {
  char* to;
  const char* from;
  size_t bytes;
  void (*function)(void*); /* then a host function */
  void* argument;
};
struct stream {
  size_t jobs, room, done, wanted; /* `wanted`: before these the thread may begin */
  int failed;
  struct job* job;
  struct stream* next;
};
struct pin {
  const char* at;
  size_t bytes;
};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct stream* streams;
static struct pin pins[MOST_PINS];
static int engine_runs;
static size_t left[2] = {SIZE_MAX, SIZE_MAX}; /* to the device, to the host: gpu_fail_after() */
static __thread int is_engine;

static size_t number(const char* name, size_t otherwise) {
  const char* const text = getenv(name);
  return text ? strtoull(text, NULL, 10) : otherwise;
}
#ifdef EVERYWHERE /* all memory counts as a device's, although the CPU reaches it */
static int inside(const void* at) { return at != NULL; }
static char* reach(const void* at) { return (char*)at; }
#else
static int inside(const void* at) {
  if (freed && (uintptr_t)at - (uintptr_t)freed < 4096) return 0;
  return device && (uintptr_t)at - (uintptr_t)device < SIZE;
}
static char* reach(const void* at) { return alias + ((uintptr_t)at - (uintptr_t)device); }
#endif

void* gpu_alloc(size_t bytes) {
  if (!device) {
    const int file = memfd_create("device", 0);
    if (ftruncate(file, SIZE)) abort();
    alias = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    device = mmap(NULL, SIZE, PROT_NONE, MAP_SHARED, file, 0);
    close(file);
  }
  if (used + bytes > SIZE) abort();
  char* const at = device + used;
  used += (bytes + 255) / 256 * 256;
  return at;
}
void gpu_free(void* at) { freed = at; }
void gpu_write(void* to, const void* from, size_t bytes) { memcpy(reach(to), from, bytes); }
void gpu_read(void* to, const void* from, size_t bytes) { memcpy(to, reach(from), bytes); }
/* The program's state, which calls of others must not change. */
void* gpu_state(void);
#ifndef PINS
#define PINS 1
#endif
/* Whether this driver pins memory of the host. */
int gpu_pins(void) { return PINS && number("DRIVER_PINS", 1) != 0; }
/* The thread copies `bytes` more to the host, or to the device. Then the stream of each further copy
 * fails. SIZE_MAX: none does. */
void gpu_fail_after(int to_host, size_t bytes) {
  pthread_mutex_lock(&mutex);
  left[to_host] = bytes;
  pthread_mutex_unlock(&mutex);
}
/* Bytes of the host that are pinned. */
size_t gpu_pinned(void) {
  size_t sum = 0;
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < MOST_PINS; ++i) sum += pins[i].bytes;
  pthread_mutex_unlock(&mutex);
  return sum;
}

/* Copies take as long as DRIVER_RATE says, or longer. */
static void take_time(size_t bytes) {
  static struct timespec until;
  struct timespec now;
  const size_t rate = number("DRIVER_RATE", 0);
  if (!rate) return;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (now.tv_sec > until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec > until.tv_nsec)) {
    until = now;
  }
  const long long end = until.tv_nsec + (long long)((double)bytes / (double)rate * 1e9);
  until.tv_sec += end / 1000000000;
  until.tv_nsec = end % 1000000000;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL)) {
  }
}

static void do_job(struct stream* s, struct job job) {
  if (job.function) {
    job.function(job.argument);
    return;
  }
  const int to_host = job.from - alias >= 0 && job.from - alias < SIZE;
  pthread_mutex_lock(&mutex);
  s->failed = job.bytes > left[to_host];
  if (left[to_host] != SIZE_MAX) left[to_host] -= s->failed ? left[to_host] : job.bytes;
  pthread_mutex_unlock(&mutex);
  if (s->failed) return;
  if (job.bytes >= LARGE) take_time(job.bytes);
  memcpy(job.to, job.from, job.bytes);
}

static void* engine(void* unused) {
  is_engine = 1;
  pthread_mutex_lock(&mutex);
  for (;;) {
    struct stream* s = streams;
    while (s && s->done >= s->wanted) s = s->next;
    if (!s) {
      pthread_cond_wait(&changed, &mutex);
      continue;
    }
    const struct job job = s->job[s->done];
    pthread_mutex_unlock(&mutex);
    do_job(s, job);
    pthread_mutex_lock(&mutex);
    ++s->done;
    if (s->failed) s->done = s->wanted = s->jobs;
    pthread_cond_broadcast(&changed);
  }
  return unused;
}

static void begin(struct stream* s) {
  if (is_engine) abort(); /* a host function has called the driver */
  if (!engine_runs) {
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    if (pthread_create(&thread, NULL, engine, NULL)) abort();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    engine_runs = 1;
  }
  s->wanted = s->jobs;
  pthread_cond_broadcast(&changed);
}

static int stream_create(void** stream, int can) {
  struct stream* const s = can ? calloc(1, sizeof *s) : NULL;
  *stream = s;
  if (!s) return INVALID;
  pthread_mutex_lock(&mutex);
  s->next = streams;
  streams = s;
  pthread_mutex_unlock(&mutex);
  return 0;
}
static int result(const struct stream* s) { return s->failed ? ILLEGAL : 0; }
static int stream_synchronize(void* stream) {
  struct stream* const s = stream;
  pthread_mutex_lock(&mutex);
  begin(s);
  while (s->done < s->jobs) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  return result(s);
}
static int stream_query(void* stream) {
  struct stream* const s = stream;
  pthread_mutex_lock(&mutex);
  begin(s);
  const int ended = s->done == s->jobs;
  pthread_mutex_unlock(&mutex);
  return ended ? result(s) : NOT_READY;
}
static int stream_destroy(void* stream) {
  struct stream* const s = stream;
  pthread_mutex_lock(&mutex);
  if (s->done < s->jobs) abort();
  struct stream** at = &streams;
  while (*at != s) at = &(*at)->next;
  *at = s->next;
  pthread_mutex_unlock(&mutex);
  free(s->job);
  free(s);
  return 0;
}
static int add(struct stream* s, struct job job, int now) {
  pthread_mutex_lock(&mutex);
  if (s->failed) {
    pthread_mutex_unlock(&mutex);
    return ILLEGAL;
  }
  if (s->jobs == s->room) {
    s->room = s->room ? 2 * s->room : 64;
    s->job = realloc(s->job, s->room * sizeof job);
  }
  s->job[s->jobs++] = job;
  if (now) begin(s);
  pthread_mutex_unlock(&mutex);
  return 0;
}
static struct pin* pin_of(const char* at, size_t bytes) {
  for (int i = 0; i < MOST_PINS; ++i) {
    if (pins[i].bytes && at >= pins[i].at && at + bytes <= pins[i].at + pins[i].bytes) {
      return &pins[i];
    }
  }
  return NULL;
}
static void tell(void) {
  static int told;
  const char* const name = getenv("DRIVER_TELLS");
  if (name && !told) close(open(name, O_CREAT | O_WRONLY, 0600));
  told = 1;
}
static int copy_later(struct stream* s, char* to, const char* from, size_t bytes) {
  if (is_engine) abort();
  tell();
  if (getenv("DRIVER_FAILS")) return ILLEGAL;
  const int large = bytes >= LARGE;
  pthread_mutex_lock(&mutex);
  const int waits = large && !pin_of(to, bytes) && !pin_of(from, bytes);
  pthread_mutex_unlock(&mutex);
  const int error = add(s, (struct job){.to = to, .from = from, .bytes = bytes}, large);
  return !error && waits ? stream_synchronize(s) : error;
}
static int host_function(void* stream, void (*function)(void*), void* argument) {
  return add(stream, (struct job){.function = function, .argument = argument}, 1);
}
static int pin_memory(const void* at, size_t bytes, int can) {
  if (!can || !gpu_pins()) return INVALID;
  pthread_mutex_lock(&mutex);
  int i = 0;
  while (i < MOST_PINS && pins[i].bytes) ++i;
  if (i < MOST_PINS) pins[i] = (struct pin){at, bytes};
  pthread_mutex_unlock(&mutex);
  return i < MOST_PINS ? 0 : NO_MEMORY;
}
static int unpin_memory(const void* at) {
  pthread_mutex_lock(&mutex);
  struct pin* const pin = pin_of(at, 1);
  const int known = pin && pin->at == at;
  if (known) pin->bytes = 0;
  pthread_mutex_unlock(&mutex);
  return known ? 0 : INVALID;
}
static const char* text_of(int error) {
  return error == ILLEGAL ? "an illegal memory access was encountered" : "invalid argument";
}
