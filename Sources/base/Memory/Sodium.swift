internal import CSodium

/// Initialises libsodium.
///
/// Every caller of libsodium uses this first.
package enum Sodium {
    /// Whether libsodium is initialised; it is initialised on first use, once per process.
    ///
    /// libsodium fails here only if the kernel provides no random numbers, and then nothing can be trusted.
    package static let isReady: Bool = {
        guard sodium_init() >= 0 else { fatalError("libsodium could not be initialised: no source of random numbers") }
        return true
    }()

    /// Initialises libsodium if necessary.
    package static func prepare() { precondition(isReady) }
}
