// A wrong clock for one process, by LD_PRELOAD: the time of day is off by as many seconds as the file named by
// SHIFTED_CLOCK says, read at every call, so that the clock jumps while the process runs. The monotonic clock is right,
// as it is where somebody sets a machine's clock.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int file = -1;
static long last;

__attribute__((constructor)) static void open_file(void) {
  const char *path = getenv("SHIFTED_CLOCK");
  if (path) file = open(path, O_RDONLY | O_CLOEXEC);
}

static long shift(void) {
  char text[32];
  const ssize_t count = pread(file, text, sizeof text - 1, 0);
  // Nothing is there for the moment in which it is written anew.
  if (count <= 0) return __atomic_load_n(&last, __ATOMIC_RELAXED);
  text[count] = 0;
  const long seconds = strtol(text, NULL, 10);
  __atomic_store_n(&last, seconds, __ATOMIC_RELAXED);
  return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  const int code = (int)syscall(SYS_clock_gettime, clock, time);
  if (code == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += shift();
  return code;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  const int code = clock_gettime(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return code;
}

time_t time(time_t *result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
