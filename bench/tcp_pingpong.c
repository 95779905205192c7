/* The same pingpong over one plain TCP connection on loopback, by a parent and its child: what
 * the wire itself costs. usage: tcp_pingpong BYTES ROUNDS */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static void need(int right, const char* what) {
  if (!right) {
    perror(what);
    exit(1);
  }
}

static void give(int fd, const char* data, size_t n) {
  while (n > 0) {
    const ssize_t k = write(fd, data, n);
    need(k > 0, "write");
    data += k;
    n -= (size_t)k;
  }
}

static void take(int fd, char* data, size_t n) {
  while (n > 0) {
    const ssize_t k = read(fd, data, n);
    need(k > 0, "read");
    data += k;
    n -= (size_t)k;
  }
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: tcp_pingpong BYTES ROUNDS\n");
    return 2;
  }
  const size_t bytes = (size_t)atol(argv[1]);
  const int rounds = atoi(argv[2]), batches = 11, on = 1;
  char* buffer = calloc(1, bytes);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof address;
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  need(bind(listener, (struct sockaddr*)&address, length) == 0, "bind");
  need(listen(listener, 1) == 0, "listen");
  need(getsockname(listener, (struct sockaddr*)&address, &length) == 0, "getsockname");
  const pid_t child = fork();
  if (child == 0) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    need(connect(fd, (struct sockaddr*)&address, length) == 0, "connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    for (int i = 0; i < rounds * batches; ++i) {
      take(fd, buffer, bytes);
      give(fd, buffer, bytes);
    }
    return 0;
  }
  const int fd = accept(listener, NULL, NULL);
  need(fd >= 0, "accept");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  for (int batch = 0; batch < batches; ++batch) {
    const double start = now();
    for (int i = 0; i < rounds; ++i) {
      give(fd, buffer, bytes);
      take(fd, buffer, bytes);
    }
    if (batch > 0) printf("%.4f\n", (now() - start) / rounds / 2 * 1e6);
  }
  int status;
  waitpid(child, &status, 0);
  return status == 0 ? 0 : 1;
}
