internal import CSodium

/// The one place that initialises libsodium.
///
/// Everything that calls into it asks here first.
package enum Sodium {
    /// Initialised, once and for the process, when first looked at.
    ///
    /// libsodium fails here only where the kernel gives no random numbers, and then nothing can be trusted.
    package static let isReady: Bool = {
        guard sodium_init() >= 0 else { fatalError("libsodium could not be initialised: no source of random numbers") }
        return true
    }()

    /// Initialises libsodium if that was not done yet.
    package static func prepare() { precondition(isReady) }
}
