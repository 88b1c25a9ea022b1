package import CofferKeychain

/// The contexts that have an authentication, or had one.
package struct Authentications {
    /// They are not kept alive: their connections may have ended.
    private struct Entry { weak var context: AuthenticationContext? }

    private var entries: [Entry] = []
    /// How often all contexts were ended, which detects that during an authentication.
    package private(set) var endCount = 0

    /// Notes a context that was authenticated.
    package mutating func note(_ context: AuthenticationContext) {
        entries.removeAll { $0.context == nil || $0.context === context }
        entries.append(Entry(context: context))
    }

    /// Ends all contexts, including attempts in progress.
    ///
    /// With very many connections, of which few are authenticated, only those few cost time.
    package mutating func endAll() {
        endCount += 1
        for entry in entries { entry.context?.end() }
        entries = []
    }
}
