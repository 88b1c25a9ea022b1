import CofferTestSupport
import Foundation
import Testing

/// skopeo, with a registry of its own that wants a password.
@Suite struct RegistryTests {
    /// An image of one layer with one file, as skopeo has one in a directory.
    private static let image = """
        import gzip, hashlib, io, json, os, tarfile
        os.makedirs("image")
        def blob(content):
            digest = hashlib.sha256(content).hexdigest()
            open(f"image/{digest}", "wb").write(content)
            return {"digest": f"sha256:{digest}", "size": len(content)}
        memory = io.BytesIO()
        with tarfile.open(fileobj=memory, mode="w") as archive:
            member = tarfile.TarInfo("hello")
            member.size = 5
            archive.addfile(member, io.BytesIO(b"hello"))
        tree = memory.getvalue()
        config = {
            "architecture": "amd64", "os": "linux",
            "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(tree).hexdigest()]},
        }
        oci = "application/vnd.oci.image."
        manifest = {
            "schemaVersion": 2, "mediaType": oci + "manifest.v1+json",
            "config": {"mediaType": oci + "config.v1+json", **blob(json.dumps(config).encode())},
            "layers": [{"mediaType": oci + "layer.v1.tar+gzip", **blob(gzip.compress(tree, mtime=0))}],
        }
        json.dump(manifest, open("image/manifest.json", "w"))
        open("image/version", "w").write("Directory Transport Version: 1.1\\n")
        """

    private let scene: CredentialScene

    init() throws {
        scene = try CredentialScene(
            preamble: """
                htpasswd -niB nina <needle >passwords; python3 image.py
                printf '%s\\n' 'version: 0.1' 'storage: {filesystem: {rootdirectory: ./registry}}' 'http: {addr: "127.0.0.1:0"}' \
                    'auth: {htpasswd: {realm: here, path: ./passwords}}' >config.yml
                docker-registry serve config.yml >log 2>&1 & registry=$!
                trap 'kill $registry' EXIT
                for i in {1..500}; do grep -q 'listening on' log && break; sleep 0.02; done
                host=$(grep -o 'listening on 127[0-9.:]*' log | cut -d ' ' -f 3)
                export REGISTRY_AUTH_FILE=$HOME/auth.json; echo '{}' >auth.json
                touch registries.conf; skopeo() { command skopeo --insecure-policy --registries-conf registries.conf "$@"; }

                """
        )
        try scene.write(randomText(24) + "\n", to: "needle")
        try scene.write(Self.image, to: "image.py")
    }

    /// How skopeo is told of the helper: for one registry, or for all.
    private static let configurations = [
        #"printf '{"credHelpers":{"%s":"coffer"}}' $host >auth.json"#,
        #"echo 'credential-helpers = ["coffer"]' >registries.conf"#,
    ]

    @Test(arguments: configurations)
    func `skopeo logs in, pushes and pulls with what the keychain keeps, and no process shows it`(line: String) throws {
        let all = try scene.run(
            """
            \(line)
            skopeo login --tls-verify=false --username nina --password-stdin $host <needle | tail -n 1
            (for i in {1..40}; do \(CredentialScene.sweep); sleep 0.05; done >found) & sweeper=$!
            skopeo copy --quiet --dest-tls-verify=false dir:image docker://$host/a:1; echo "push $?"
            skopeo copy --quiet --src-tls-verify=false docker://$host/a:1 dir:back; echo "pull $?"
            diff -r image back >/dev/null; cmp image/manifest.json back/manifest.json; echo "same $?"
            skopeo login --get-login $host; wait $sweeper; cat found
            grep --count '"auths"' auth.json; docker-credential-coffer list | sed "s/$host/host/"
            skopeo logout $host; docker-credential-coffer list
            skopeo copy --quiet --src-tls-verify=false docker://$host/a:1 dir:again 2>/dev/null; echo "without $?"
            """
        )
        let lines = all.text.split(separator: "\n").map(String.init)
        #expect(lines.prefix(5) == ["Login Succeeded!", "push 0", "pull 0", "same 0", "nina"], "\(all)")
        #expect(lines.contains(#"{"host":"nina"}"#) && !all.text.contains("/proc/"), "\(all)")
        #expect(lines.suffix(2) == ["{}", "without 1"] && lines.contains("0"), "\(all)")
    }

    @Test(.enabled(if: InstalledProgram.docker.isInstalled, "docker is not installed"))
    func `docker itself logs in, asks the registry and logs out, and its configuration has no secret`() throws {
        let all = try scene.run(
            """
            mkdir .docker; echo '{"credsStore": "coffer"}' >.docker/config.json
            docker login --username nina --password-stdin $host <needle 2>/dev/null; docker-credential-coffer list | sed "s/$host/host/"
            printf '{"credHelpers":{"%s":"coffer"}}' $host >auth.json
            skopeo copy --quiet --dest-tls-verify=false dir:image docker://$host/a:1
            docker manifest inspect --insecure $host/a:1 | grep -q sha256 && echo inspected; grep -rlF "$(cat needle)" .docker || echo nowhere
            docker logout $host >/dev/null; docker-credential-coffer list
            docker manifest inspect --insecure $host/a:1 2>&1 | grep -oE 'unauthorized|no basic auth' | head -1
            """,
            InstalledProgram.docker.environment(after: scene.links)
        )
        #expect(all.text.hasPrefix("Login Succeeded\n{\"host\":\"nina\"}\ninspected\nnowhere\n{}\n"), "\(all)")
        #expect(all.text.count { $0 == "\n" } == 6, "\(all)")
    }

    @Test func `skopeo does not read credsStore, which is docker's`() throws {
        let all = try scene.run(
            """
            echo '{"credsStore": "coffer"}' >auth.json; mkdir .docker; cp auth.json .docker/config.json
            printf '{"ServerURL":"%s","Username":"nina","Secret":"%s"}' $host "$(cat needle)" | docker-credential-coffer store
            skopeo copy --quiet --dest-tls-verify=false dir:image docker://$host/a:1 2>&1 | grep -o 'unauthorized\\|authentication required' | head -1
            """
        )
        #expect(all.text.count { $0 == "\n" } == 1, "\(all)")
    }

    @Test func `a wrong password is not stored, and a locked vault gives none`() throws {
        let all = try scene.run(
            """
            \(Self.configurations[0])
            echo wrong | skopeo login --tls-verify=false --username nina --password-stdin $host 2>/dev/null; docker-credential-coffer list
            skopeo login --tls-verify=false --username nina --password-stdin $host <needle >/dev/null; coffer lock --now
            skopeo copy --quiet --dest-tls-verify=false dir:image docker://$host/a:1; echo $?
            """
        )
        #expect(all.text == "{}\nlocked\n1\n" && all.errors.contains("the vault is locked"), "\(all)")
    }
}
