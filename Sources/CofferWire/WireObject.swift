package import CofferCore

/// A value that travels as a JSON object: the parameters of a method, or its result.
package protocol WireObject: Sendable {
    /// Reads the members it knows.
    ///
    /// - Parameter reader: The object.
    init(reading reader: inout ParameterReader) throws(CofferError)

    /// The object. Members without a value are left out.
    var json: JSONObject { get }
}

extension WireObject {
    /// Reads the parameters of a request: a member that the method does not know is an error.
    ///
    /// - Parameter params: The object.
    package init(params: JSONObject) throws(CofferError) {
        var reader = ParameterReader(params)
        try self.init(reading: &reader)
        try reader.finish()
    }

    /// Reads the result of a request: a member that a newer daemon added is passed over.
    ///
    /// - Parameter result: The value.
    package init(result: JSONValue) throws(CofferError) {
        guard let object = result.objectValue else {
            throw CofferError(.protocolViolation, "the daemon's answer is not an object")
        }
        var reader = ParameterReader(object)
        do throws(CofferError) {
            try self.init(reading: &reader)
        } catch {
            throw CofferError(.protocolViolation, "the daemon's answer makes no sense: \(error.message)")
        }
    }
}

/// The parameters of one method: they name the method and what it answers.
package protocol MethodParameters: WireObject {
    /// What the method answers.
    associatedtype Result: WireObject
    /// The method.
    static var method: Method { get }
}

/// How the content of an item was delivered.
package enum Delivery: String, CaseIterable, Sendable {
    /// As the payload of the reply.
    case payload
    /// Written to the descriptor that was passed.
    case descriptor
}

// MARK: - What the tables of a method say

/// What state the vault has to be in.
package enum VaultNeed: Sendable {
    /// Any state.
    case nothing
    /// There is no vault.
    case noVault
    /// There is a keybag. Its device key may be missing.
    case keybag
    /// There is a vault that can be used.
    case vault
    /// There is one that can be used, with a passcode.
    case passcode
    /// There is one that can be used, without a passcode.
    case noPasscode
    /// There is one with a passcode to replace, or one that wants a new passcode with its new device.
    case passcodeToReplace
}

/// What a request has to do with.
package enum MethodClaim: Equatable, Sendable {
    /// Something that may be changed.
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

    /// It waits for nothing, and nothing waits for it.
    case nothing
    /// Every earlier request is answered first, and every later one waits.
    case barrier
    /// It reads something.
    case reads(Subject)
    /// It changes something.
    case changes(Subject)
}

/// How many bytes a payload has.
package struct PayloadRule: Equatable, Sendable {
    /// The fewest and the most bytes.
    package let bytes: ClosedRange<Int>
    /// Whether the payload has to be there in every case.
    package let isRequired: Bool
}

/// What a descriptor that comes with a request is for.
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
    /// Whether the descriptor has to be there.
    package let isRequired: Bool
}
