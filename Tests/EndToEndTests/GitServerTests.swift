import CofferTestSupport
import Foundation
import Testing

/// git itself, against a server of its own that wants a password.
@Suite struct GitServerTests {
    /// `git http-backend` behind basic authentication, on a port that it writes into `port`.
    ///
    /// At every request it searches the arguments and the variables of all processes for the password.
    private static let server = """
        import base64, http.server, os, subprocess
        PASSWORD = open("needle").read().strip()
        WANTED = "Basic " + base64.b64encode(("nina:" + PASSWORD).encode()).decode()
        def sweep():
            for process in filter(str.isdigit, os.listdir("/proc")):
                for name in ("cmdline", "environ"):
                    try:
                        with open(f"/proc/{process}/{name}", "rb") as file:
                            if PASSWORD.encode() in file.read():
                                open("leaks", "a").write(f"{process} {name}\\n")
                    except OSError:
                        pass
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                sweep()
                given = self.headers.get("Authorization")
                open("log", "a").write("none\\n" if given is None else "right\\n" if given == WANTED else "wrong\\n")
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if given != WANTED:
                    self.send_response(401)
                    self.send_header("WWW-Authenticate", 'Basic realm="here"')
                    self.send_header("Content-Length", "0")
                    return self.end_headers()
                path, _, query = self.path.partition("?")
                variables = {
                    "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": os.getcwd(), "GIT_HTTP_EXPORT_ALL": "1", "REMOTE_USER": "nina",
                    "PATH_INFO": path, "QUERY_STRING": query, "REQUEST_METHOD": self.command, "GIT_CONFIG_NOSYSTEM": "1",
                    "CONTENT_TYPE": self.headers.get("Content-Type") or "", "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding") or "",
                }
                answer = subprocess.run(["git", "http-backend"], input=body, env=variables, stdout=subprocess.PIPE).stdout
                head, _, content = answer.partition(b"\\r\\n\\r\\n")
                fields = dict(line.split(": ", 1) for line in head.decode().split("\\r\\n"))
                self.send_response(int(fields.pop("Status", "200").split()[0]))
                for name, value in fields.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            do_POST = do_GET
            def log_message(self, *_):
                pass
        listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        open("port.new", "w").write(str(listener.server_address[1]))
        os.rename("port.new", "port")
        listener.serve_forever()
        """

    private let scene: CredentialScene
    private let password = randomText(24)

    init() throws {
        scene = try CredentialScene(
            preamble: """
                rm -f port log; python3 server.py >/dev/null 2>&1 & server=$!
                for i in {1..500}; do [ -s port ] && break; sleep 0.02; done; port=$(cat port)
                git config --global credential.helper coffer; git config --global user.name n; git config --global user.email n@n
                git config --global init.defaultBranch main; url=http://127.0.0.1:$port/there.git
                [ -d there.git ] || git init --quiet --bare there.git
                trap 'kill $server' EXIT

                """
        )
        try scene.write(Self.server, to: "server.py")
        try scene.write(password + "\n", to: "needle")
    }

    @Test func `git clones and pushes with what the keychain has, and no process shows it`() throws {
        let all = try scene.run(
            """
            { printf 'protocol=http\\nhost=127.0.0.1:%s\\nusername=nina\\npassword=' $port; cat needle; } | git credential approve
            git clone --quiet $url here 2>/dev/null && cd here && git commit --quiet --allow-empty --message one && git push --quiet origin HEAD:main && cd ..
            git ls-remote --heads $url | wc -l; sort log | uniq -c | awk '{print $2}'; cat leaks 2>/dev/null; coffer list | wc -l
            """,
            ["GIT_TERMINAL_PROMPT": "0"]
        )
        #expect(all.text == "1\nnone\nright\n1\n", "\(all)")
    }

    @Test func `git uses a login that a person has stored, and no copy of it is made`() throws {
        let all = try scene.run(
            """
            coffer login add 127.0.0.1:$port/nina --username nina --url $url <needle; git config --global credential.useHttpPath true
            git ls-remote $url && sort -u log; coffer list | sed 's/:[0-9]*//'
            """,
            ["GIT_TERMINAL_PROMPT": "0"]
        )
        #expect(all.text.hasSuffix("none\nright\n127.0.0.1/nina\n"), "\(all)")
    }

    @Test func `a password that the server refuses is forgotten`() throws {
        let all = try scene.run(
            """
            printf 'protocol=http\\nhost=127.0.0.1:%s\\nusername=nina\\npassword=old\\n' $port | git credential approve
            coffer list; git ls-remote $url 2>/dev/null; echo $?; sort -u log; coffer list
            """,
            ["GIT_TERMINAL_PROMPT": "0"]
        )
        #expect(all.text == "login:nina@127.0.0.1\n128\nnone\nwrong\n", "\(all)")
    }

    @Test func `while the helper waits for its input, no process shows what it has read`() throws {
        let all = try scene.run(
            """
            { printf 'protocol=https\\nhost=example.com\\nusername=nina\\npassword='; cat needle; sleep 1; \(CredentialScene.sweep) >found; } | git-credential-coffer store; cat found
            printf 'protocol=https\\nhost=example.com\\n' | git-credential-coffer get | tail -n 1 | cut -d = -f 2 | cmp - needle && echo same
            """
        )
        #expect(all.text == "same\n", "\(all)")
    }
}
