#!/usr/bin/env python3
"""A client of Coffer in plain Python, after PROTOCOL.md: only the standard library.

    coffer.py init | unlock             the passcode: asked for, or a line of standard input
    coffer.py status | lock | watch     watch prints what happens to the vault, a line each
    coffer.py put NAME | get NAME       a small content, by payload: standard input and output
    coffer.py store NAME FILE           a file of any size, by descriptor
    coffer.py fetch NAME FILE           the same way back

The socket: $COFFER_SOCKET; for root /run/coffer/coffer.sock; else coffer/coffer.sock in $XDG_RUNTIME_DIR or /run/user/UID.
Exit status: that of `coffer` for the same error, as in CLI.md.
"""

import array
import getpass
import json
import os
import socket
import struct
import sys

MAXIMUM_PAYLOAD = 262144
STATUS = {"param": 64, "dataTooLarge": 64, "decode": 65, "itemNotFound": 66, "notAvailable": 69, "internal": 70,
          "duplicateItem": 73, "io": 74, "diskFull": 74, "interactionNotAllowed": 75, "authFailed": 77,
          "interactionRequired": 77, "missingEntitlement": 77}


class CofferError(Exception):
    """An error of the daemon: a stable code, and a message for people."""

    def __init__(self, code, message, hint=None):
        super().__init__(message)
        self.code, self.hint = code, hint


class Coffer:
    """A connection. It makes one request at a time; after watch(), notifications may arrive in between."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)
        self.last = 0
        self.events = []

    def call(self, method, params=None, payload=b"", descriptor=None):
        """Makes a request; returns its result and the payload that came with it."""
        self.last += 1
        request = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params or {}}
        text = json.dumps(request).encode()
        frame = struct.pack(">II", len(text), len(payload)) + text + payload
        rights = []
        if descriptor is not None:
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))]
        # The descriptor is passed with the first bytes of its frame.
        sent = self.socket.sendmsg([frame], rights)
        self.socket.sendall(frame[sent:])
        while True:
            reply, data = self.receive()
            if "method" in reply:
                self.events.append(reply)
            elif "error" in reply:
                error = reply["error"]
                detail = error.get("data", {})
                raise CofferError(detail.get("code", "internal"), error["message"], detail.get("hint"))
            elif reply.get("id") == self.last:
                return reply["result"], data

    def receive(self):
        """The next frame: its JSON and its payload. Unknown members are ignored."""
        json_count, payload_count = struct.unpack(">II", self.read(8))
        return json.loads(self.read(json_count)), self.read(payload_count)

    def read(self, count):
        data = bytearray()
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise CofferError("io", "the daemon closed the connection")
            data += piece
        return bytes(data)

    def watch(self):
        """Yields notifications as they arrive."""
        self.call("vault.watch")
        while True:
            while self.events:
                yield self.events.pop(0)["method"]
            event, _ = self.receive()
            yield event["method"]


def passcode():
    if sys.stdin.isatty():
        return getpass.getpass("Passcode: ").encode()
    return sys.stdin.buffer.readline().rstrip(b"\n")


def socket_path():
    runtime = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.geteuid()}"
    own = f"{runtime}/coffer/coffer.sock" if os.geteuid() != 0 and os.path.isdir(runtime) else None
    return os.environ.get("COFFER_SOCKET") or own or "/run/coffer/coffer.sock"


def main(verb, *arguments):
    coffer = Coffer(socket_path())
    if verb == "init":
        # The recovery key is shown once; noRecoveryKey declines it.
        _, recovery_key = coffer.call("vault.init", payload=passcode())
        print(recovery_key.decode())
    elif verb == "unlock":
        print(coffer.call("vault.unlock", payload=passcode())[0]["state"])
    elif verb == "lock":
        print(coffer.call("vault.lock", {"grace": 0})[0]["state"])
    elif verb == "status":
        print(coffer.call("vault.status")[0]["state"])
    elif verb == "watch":
        for event in coffer.watch():
            print(event, flush=True)
    elif verb == "put":
        content = sys.stdin.buffer.read(MAXIMUM_PAYLOAD)
        result, _ = coffer.call("item.put", {"name": arguments[0]}, payload=content)
        print(result["store"], result["rule"])
    elif verb == "get":
        sys.stdout.buffer.write(coffer.call("item.get", {"name": arguments[0]})[1])
    elif verb == "store":
        with open(arguments[1], "rb") as file:
            params = {"name": arguments[0], "asFile": True}
            result, _ = coffer.call("item.put", params, descriptor=file.fileno())
        print(result["store"], result["rule"])
    elif verb == "fetch":
        with open(arguments[1], "wb") as file:
            result, data = coffer.call("item.get", {"name": arguments[0]}, descriptor=file.fileno())
            # A keychain secret is always the payload, even if a descriptor was passed.
            file.write(data)
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    try:
        main(*(sys.argv[1:] or ["help"]))
    except CofferError as error:
        print("error: " + str(error), *(["hint: " + error.hint] if error.hint else []), sep="\n", file=sys.stderr)
        sys.exit(STATUS.get(error.code, 76))
    except KeyboardInterrupt:
        sys.exit(130)
