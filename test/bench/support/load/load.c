/*
 * Loads one server over many connections from one thread, cheaply enough to keep it busy from a single core: HTTP requests, or heartbeats
 * over WebSockets (RFC 6455, each frame with its own mask). A connection sends again as soon as it is answered or, with a rate, when its turn
 * comes; then the time of an answer counts from that turn, even if the previous answer was late.
 *
 * Its options are `name=value` strings, which run.mjs explains.
 * It prints one line of JSON.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 8192, TOP_US = 1000000, OPENING_AT_ONCE = 100, OPENING_SECONDS = 60 };
#define SECOND 1000000000ull

struct text {
  const char *at;
  size_t size;
};

struct texts {
  struct text *items;
  size_t count;
};

struct connection {
  enum { UPGRADING, WELCOMED, IDLE, WAITING, GONE } state;
  int fd;
  size_t number, welcomes, filled;
  /* Bytes of an answer's body that have not arrived yet. */
  size_t body;
  /* When the unanswered heartbeat was sent, or should have been sent. */
  uint64_t since;
  /* How many heartbeats came due while one was unanswered, and when the first of them was due. */
  uint64_t owed, due;
  char in[ROOM + 1];
};

static struct connection *connections;
static size_t count, ready, begun, lost;
static struct texts requests, greetings;
static struct text beat, answer, ping, pong, upgrade;
static size_t welcomes, turns;
static double rate;
static int epoll, is_running, port, has_own_addresses;
static uint64_t answered, answered_in_all, failed;
static uint32_t histogram[TOP_US + 1];
static char first_failure[600];

static uint64_t now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (uint64_t)at.tv_sec * SECOND + (uint64_t)at.tv_nsec;
}

static void die(const char *what) {
  perror(what);
  exit(1);
}

static void fail(const char *what, size_t size) {
  failed += 1;
  if (first_failure[0] != 0) return;
  if (size >= sizeof first_failure) size = sizeof first_failure - 1;
  for (size_t n = 0; n < size; n += 1)
    first_failure[n] = isprint((unsigned char)what[n]) && what[n] != '"' && what[n] != '\\' ? what[n] : ' ';
}

static void lose(struct connection *c, const char *why) {
  fail(why, strlen(why));
  if (c->state < IDLE) ready += 1;
  c->state = GONE;
  lost += 1;
  close(c->fd);
}

static void send_bytes(struct connection *c, const char *at, size_t size) {
  if (send(c->fd, at, size, MSG_NOSIGNAL) != (ssize_t)size) lose(c, "the server does not read what it is sent");
}

static uint32_t random_mask(void) {
  static uint32_t state = 2463534242;
  state ^= state << 13;
  state ^= state >> 17;
  return state ^= state << 5;
}

static void send_frame(struct connection *c, int opcode, struct text payload) {
  unsigned char frame[ROOM];
  uint32_t mask = random_mask();
  size_t head = payload.size < 126 ? 2 : 4;
  if (payload.size > ROOM - 8) exit(1);
  frame[0] = (unsigned char)(0x80 | opcode);
  frame[1] = (unsigned char)(0x80 | (head == 2 ? payload.size : 126));
  if (head == 4) {
    frame[2] = (unsigned char)(payload.size >> 8);
    frame[3] = (unsigned char)payload.size;
  }
  memcpy(frame + head, &mask, 4);
  for (size_t n = 0; n < payload.size; n += 1)
    frame[head + 4 + n] = (unsigned char)(payload.at[n] ^ ((unsigned char *)&mask)[n & 3]);
  send_bytes(c, (char *)frame, head + 4 + payload.size);
}

static void send_beat(struct connection *c, uint64_t since) {
  c->state = WAITING;
  c->since = since;
  if (beat.at != NULL) {
    send_frame(c, 1, beat);
    return;
  }
  struct text request = requests.items[turns++ % requests.count];
  send_bytes(c, request.at, request.size);
}

static uint64_t period(void) { return (uint64_t)((double)count * 1e9 / rate); }

static void come_due(struct connection *c, uint64_t at) {
  if (c->state == IDLE) send_beat(c, at);
  else if (c->owed++ == 0) c->due = at;
}

static void take_answer(struct connection *c) {
  uint64_t at = now();
  uint64_t us = (at - c->since + 500) / 1000;
  answered += 1;
  histogram[us < TOP_US ? us : TOP_US] += 1;
  c->state = IDLE;
  if (rate == 0) {
    send_beat(c, at);
  } else if (c->owed > 0) {
    uint64_t due = c->due;
    c->owed -= 1;
    c->due += period();
    send_beat(c, due);
  }
}

static void become_ready(struct connection *c) {
  c->state = IDLE;
  ready += 1;
}

static int begins(const char *at, size_t size, struct text with) {
  return size >= with.size && memcmp(at, with.at, with.size) == 0;
}

/* Each of these returns the size of the first message received, 0 while it is incomplete. */

static size_t take_upgrade(struct connection *c, const char *at, size_t size) {
  const char *end = memmem(at, size, "\r\n\r\n", 4);
  if (end == NULL) return 0;
  if (memcmp(at, "HTTP/1.1 101", 12) != 0) {
    fail(at, size);
    lose(c, "not upgraded");
    return 0;
  }
  c->state = WELCOMED;
  if (greetings.count > 0) send_frame(c, 1, greetings.items[c->number % greetings.count]);
  if (c->welcomes == 0) become_ready(c);
  return (size_t)(end - at) + 4;
}

static size_t take_reply(struct connection *c, const char *at, size_t size) {
  const char *end = memmem(at, size, "\r\n\r\n", 4);
  if (end == NULL) return 0;
  const char *length = strcasestr(at, "\r\ncontent-length: ");
  if (length == NULL || length > end) {
    fail(at, size);
    lose(c, "an answer without Content-Length");
    return 0;
  }
  if (memcmp(at, "HTTP/1.1 200", 12) != 0) fail(at, size);
  c->body = strtoul(length + 18, NULL, 10);
  if (c->body == 0) take_answer(c);
  return (size_t)(end - at) + 4;
}

static size_t take_body(struct connection *c, size_t size) {
  size_t part = size < c->body ? size : c->body;
  c->body -= part;
  if (c->body == 0) take_answer(c);
  return part;
}

static size_t take_frame(struct connection *c, const char *at, size_t size) {
  const unsigned char *bytes = (const unsigned char *)at;
  if (size < 2) return 0;
  size_t head = (bytes[1] & 127) < 126 ? 2 : 4;
  if (size < head) return 0;
  struct text payload = {at + head, head == 2 ? (size_t)bytes[1] : (size_t)bytes[2] << 8 | bytes[3]};
  if (size < head + payload.size) return 0;
  int opcode = bytes[0] & 15;
  if (opcode == 9) send_frame(c, 10, payload);
  else if (opcode == 8) lose(c, "closed");
  else if (opcode == 1 && c->state == WELCOMED) {
    c->welcomes -= 1;
    if (c->welcomes == 0) become_ready(c);
  } else if (opcode == 1 && c->state == WAITING && begins(payload.at, payload.size, answer)) take_answer(c);
  else if (opcode == 1 && ping.size > 0 && payload.size == ping.size && begins(payload.at, payload.size, ping))
    send_frame(c, 1, pong);
  else if (opcode == 1) fail(payload.at, payload.size);
  return head + payload.size;
}

static size_t take(struct connection *c, const char *at, size_t size) {
  if (c->body > 0) return take_body(c, size);
  if (beat.at == NULL) return take_reply(c, at, size);
  return c->state == UPGRADING ? take_upgrade(c, at, size) : take_frame(c, at, size);
}

static void receive(struct connection *c) {
  ssize_t came = recv(c->fd, c->in + c->filled, ROOM - c->filled, MSG_DONTWAIT);
  if (came < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (came <= 0) {
    lose(c, "a connection was closed by the server");
    return;
  }
  c->filled += (size_t)came;
  c->in[c->filled] = 0;
  size_t used = 0, size;
  while (c->state != GONE && used < c->filled && (size = take(c, c->in + used, c->filled - used)) > 0) used += size;
  c->filled -= used;
  if (c->filled > 0 && used > 0) memmove(c->in, c->in + used, c->filled);
  if (c->filled == ROOM && c->state != GONE) lose(c, "a head or a frame is longer than 8 KiB");
}

static void begin(struct connection *c) {
  struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(0x7f000001)};
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
  int on = 1;
  c->number = (size_t)(c - connections);
  c->welcomes = welcomes;
  c->fd = socket(AF_INET, SOCK_STREAM, 0);
  if (c->fd < 0) die("socket");
  setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (has_own_addresses) {
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f010001 + (uint32_t)c->number)};
    if (bind(c->fd, (struct sockaddr *)&own, sizeof own) != 0) die("bind");
  }
  if (connect(c->fd, (struct sockaddr *)&server, sizeof server) != 0) die("connect");
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event) != 0) die("epoll_ctl");
  c->state = UPGRADING;
  if (beat.at == NULL) become_ready(c);
  else send_bytes(c, upgrade.at, upgrade.size);
}

/* Waits for data, but not past `until`, and handles it. */
static void wait_and_take(uint64_t until) {
  struct epoll_event events[256];
  uint64_t at = now();
  struct timespec left = {0, until > at ? (long)(until - at < SECOND / 100 ? until - at : SECOND / 100) : 0};
  struct pollfd anything = {epoll, POLLIN, 0};
  int came = epoll_wait(epoll, events, 256, 0);
  /* epoll_wait counts milliseconds, which is too coarse for frequent turns. */
  if (came == 0 && ppoll(&anything, 1, &left, NULL) > 0) came = epoll_wait(epoll, events, 256, 0);
  for (int n = 0; n < came; n += 1) {
    struct connection *c = events[n].data.ptr;
    if (c->state != GONE) receive(c);
  }
}

static void open_all(void) {
  uint64_t until = now() + OPENING_SECONDS * SECOND;
  while (ready < count) {
    while (begun < count && begun - ready < OPENING_AT_ONCE) begin(&connections[begun++]);
    if (now() > until) {
      fail("not all connections were opened", 31);
      break;
    }
    wait_and_take(until);
  }
}

/* Runs the load for this long. */
static void run(double seconds) {
  static uint64_t next;
  static size_t beats;
  uint64_t until = now() + (uint64_t)(seconds * 1e9);
  if (!is_running) {
    is_running = 1;
    next = now();
    for (size_t n = 0; rate == 0 && n < count; n += 1)
      if (connections[n].state == IDLE) send_beat(&connections[n], now());
  }
  for (uint64_t at = now(); at < until && lost < count; at = now()) {
    if (rate > 0)
      for (; next <= at; next += (uint64_t)(1e9 / rate)) come_due(&connections[beats++ % count], next);
    wait_and_take(rate > 0 && next < until ? next : until);
  }
}

static uint64_t thread_ns(const char *pid, const char *thread) {
  char path[600];
  unsigned long long ns = 0;
  snprintf(path, sizeof path, "/proc/%s/task/%s/schedstat", pid, thread);
  FILE *file = fopen(path, "r");
  if (file == NULL) return 0;
  if (fscanf(file, "%llu", &ns) != 1) ns = 0;
  fclose(file);
  return ns;
}

static uint64_t process_ns(const char *pid) {
  char path[64];
  uint64_t ns = 0;
  snprintf(path, sizeof path, "/proc/%s/task", pid);
  DIR *threads = opendir(path);
  if (threads == NULL) return 0;
  for (struct dirent *entry = readdir(threads); entry != NULL; entry = readdir(threads))
    if (isdigit((unsigned char)entry->d_name[0])) ns += thread_ns(pid, entry->d_name);
  closedir(threads);
  return ns;
}

static double own_seconds(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static size_t quantile_us(double share) {
  double left = (double)answered * share;
  for (size_t us = 0; us <= TOP_US; us += 1) {
    left -= histogram[us];
    if (left <= 0) return us;
  }
  return TOP_US;
}

static const char *option(int argc, char **argv, const char *name) {
  size_t size = strlen(name);
  for (int n = 1; n < argc; n += 1)
    if (strncmp(argv[n], name, size) == 0 && argv[n][size] == '=') return argv[n] + size + 1;
  return "";
}

static struct text to_text(const char *value) { return (struct text){value[0] == 0 ? NULL : value, strlen(value)}; }

/* Reads the NUL-separated texts of a file; none if there is no file. */
static struct texts read_texts(const char *path) {
  struct texts texts = {NULL, 0};
  char *line = NULL;
  size_t room = 0;
  ssize_t size;
  if (path[0] == 0) return texts;
  FILE *file = fopen(path, "r");
  if (file == NULL) die(path);
  while ((size = getdelim(&line, &room, 0, file)) > 0) {
    if (line[size - 1] == 0) size -= 1;
    if ((texts.count & (texts.count - 1)) == 0)
      texts.items = realloc(texts.items, (texts.count == 0 ? 1 : texts.count * 2) * sizeof *texts.items);
    texts.items[texts.count++] = (struct text){memcpy(malloc((size_t)size + 1), line, (size_t)size), (size_t)size};
  }
  fclose(file);
  return texts;
}

int main(int argc, char **argv) {
  const char *pid = option(argc, argv, "pid");
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  port = atoi(option(argc, argv, "port"));
  count = strtoul(option(argc, argv, "connections"), NULL, 10);
  rate = atof(option(argc, argv, "rate"));
  has_own_addresses = atoi(option(argc, argv, "ownAddresses"));
  requests = read_texts(option(argc, argv, "requests"));
  greetings = read_texts(option(argc, argv, "greetings"));
  upgrade = to_text(option(argc, argv, "upgrade"));
  beat = to_text(option(argc, argv, "beat"));
  answer = to_text(option(argc, argv, "answer"));
  ping = to_text(option(argc, argv, "ping"));
  pong = to_text(option(argc, argv, "pong"));
  welcomes = strtoul(option(argc, argv, "welcomes"), NULL, 10);
  connections = calloc(count, sizeof *connections);
  epoll = epoll_create1(0);
  if (connections == NULL || epoll < 0 || (beat.at == NULL && requests.count == 0)) die("no load");

  open_all();
  run(atof(option(argc, argv, "warmUp")));
  answered_in_all = answered;
  answered = 0;
  memset(histogram, 0, sizeof histogram);
  uint64_t process = process_ns(pid), loop = thread_ns(pid, pid), since = now();
  double own = own_seconds();
  run(atof(option(argc, argv, "seconds")));
  double seconds = (double)(now() - since) / 1e9;
  printf("{\"answered\":%llu,\"answeredInAll\":%llu,\"seconds\":%.6f,\"cpu\":%.9f,\"loop\":%.9f,\"loadCpu\":%.6f,",
         (unsigned long long)answered, (unsigned long long)(answered_in_all + answered), seconds,
         (double)(process_ns(pid) - process) / 1e9, (double)(thread_ns(pid, pid) - loop) / 1e9, own_seconds() - own);
  printf("\"p50Us\":%zu,\"p99Us\":%zu,\"p999Us\":%zu,\"failed\":%llu,\"firstFailure\":\"%s\"}\n", quantile_us(0.5), quantile_us(0.99),
         quantile_us(0.999), (unsigned long long)failed, first_failure);
  return 0;
}
