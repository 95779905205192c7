/* A Level Zero of the tests' own, with two drivers: the first has no memory. The memory belongs to
 * a context of the program's, and the driver finds it by its address in any context of its own, as
 * that of Intel does. The second of three groups of queues is the first that only copies. */
#define PINS 0 /* the API has no such function */
#include "device_memory.h"

enum { LOST = 0x70000001, UNSUPPORTED = 0x78000004 };
static char first, second, gpu; /* their addresses are drivers, and a device */
struct context {
  void* driver;
};
struct list {
  struct stream* stream;
  int closed;
};
struct queue {
  struct list* running;
};
static __thread int last_error;

static int kept(int error) {
  if (error) last_error = error;
  return error;
}
void* gpu_state(void) { return NULL; }

int zeInit(uint32_t flags) { return flags > 1; }
int zeDriverGet(uint32_t* count, void** drivers) {
  *count = 2;
  if (drivers) drivers[0] = &first, drivers[1] = &second;
  return 0;
}
struct desc { /* of contexts, queues, lists and groups of queues */
  uint32_t kind;
  const void* next;
  uint32_t number[5];
};
int zeContextCreate(void* driver, const struct desc* about, void** context) {
  if (about->kind != 0xd || about->next) return kept(UNSUPPORTED);
  struct context* const made = malloc(sizeof *made);
  made->driver = driver;
  *context = made;
  return 0;
}
struct properties {
  uint32_t kind;
  void* next;
  uint32_t type;
  uint64_t id, page_size;
};
int zeMemGetAllocProperties(struct context* context, const void* at, struct properties* found,
                            void** device) {
  if (found->kind != 0x17 || found->next) return kept(UNSUPPORTED);
  const int here = context->driver == &second && inside(at);
  found->type = here ? 2 : 0;
  if (here) *device = &gpu;
  return 0;
}
struct group {
  uint32_t kind;
  void* next;
  uint32_t flags;
  size_t pattern;
  uint32_t queues;
};
int zeDeviceGetCommandQueueGroupProperties(void* device, uint32_t* count, struct group* groups) {
  if (device != &gpu) return kept(UNSUPPORTED);
  *count = 3;
  for (uint32_t i = 0; groups && i < 3; ++i) {
    if (groups[i].kind != 6) return kept(UNSUPPORTED);
    groups[i].flags = i == 0 ? 3 : 2;
    groups[i].queues = 1;
  }
  return 0;
}
int zeCommandQueueCreate(struct context* context, void* device, const struct desc* about,
                         struct queue** queue) {
  if (context->driver != &second || device != &gpu || about->kind != 0xe || about->number[0] != 1 ||
      about->number[1] != 0) {
    return kept(UNSUPPORTED);
  }
  *queue = calloc(1, sizeof **queue);
  return 0;
}
int zeCommandListCreate(struct context* context, void* device, const struct desc* about,
                        struct list** list) {
  if (context->driver != &second || device != &gpu || about->kind != 0xf || about->number[0] != 1) {
    return kept(UNSUPPORTED);
  }
  *list = calloc(1, sizeof **list);
  return stream_create((void**)&(*list)->stream, 1);
}
int zeCommandListAppendMemoryCopy(struct list* list, void* to, const void* from, size_t bytes,
                                  void* event, uint32_t waits, void** events) {
  if (list->closed || event || waits || events || inside(to) == inside(from)) {
    return kept(UNSUPPORTED);
  }
  return kept(copy_later(list->stream, inside(to) ? reach(to) : to,
                         inside(from) ? reach(from) : from, bytes)
                  ? LOST
                  : 0);
}
int zeCommandListClose(struct list* list) {
  if (list->closed) return kept(UNSUPPORTED);
  list->closed = 1;
  return 0;
}
int zeCommandQueueExecuteCommandLists(struct queue* queue, uint32_t count, struct list** lists,
                                      void* fence) {
  if (count != 1 || fence || !lists[0]->closed || queue->running) return kept(UNSUPPORTED);
  queue->running = lists[0];
  return 0;
}
int zeCommandQueueSynchronize(struct queue* queue, uint64_t timeout) {
  if (timeout != UINT64_MAX) return kept(UNSUPPORTED);
  const int error = queue->running ? stream_synchronize(queue->running->stream) : 0;
  queue->running = NULL;
  return kept(error ? LOST : 0);
}
int zeCommandListReset(struct list* list) {
  pthread_mutex_lock(&mutex);
  if (list->stream->done < list->stream->jobs) abort(); /* they run */
  pthread_mutex_unlock(&mutex);
  list->closed = 0;
  return 0;
}
int zeCommandListDestroy(struct list* list) {
  struct stream* const s = list->stream;
  pthread_mutex_lock(&mutex);
  s->jobs = s->wanted; /* without those that were not executed */
  while (s->done < s->jobs) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  stream_destroy(list->stream);
  free(list);
  return 0;
}
int zeCommandQueueDestroy(struct queue* queue) {
  if (queue->running) abort();
  free(queue);
  return 0;
}
int zeDriverGetLastErrorDescription(void* driver, const char** text) {
  if (driver != &second) return UNSUPPORTED;
  *text = text_of(last_error == LOST ? ILLEGAL : INVALID);
  return 0;
}
