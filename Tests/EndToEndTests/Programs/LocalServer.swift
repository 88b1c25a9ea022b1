/// A server in Python on this machine for the programs that log in somewhere.
///
/// It is a registry of cargo and npm, an index of Python and the server of kubectl, and wants the secret in the file `needle`.
/// It writes its port into `port`, and a line for each request into `log`. It speaks TLS if there is a `certificate`.
enum LocalServer {
    /// Starts it before the lines of a script, and ends it behind them.
    static let preamble = """
        rm -f port log; python3 server.py >server.out 2>&1 & server=$!; trap 'kill $server' EXIT
        for i in {1..500}; do [ -s port ] && break; sleep 0.02; done; port=$(cat port)

        """

    static let script = """
        import base64, http.server, io, json, os, ssl, zipfile
        SECRET = open("needle").read().strip()
        BASIC = "Basic " + base64.b64encode(("nina:" + SECRET).encode()).decode()
        def wheel():
            memory = io.BytesIO()
            with zipfile.ZipFile(memory, "w") as archive:
                archive.writestr("thing.py", "print('it works')\\n")
                archive.writestr("thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: thing\\nVersion: 1.0\\n")
                archive.writestr("thing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
                archive.writestr("thing-1.0.dist-info/RECORD", "")
            return memory.getvalue()
        def answer(path, host):
            if path == "/index/config.json":
                return {"dl": f"http://{host}/dl", "api": f"http://{host}", "auth-required": True}
            if path.startswith("/simple/thing"):
                return '<a href="/thing-1.0-py3-none-any.whl">thing-1.0-py3-none-any.whl</a>'.encode()
            if path.endswith(".whl"):
                return wheel()
            return {"ok": True, "username": "nina", "gitVersion": "v1.32.0", "major": "1", "minor": "32"}
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                given = self.headers.get("Authorization")
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                isRight = given in [SECRET, "Bearer " + SECRET, BASIC]
                open("log", "a").write(f"{self.command} {'none' if given is None else 'right' if isRight else 'wrong'}\\n")
                content = answer(self.path, self.headers["Host"]) if isRight else {"errors": [{"detail": "no"}]}
                kind = "text/html" if isinstance(content, bytes) else "application/json"
                content = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(200 if isRight else 401)
                if not isRight:
                    self.send_header("WWW-Authenticate", 'Basic realm="here"')
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            do_PUT = do_DELETE = do_HEAD = do_GET
            def log_message(self, *_):
                pass
        listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if os.path.exists("certificate"):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain("certificate", "key")
            listener.socket = context.wrap_socket(listener.socket, server_side=True)
        open("port.new", "w").write(str(listener.server_address[1]))
        os.rename("port.new", "port")
        listener.serve_forever()
        """
}
