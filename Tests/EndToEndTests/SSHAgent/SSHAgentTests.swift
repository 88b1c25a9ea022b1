import CofferTestSupport
import Foundation
import Testing

/// The keys of the vault, as OpenSSH and git use them by `coffer ssh-agent`.
@Suite struct SSHAgentTests {
    private let agent: AgentProcess

    init() throws { agent = try AgentProcess() }

    @Test(arguments: AgentKeyKind.allCases)
    func `an imported key is listed, and signs for ssh-keygen and git`(kind: AgentKeyKind) throws {
        try agent.succeed("\(kind.making); coffer ssh-agent import key && mv key gone")
        #expect(try agent.succeed("ssh-add -L") == agent.succeed("cat key.pub"))
        let verified = try agent.succeed(
            """
            set -e; echo "me@here $(cat key.pub)" >allowed; echo message >message
            ssh-keygen -q -Y sign -n file -f key.pub message 2>/dev/null
            ssh-keygen -Y verify -f allowed -I me@here -n file -s message.sig <message
            git init -q r; cd r; git config user.name me; git config user.email me@here; git config gpg.format ssh
            git config user.signingKey ../key.pub; git config gpg.ssh.allowedSignersFile ../allowed
            git commit -q --allow-empty -S -m signed; git verify-commit HEAD 2>&1
            """
        )
        #expect(verified.contains("Good \"file\" signature for me@here"), "\(verified)")
        #expect(verified.contains("Good \"git\" signature for me@here"), "\(verified)")
        #expect(
            try agent.run("echo other >other; ssh-keygen -Y verify -f allowed -I me@here -n file -s message.sig <other")
                .status != 0
        )
        #expect(agent.errors == "")
    }

    @Test(arguments: AgentKeyKind.allCases)
    func `an sshd on this machine accepts a login`(kind: AgentKeyKind) throws {
        try agent.succeed("\(kind.making); coffer ssh-agent import key && mv key gone")
        let login = try agent.run(
            """
            set -e; for t in ed25519 rsa; do ssh-keygen -q -t $t -N '' -f host_$t; done
            [ "$(id -u)" != 0 ] || mkdir -p /run/sshd
            printf '%s\\n' "HostKey $PWD/host_ed25519" "HostKey $PWD/host_rsa" "AuthorizedKeysFile $PWD/key.pub" 'PidFile none' 'UsePAM no' \
                'StrictModes no' 'PasswordAuthentication no' 'PermitRootLogin yes' 'ListenAddress 127.0.0.1' >config
            for try in {1..20}; do
                port=$((20000 + RANDOM % 40000)); /usr/sbin/sshd -D -e -f config -p $port 2>sshd.log & server=$!
                trap 'kill $server 2>/dev/null' EXIT
                for i in {1..100}; do
                    grep -q 'Server listening' sshd.log && break 2; kill -0 $server 2>/dev/null || break; sleep 0.05
                done
            done
            for t in ed25519 rsa; do echo "[127.0.0.1]:$port $(cut -d' ' -f1,2 host_$t.pub)" >>known; done
            for algorithm in ssh-ed25519 rsa-sha2-512; do
                ssh -F none -p $port -o UserKnownHostsFile=known -o BatchMode=yes -o HostKeyAlgorithms=$algorithm 127.0.0.1 \
                    echo "in by $algorithm" </dev/null
            done
            """
        )
        let log = try String(contentsOfFile: agent.daemon.directory.appending("sshd.log"), encoding: .utf8)
        #expect(login.text == "in by ssh-ed25519\nin by rsa-sha2-512\n", "\(login.errors)\(log)\(agent.errors)")
    }

    @Test func `a key logs in with a certificate, which the agent keeps or ssh reads from its file`() throws {
        try agent.succeed(
            """
            \(AgentKeyKind.p256.making); ssh-keygen -q -t ed25519 -N '' -f ca; ssh-keygen -q -s ca -I me -n $(id -un) key.pub
            ssh-add -q key; mkdir gone; mv key gone
            """
        )
        let offered = try agent.succeed("ssh-add -L | cut -d' ' -f1,2")
        #expect(try agent.succeed("cut -d' ' -f1,2 key.pub key-cert.pub") == offered)
        let login = try agent.run(
            """
            set -e; ssh-keygen -q -t ed25519 -N '' -f host_ed25519
            [ "$(id -u)" != 0 ] || mkdir -p /run/sshd
            printf '%s\\n' "HostKey $PWD/host_ed25519" "TrustedUserCAKeys $PWD/ca.pub" 'AuthorizedKeysFile none' 'PidFile none' \
                'UsePAM no' 'StrictModes no' 'PasswordAuthentication no' 'PermitRootLogin yes' 'ListenAddress 127.0.0.1' >config
            for try in {1..20}; do
                port=$((20000 + RANDOM % 40000)); /usr/sbin/sshd -D -e -f config -p $port 2>sshd.log & server=$!
                trap 'kill $server 2>/dev/null' EXIT
                for i in {1..100}; do
                    grep -q 'Server listening' sshd.log && break 2; kill -0 $server 2>/dev/null || break; sleep 0.05
                done
            done
            echo "[127.0.0.1]:$port $(cut -d' ' -f1,2 host_ed25519.pub)" >known
            login="ssh -F none -p $port -o UserKnownHostsFile=known -o BatchMode=yes"
            $login 127.0.0.1 echo kept </dev/null; mv key-cert.pub gone
            ssh-add -q -d gone/key; ssh-add -L || true; mv gone/key-cert.pub .; ssh-add -q gone/key
            $login 127.0.0.1 echo without </dev/null 2>/dev/null || echo out
            $login -o CertificateFile=key-cert.pub 127.0.0.1 echo read </dev/null
            """
        )
        #expect(login.text == "kept\nThe agent has no identities.\nout\nread\n", "\(login)\(agent.errors)")
    }

    @Test(arguments: [
        ("-t rsa -b 2048 -m PEM -N secret", "secret"), ("-t ecdsa -b 256 -m PKCS8 -N ''", ""),
        ("-t ecdsa -b 384 -m PKCS8 -N 'a b c'", "a b c"), ("-t ed25519 -N secret", "secret"),
        ("-t rsa -b 3072 -N secret -a 2 -Z aes128-cbc", "secret"), ("-t rsa -b 4096 -m PKCS8 -N secret", "secret"),
        ("-t ecdsa -b 256 -m PEM -N secret", "secret"), ("-t ed25519 -N secret -a 2 -Z aes192-ctr", "secret"),
        ("-t ecdsa -b 384 -m PEM -N ''", ""),
    ])
    func `every format of ssh-keygen is imported, also encrypted`(options: String, passphrase: String) throws {
        try agent.succeed("ssh-keygen -q \(options) -C it -f key; printf '%s\\n' '\(passphrase)' >phrase")
        let wrong = try agent.run("coffer ssh-agent import key mine --passphrase-fd 3 3</dev/null")
        #expect((wrong.status == 0) == passphrase.isEmpty)
        if wrong.status != 0 { try agent.succeed("coffer ssh-agent import key mine --passphrase-fd 3 3<phrase") }
        #expect(try agent.succeed("ssh-add -L | cut -d' ' -f1,2") == agent.succeed("cut -d' ' -f1,2 key.pub"))
        // It never leaves the daemon again.
        #expect(try agent.run("coffer keychain find --class key --label mine").status == 77)
        let again = try agent.run("coffer ssh-agent import key again --passphrase-fd 3 3<phrase")
        #expect(again.status == 73)
    }

    @Test func `what SSH has no use for is not imported`() throws {
        try agent.succeed("openssl genpkey -algorithm X25519 -out x; : >empty")
        try agent.succeed("ssh-keygen -q -t ecdsa -b 521 -N '' -f big")
        try agent.succeed("\(AgentKeyKind.ed25519.making); openssl pkey -in x -pubout -out public")
        for file in ["x", "big", "key.pub", "public", "empty"] {
            #expect(try agent.run("coffer ssh-agent import \(file)").status == 64, "\(file)")
        }
        #expect(try agent.run("ssh-add -l").text == "The agent has no identities.\n")
    }

    @Test func `a key that is locked is listed, and does not sign, and the reason is on standard error`() throws {
        try agent.succeed("\(AgentKeyKind.p256.making); coffer ssh-agent import key && coffer lock --now")
        #expect(try agent.succeed("ssh-add -L") == agent.succeed("cat key.pub"))
        #expect(try agent.run("ssh-keygen -Y sign -n file -f key.pub key.pub").status != 0)
        #expect(agent.errors.contains("error: 'it' (SHA256:"), "\(agent.errors)")
        #expect(agent.errors.contains("locked"), "\(agent.errors)")
        try agent.daemon.connect().unlock()
        try agent.succeed("ssh-keygen -q -Y sign -n file -f key.pub key.pub 2>/dev/null")
    }

    @Test func `the agent goes on with the next daemon, whose names are sealed before the first unlock`() throws {
        try agent.succeed("\(AgentKeyKind.ed25519.making); coffer ssh-agent import key")
        try agent.daemon.restart()
        #expect(try agent.run("ssh-add -l").errors.contains("agent refused operation"))
        #expect(agent.errors.contains("coffer unlock"), "\(agent.errors)")
        try agent.daemon.connect().unlock()
        #expect(try agent.succeed("ssh-add -L") == agent.succeed("cat key.pub"))
    }

    @Test func `of the keys of the vault, those marked as OpenSSH's are offered`() throws {
        let made = try agent.succeed("coffer keychain add --generate ed25519 --label made").prefix { $0 != "\n" }
        #expect(try agent.run("ssh-add -l").text == "The agent has no identities.\n")
        try agent.succeed("coffer keychain update --reference \(made) --set-attribute format=openssh")
        #expect(try agent.succeed("ssh-add -L").hasSuffix(" made\n"))
        try agent.succeed("ssh-add -L >key.pub; ssh-keygen -q -Y sign -n file -f key.pub key.pub 2>/dev/null")
    }

    @Test func `without a service manager, setup says so and changes nothing`() throws {
        let refused = try agent.run("XDG_RUNTIME_DIR=$PWD coffer ssh-agent setup; echo $?; ls -A .config 2>/dev/null")
        #expect(refused.text == "69\n" && refused.errors.contains("no service manager of yours"), "\(refused)")
    }

    @Test func `the agent serves on the socket that the service manager passes`() throws {
        try agent.succeed("\(AgentKeyKind.ed25519.making); coffer ssh-agent import key")
        let listed = try agent.succeed(
            """
            systemd-socket-activate --listen=$PWD/passed --setenv=COFFER_SOCKET coffer ssh-agent >out 2>/dev/null & activator=$!
            trap 'kill $activator' EXIT
            for i in {1..100}; do [ -S passed ] && break; sleep 0.05; done
            SSH_AUTH_SOCK=$PWD/passed ssh-add -L
            """
        )
        #expect(listed == (try agent.succeed("cat key.pub")))
        #expect(try agent.succeed("cat out") == "")
    }
}
