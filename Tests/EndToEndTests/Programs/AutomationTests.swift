import CofferTestSupport
import Foundation
import Testing

/// ansible-vault, aws, kubectl and cron, as `proto-docs/PROGRAMS.md` has them.
@Suite struct AutomationTests {
    private let scene: CredentialScene

    init() throws {
        scene = try CredentialScene(preamble: "set -e\n")
        try scene.write(LocalServer.script, to: "server.py")
        try scene.write(randomText(24) + "\n", to: "needle")
    }

    private func run(_ script: String, _ program: InstalledProgram? = nil) throws -> CommandResult {
        try scene.run(script, program?.environment(after: scene.links) ?? [:])
    }

    @Test func `ansible-vault gets its password by a client script`() throws {
        let all = try run(
            """
            cat >bin/coffer-client <<'END'
            \(try Recipe.block(of: "ansible-vault"))
            END
            chmod +x bin/coffer-client; coffer put ansible/dev <needle >&2; echo 'answer: 42' >vars.yml
            \(try Recipe.block(2, of: "ansible-vault")) >&2; head -1 vars.yml; ansible-vault view --vault-id dev@bin/coffer-client vars.yml
            coffer lock --now >&2; ansible-vault view --vault-id dev@bin/coffer-client vars.yml || echo locked
            """
        )
        #expect(all.text == "$ANSIBLE_VAULT;1.2;AES256;dev\nanswer: 42\nlocked\n", "\(all)")
        #expect(all.errors.contains("the vault is locked"), "\(all)")
    }

    @Test(.enabled(if: InstalledProgram.aws.isInstalled, "aws is not installed"))
    func `aws gets its keys by a process`() throws {
        let all = try run(
            """
            printf '{"Version": 1, "AccessKeyId": "AKIAEXAMPLE", "SecretAccessKey": "%s"}' $(cat needle) | coffer put aws/work >&2
            mkdir .aws; cat >.aws/config <<'END'
            \(try Recipe.block(of: "aws"))
            END
            aws configure list --profile work | awk '/_key/ {print $1, $2, $3}'; tail -c 5 needle
            """,
            .aws
        )
        let end = all.text.suffix(5).trimmingCharacters(in: .newlines)
        let stars = String(repeating: "*", count: 16)
        #expect(
            all.text
                == "access_key \(stars)MPLE custom-process\nsecret_key \(stars)\(end) custom-process\n\(end)\n",
            "\(all)"
        )
    }

    private static let hasExec = InstalledProgram.kubectl.can(
        "kubectl version --client 2>/dev/null | grep -qE 'v1[.](2[2-9]|[3-9])'"
    )

    @Test(.enabled(if: hasExec, "there is no kubectl that knows client.authentication.k8s.io/v1: 1.22 or later"))
    func `kubectl gets its token by a process`() throws {
        let all = try run(
            """
            openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out certificate -days 2 -subj /CN=here -addext subjectAltName=IP:127.0.0.1 2>/dev/null
            \(LocalServer.preamble)
            printf '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "%s"}}' $(cat needle) \
                | coffer put kube/nina >&2
            cat >config <<END
            apiVersion: v1
            kind: Config
            current-context: here
            contexts: [{name: here, context: {cluster: here, user: nina}}]
            clusters: [{name: here, cluster: {server: "https://127.0.0.1:$port", certificate-authority: certificate}}]
            \(try Recipe.block(of: "kubectl"))
            END
            KUBECONFIG=$PWD/config kubectl get --raw /version | grep -o v1.32.0; sort -u log
            """,
            .kubectl
        )
        #expect(all.text == "v1.32.0\nGET right\n", "\(all)")
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give cron other tables")) func `cron runs a job with a secret`()
        throws
    {
        let table = try Recipe.block(of: "cron").replacing("0 3 * * *", with: "* * * * *")
        // The programs of the job write down what they get.
        let all = try run(
            """
            mkdir tables others; : >table; coffer put backup/restic <needle >&2
            printf '#!/bin/sh\\n$RESTIC_PASSWORD_COMMAND >%s/got; echo "$@" >%s/words\\n' $PWD $PWD >bin/restic; chmod +x bin/restic
            cat >tables/root <<END
            COFFER_SOCKET=$COFFER_SOCKET
            PATH=$PWD/bin:/usr/bin:/bin
            \(table)
            END
            chmod 600 tables/root
            unshare --mount bash -c 'mount -t tmpfs none /run; mount --bind tables /var/spool/cron/crontabs
                mount --bind others /etc/cron.d; mount --bind table /etc/crontab; exec timeout 90 cron -f' & cron=$!
            for i in {1..850}; do [ -s words ] && break; sleep 0.1; done; kill $cron
            cmp got needle && cat words
            """
        )
        #expect(all.text.hasSuffix("backup /home\n"), "\(all)")
    }
}
