#!/usr/bin/env bash
# One exchange with the daemon: sends a request as a frame, and prints the JSON of the answer.
#
#     exchange.sh METHOD [PARAMS]     such as: exchange.sh item.show '{"name":"github.com/token"}'
#
# It needs socat, or nc with Unix sockets. The socket is $COFFER_SOCKET, else that of the user, or for root
# that of the machine.
set -euo pipefail

runtime=${XDG_RUNTIME_DIR:-/run/user/$UID}
((UID != 0)) || runtime=/run
socket=${COFFER_SOCKET:-$runtime/coffer/coffer.sock}
request="{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$1\",\"params\":${2:-{\}}}"

# A frame: the bytes of the JSON and of the payload as big-endian 32-bit numbers, then the JSON, then the payload.
frame() {
    local count
    count=$(printf %s "$request" | wc --bytes)
    # shellcheck disable=SC2059
    printf "$(printf '%08x%08x' "$count" 0 | sed 's/../\\x&/g')"
    printf %s "$request"
}

# The daemon answers even if the sending side is closed after the request.
if command -v socat >/dev/null; then
    frame | socat -t 60 - "UNIX-CONNECT:$socket"
else
    frame | nc -N -U "$socket"
fi | tail --bytes=+9
echo
