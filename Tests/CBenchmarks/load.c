#define _GNU_SOURCE
#include "CBenchmarks.h"
#include "common.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

// A client costs the same whatever it talks to, and as little as may be: what is compared is the daemons. Requests are
// made beforehand, but for the digits; answers are looked at as far as it takes to tell a result from an error.

enum { answer_bytes = 32 << 10, most_samples = 1 << 21 };

typedef struct {
    int socket;
    uint64_t asked;
    size_t arrived;
    uint8_t answer[answer_bytes];
} client;

typedef struct {
    const bench_place *places;
    size_t place_count;
    bench_load load;
    uint8_t *frame;
    size_t frame_bytes;
    uint64_t begun;
    uint64_t deadline;
    uint64_t sent;
    uint32_t *samples;
    bench_outcome outcome;
} run;

static int fail(run *run, const char *what) {
    snprintf(run->outcome.trouble, sizeof run->outcome.trouble, "%s: %s", what, strerror(errno));
    return -1;
}

static int connect_client(run *run, client *client, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return fail(run, "can't connect");
    }
    strcpy(address.sun_path, path);
    client->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client->socket < 0) return fail(run, "can't make a socket");
    if (connect(client->socket, (struct sockaddr *)&address, sizeof address) < 0) return fail(run, "can't connect");
    return 0;
}

/// Returns 1 where nothing is left to be asked.
static int ask(run *run, client *client) {
    if (run->sent == run->load.requests) return 1;
    const uint64_t place = run->load.seed ? scatter(run->load.seed + run->sent) : run->sent;
    const uint64_t item = run->load.first + place % run->load.span;
    for (size_t index = 0; index < run->place_count; index++) {
        const bench_place *digits = &run->places[index];
        uint64_t rest = item / (uint64_t)digits->divisor;
        for (int32_t digit = digits->width - 1; digit >= 0; digit--, rest /= 10)
            run->frame[digits->offset + (size_t)digit] = (uint8_t)('0' + rest % 10);
    }
    client->asked = now();
    if (run->sent > 0 && client->asked >= run->deadline) return 1;
    run->sent++;
    for (size_t done = 0; done < run->frame_bytes;) {
        const ssize_t count = send(client->socket, run->frame + done, run->frame_bytes - done, MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR) return fail(run, "can't send");
        if (count > 0) done += (size_t)count;
    }
    return 0;
}

/// Takes what has come. Returns 1 where the answer is whole.
static int take(run *run, client *client) {
    const ssize_t count =
        recv(client->socket, client->answer + client->arrived, answer_bytes - client->arrived, 0);
    if (count < 0) return errno == EINTR ? 0 : fail(run, "can't receive");
    if (count == 0) {
        errno = ECONNRESET;
        return fail(run, "the daemon closed the connection");
    }
    client->arrived += (size_t)count;
    if (client->arrived < header_bytes) return 0;
    const size_t json_bytes = load_big_endian(client->answer);
    const size_t payload_bytes = load_big_endian(client->answer + 4);
    const size_t all = header_bytes + json_bytes + payload_bytes;
    if (all > answer_bytes) {
        errno = EMSGSIZE;
        return fail(run, "an answer is too long");
    }
    if (client->arrived < all) return 0;

    const uint64_t taken = now() - client->asked;
    if (run->outcome.answers < most_samples) run->samples[run->outcome.answers] = (uint32_t)taken;
    run->outcome.answers++;
    client->arrived = 0;
    static const char expected[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":";
    if (payload_bytes != run->load.payload_bytes || json_bytes < sizeof expected - 1
        || memcmp(client->answer + header_bytes, expected, sizeof expected - 1) != 0) {
        snprintf(
            run->outcome.trouble, sizeof run->outcome.trouble, "an answer is wrong: %.*s, and %zu bytes",
            (int)(json_bytes < 200 ? json_bytes : 200), client->answer + header_bytes, payload_bytes
        );
        return -1;
    }
    return 1;
}

/// One client alone needs nobody to tell it that something came.
static int carry_out_alone(run *run, client *client) {
    while (1) {
        const int asked = ask(run, client);
        if (asked != 0) return asked < 0 ? -1 : 0;
        for (int whole = 0; whole == 0;)
            if ((whole = take(run, client)) < 0) return -1;
    }
}

static int carry_out(run *run, client *clients, int epoll) {
    int32_t waiting = 0;
    for (int32_t index = 0; index < run->load.clients; index++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &clients[index]};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, clients[index].socket, &event) < 0) return fail(run, "can't wait");
    }
    for (int32_t index = 0; index < run->load.clients; index++) {
        const int asked = ask(run, &clients[index]);
        if (asked < 0) return -1;
        waiting += asked == 0;
    }
    while (waiting > 0) {
        struct epoll_event events[64];
        const int count = epoll_wait(epoll, events, 64, -1);
        if (count < 0 && errno != EINTR) return fail(run, "can't wait");
        for (int index = 0; index < count; index++) {
            client *client = events[index].data.ptr;
            const int whole = take(run, client);
            if (whole < 0) return -1;
            if (whole == 0) continue;
            const int asked = ask(run, client);
            if (asked < 0) return -1;
            waiting -= asked;
        }
    }
    return 0;
}

static int compare(const void *one, const void *other) {
    const uint32_t left = *(const uint32_t *)one, right = *(const uint32_t *)other;
    return (left > right) - (left < right);
}

bench_outcome bench_run(
    const char *socket_path,
    const uint8_t *frame,
    size_t frame_bytes,
    const bench_place *places,
    size_t place_count,
    bench_load load
) {
    run run = {.places = places, .place_count = place_count, .load = load, .frame_bytes = frame_bytes};
    client *clients = calloc((size_t)load.clients, sizeof(client));
    run.frame = malloc(frame_bytes);
    run.samples = malloc(most_samples * sizeof(uint32_t));
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    int32_t connected = 0;
    if (clients == NULL || run.frame == NULL || run.samples == NULL || epoll < 0) {
        fail(&run, "can't begin");
    } else {
        memcpy(run.frame, frame, frame_bytes);
        while (connected < load.clients && connect_client(&run, &clients[connected], socket_path) == 0) connected++;
    }
    if (run.outcome.trouble[0] == 0) {
        run.begun = now();
        run.deadline = run.begun + load.nanoseconds;
        if (load.clients == 1)
            carry_out_alone(&run, clients);
        else
            carry_out(&run, clients, epoll);
        run.outcome.nanoseconds = now() - run.begun;
        const uint64_t count = run.outcome.answers < most_samples ? run.outcome.answers : most_samples;
        if (count > 0) {
            qsort(run.samples, count, sizeof(uint32_t), compare);
            run.outcome.median = run.samples[count / 2];
            run.outcome.late = run.samples[count - 1 - count / 20];
        }
    }
    for (int32_t index = 0; index < connected; index++) close(clients[index].socket);
    if (epoll >= 0) close(epoll);
    free(run.samples);
    free(run.frame);
    free(clients);
    return run.outcome;
}

void bench_keep_on_core(int process, int core) {
    static cpu_set_t all;
    if (CPU_COUNT(&all) == 0 && sched_getaffinity(0, sizeof all, &all) != 0) return;
    if (CPU_COUNT(&all) < 2) return;
    cpu_set_t chosen;
    CPU_ZERO(&chosen);
    int passed = 0;
    for (int index = 0; index < CPU_SETSIZE; index++)
        if (CPU_ISSET(index, &all) && (core < 0 || passed++ == core)) CPU_SET(index, &chosen);
    sched_setaffinity(process, sizeof chosen, &chosen);
}
