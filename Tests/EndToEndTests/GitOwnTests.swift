import CofferTestSupport
import Foundation
import Testing

/// git's own tests of credential helpers, `t0303-credential-external.sh` of its source.
///
/// The cases are those that `t0302-credential-store.sh` has as well; the rest of that tests the files of
/// `git-credential-store`.
@Suite struct GitOwnTests {
    private static let areThere: Bool = {
        let cache = ProcessInfo.processInfo.environment["COFFER_TESTS_CACHE"] ?? "/var/cache/coffer-tests"
        let kept = (try? FileManager.default.contentsOfDirectory(atPath: cache)) ?? []
        return kept.contains { $0.hasPrefix("git-") && !$0.hasSuffix(".new") }
    }()

    @Test(.enabled(if: areThere, "git's own tests are not there: packaging/tools/git-tests gets them"))
    func `git's own tests of a helper pass`() throws {
        let scene = try CredentialScene()
        let all = try scene.run(
            """
            \(Project.root)/packaging/tools/git-tests $PWD/git && cd git/t && GIT_TEST_INSTALLED=/usr/bin GIT_TEST_CREDENTIAL_HELPER=coffer \\
            GIT_TEST_CREDENTIAL_HELPER_SETUP="PATH=\(scene.links):$PATH; COFFER_SOCKET=$COFFER_SOCKET; export PATH COFFER_SOCKET" \\
            sh t0303-credential-external.sh --no-chain-lint
            """
        )
        #expect(all.status == 0 && all.text.contains("# passed all 12 test(s)"), "\(all)")
        #expect(!all.text.contains("not ok"), "\(all)")
    }
}
