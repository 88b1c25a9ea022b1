import CofferTestSupport
import Foundation
import Testing

/// A repository behind a real sshd of this machine, with keys of its own.
@Suite struct BackupSSHTests {
    /// Starts sshd on a port of this machine, until the shell ends, and has the client use its keys.
    private static let server = """
        set -e
        for key in host mine; do ssh-keygen -q -t ed25519 -N '' -f $key; done
        [ "$(id -u)" != 0 ] || mkdir -p /run/sshd
        printf '%s\\n' "HostKey $PWD/host" "AuthorizedKeysFile $PWD/mine.pub" 'PidFile none' 'UsePAM no' 'StrictModes no' \
            'PasswordAuthentication no' 'PermitRootLogin yes' 'ListenAddress 127.0.0.1' \
            "Subsystem sftp internal-sftp $DENIED" >config
        for try in {1..20}; do
            port=$((20000 + RANDOM % 40000)); /usr/sbin/sshd -D -e -f config -p $port 2>sshd.log & server=$!
            trap 'kill $server 2>/dev/null' EXIT
            for i in {1..100}; do
                grep -q 'Server listening' sshd.log && break 2; kill -0 $server 2>/dev/null || break; sleep 0.05
            done
        done
        echo "[127.0.0.1]:$port $(cut -d' ' -f1,2 host.pub)" >known
        printf '%s\\n' 'Host *' "IdentityFile $PWD/mine" 'IdentitiesOnly yes' "UserKnownHostsFile $PWD/known" >client
        mkdir -p programs
        printf '#!/bin/sh\\nexec /usr/bin/sftp -F %s "$@"\\n' "$PWD/client" >programs/sftp
        chmod +x programs/sftp
        export PATH="$PWD/programs:$PATH"
        place=sftp://$(id -un)@127.0.0.1:$port$PWD/repository

        """

    @Test(arguments: [
        (options: "", denied: ""),
        (options: "--append-only", denied: "-P remove,rmdir,rename,posix-rename,setstat,fsetstat,symlink,hardlink"),
    ])
    func `a vault is backed up over ssh, checked and restored`(options: String, denied: String) throws {
        let daemon = try DaemonProcess()
        try daemon.directory.write(Array("pass one".utf8), to: "pass")
        try daemon.directory.write(Array("four words of it".utf8), to: "phrase")
        try daemon.directory.write((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }, to: "photo")
        let script = """
            coffer init --kdf interactive --passcode-fd 3 --no-recovery-key 3<pass
            printf one | coffer put mail/token
            coffer put photos/one photo
            coffer backup init $place --kdf interactive \(options) --passcode-fd 3 --passphrase-fd 4 --recovery-key-file key \
                3<pass 4<phrase
            coffer lock --now
            coffer backup create
            coffer backup create
            coffer backup status
            coffer backup check --read-data
            coffer backup restore --to plain --passphrase-fd 4 4<phrase
            cmp plain/photos/one photo
            cat plain/mail/token
            """
        let done = try runCommand(
            "/usr/bin/setsid",
            ["--wait", "timeout", "120", "bash", "-c", Self.server + script],
            environment: [
                "COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin",
                "XDG_CONFIG_HOME": daemon.directory.appending("settings"), "DENIED": denied,
            ],
            directory: daemon.directory.path
        )
        let log = String(decoding: daemon.directory.contents("sshd.log") ?? [], as: UTF8.self)
        #expect(done.status == 0, "\(done.text)\(done.errors)\(log)")
        #expect(done.text.contains("stored snapshot 1, ") && done.text.contains(": nothing has changed\n"))
        #expect(done.text.contains("all of it read") && done.text.hasSuffix("one"), "\(done.text)\(done.errors)")
        #expect(daemon.directory.contents("repository/config")?.count == 271)
    }
}
