// The C library and POSIX, as far as host code names them.
extern FILE *stdout, *stderr, *stdin;
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
#define EOF (-1)
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
struct timeval { long tv_sec, tv_usec; };
struct timezone { int tz_minuteswest, tz_dsttime; };
struct timespec { long tv_sec, tv_nsec; };
struct tm { int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst; };
struct rusage { timeval ru_utime, ru_stime; long ru_maxrss; };
enum { RUSAGE_SELF, CLOCK_REALTIME = 0, CLOCK_MONOTONIC };
typedef unsigned long pthread_t;
typedef struct { long data[8]; } pthread_mutex_t, pthread_cond_t, pthread_attr_t, pthread_barrier_t;
