package import CofferCore

/// A value that is a JSON object on the wire: the parameters of a method, or its result.
package protocol WireObject: Sendable {
    /// The parameters that must not be `null`, because absence would do more.
    static var neverNull: [String] { get }
    /// The parameters inside which `null` removes something; it is an error inside all others.
    static var removedByNull: [String] { get }

    /// Reads the members that it knows.
    init(reading reader: inout ParameterReader) throws(CofferError)

    /// The object. Members without a value are omitted.
    var json: JSONObject { get }
}

extension WireObject {
    package static var neverNull: [String] { [] }
    package static var removedByNull: [String] { [] }

    /// Parses the parameters of a request: an unknown member is an error, and so is `null` inside of one.
    package init(params: JSONObject) throws(CofferError) {
        try params.refuseNulls(at: Self.neverNull, exceptInside: Self.removedByNull)
        var reader = ParameterReader(params)
        try self.init(reading: &reader)
        try reader.finish()
    }

    /// Parses the result of a request: an unknown member of a newer daemon is ignored.
    package init(result: JSONValue) throws(CofferError) {
        guard let object = result.objectValue else {
            throw CofferError(.protocolViolation, "the daemon's answer is not an object")
        }
        var reader = ParameterReader(object, refusesUnknown: false)
        do throws(CofferError) {
            try self.init(reading: &reader)
        } catch {
            throw CofferError(.protocolViolation, "the daemon's answer makes no sense: \(error.message)")
        }
    }
}

// MARK: - What the tables of a method say

/// The state of the vault that a method requires.
package enum VaultNeed: Sendable {
    /// Any state.
    case nothing
    /// There is no vault.
    case noVault
    /// There is a keybag. Its device key may be missing.
    case keybag
    /// There is a usable vault.
    case vault
    /// There is a usable vault with a passcode.
    case passcode
    /// There is a usable vault without a passcode.
    case noPasscode
    /// There is a vault with a passcode to replace, or one that needs a new passcode with its new device key.
    case passcodeToReplace
}

/// What a request depends on.
package enum MethodClaim: Equatable, Sendable {
    /// A subject of reads and changes.
    package enum Subject: Equatable, Sendable {
        /// Everything that is stored.
        case catalog
        /// Everything in the keychain.
        case keychain
        /// The names in these parameters; everything that is stored if none of them is given.
        case names([String])
        /// The handle in the parameter of that name.
        case handle
    }

    /// It does not wait for other requests, and none waits for it.
    case nothing
    /// All earlier requests are answered first, and all later ones wait.
    case barrier
    /// A barrier which makes, opens or changes the keys: the vault carries out one at a time.
    case keys
    /// It reads something.
    case reads(Subject)
    /// It changes something.
    case changes(Subject)
}

/// The allowed size of a payload.
package struct PayloadRule: Equatable, Sendable {
    /// The minimum and the maximum size.
    package let bytes: ClosedRange<Int>
    /// Whether the payload is required.
    package let isRequired: Bool
}

/// The use of a descriptor that comes with a request.
package struct DescriptorRule: Equatable, Sendable {
    /// What the daemon does with a descriptor.
    package enum Access: Sendable {
        /// The daemon reads from it.
        case read
        /// The daemon writes to it.
        case write
    }

    /// What the daemon does with it.
    package let access: Access
    /// Whether the descriptor is required.
    package let isRequired: Bool
}
