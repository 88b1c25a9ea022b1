// The floor of `coffer get`: connects to the daemon, asks for a secret, prints it, and does nothing else. No secret of a
// benchmark is one: nothing is wiped here.
//
// `packaging/bench cli` compiles it: client SOCKET NAME
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { header_bytes = 8, most_bytes = 64 << 10 };

static int complain(const char *what) {
    perror(what);
    return 1;
}

static uint32_t load_big_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

int main(int count, char **arguments) {
    static uint8_t frame[most_bytes];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (count != 3 || strlen(arguments[1]) >= sizeof address.sun_path) return 64;
    strcpy(address.sun_path, arguments[1]);
    const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server < 0 || connect(server, (struct sockaddr *)&address, sizeof address) < 0) return complain("connect");

    const int json_bytes = snprintf(
        (char *)frame + header_bytes, most_bytes - header_bytes,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"item.get\",\"params\":{\"name\":\"%s\"}}", arguments[2]
    );
    if (json_bytes < 0 || json_bytes > 0xffff) return 64;
    frame[2] = (uint8_t)(json_bytes >> 8);
    frame[3] = (uint8_t)json_bytes;
    const size_t request_bytes = header_bytes + (size_t)json_bytes;
    if (write(server, frame, request_bytes) != (ssize_t)request_bytes) return complain("write");

    size_t arrived = 0, whole = header_bytes;
    while (arrived < whole) {
        const ssize_t got = read(server, frame + arrived, most_bytes - arrived);
        if (got <= 0) return complain("read");
        arrived += (size_t)got;
        if (arrived >= header_bytes) whole = (size_t)header_bytes + load_big_endian(frame) + load_big_endian(frame + 4);
        if (whole > most_bytes) return complain("the answer is too long");
    }
    const uint32_t secret_bytes = load_big_endian(frame + 4);
    if (secret_bytes == 0) return complain("no secret came");
    return write(STDOUT_FILENO, frame + whole - secret_bytes, secret_bytes) == (ssize_t)secret_bytes ? 0 : 1;
}
