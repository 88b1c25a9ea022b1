internal import CSystemd
internal import CofferCore
package import CofferMemory
package import CofferSystem
internal import Glibc

/// A message of the bus, whose arguments are read in order while it is being handled.
@safe
package struct BusMessage {
    let message: OpaquePointer

    init(_ message: OpaquePointer) { unsafe self.message = message }

    // MARK: The header

    /// The sender, as the bus reports it.
    package var sender: String? { unsafe sd_bus_message_get_sender(message).map { unsafe String(cString: $0) } }
    /// The object of a signal or a call.
    package var path: String? { unsafe sd_bus_message_get_path(message).map { unsafe String(cString: $0) } }
    /// The interface of a signal or a call.
    package var interface: String? { unsafe sd_bus_message_get_interface(message).map { unsafe String(cString: $0) } }
    /// The name of a signal or a method.
    package var member: String? { unsafe sd_bus_message_get_member(message).map { unsafe String(cString: $0) } }
    /// Whether it calls a method.
    package var isCall: Bool { unsafe sd_bus_message_is_method_call(message, nil, nil) > 0 }

    /// The number of the call that it replies to; `nil` if it is no reply.
    package var answeredCall: UInt64? {
        var number: UInt64 = 0
        return unsafe sd_bus_message_get_reply_cookie(message, &number) >= 0 ? number : nil
    }

    /// The error, if it is one.
    package var failure: BusFailure? {
        guard let error = unsafe sd_bus_message_get_error(message)?.pointee, let name = unsafe error.name else {
            return nil
        }
        return unsafe BusFailure(String(cString: name), error.message.map { unsafe String(cString: $0) } ?? "")
    }

    /// Has the memory of the message wiped when it is freed, because it holds a secret.
    package func markSecret() { unsafe sd_bus_message_sensitive(message) }

    // MARK: Arguments

    /// Reads a string.
    package func text() throws(BusFailure) -> String { try text(of: SD_BUS_TYPE_STRING) }

    /// Reads the path of an object.
    package func objectPath() throws(BusFailure) -> String { try text(of: SD_BUS_TYPE_OBJECT_PATH) }

    private func text(of type: some BinaryInteger) throws(BusFailure) -> String {
        var text: UnsafePointer<CChar>?
        guard unsafe sd_bus_message_read_basic(message, CChar(type), &text) > 0, let text = unsafe text else {
            throw .wrongArguments
        }
        guard unsafe strlen(text) <= Limits.busTextBytes else { throw .tooMuch }
        return unsafe String(cString: text)
    }

    /// Reads a boolean.
    package func flag() throws(BusFailure) -> Bool {
        var flag: Int32 = 0
        guard unsafe sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_BOOLEAN), &flag) > 0 else {
            throw .wrongArguments
        }
        return flag != 0
    }

    /// Reads a number of 32 bits.
    package func number() throws(BusFailure) -> UInt32 {
        var number: UInt32 = 0
        guard unsafe sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_UINT32), &number) > 0 else {
            throw .wrongArguments
        }
        return number
    }

    /// Reads a number of 64 bits.
    package func longNumber() throws(BusFailure) -> UInt64 {
        var number: UInt64 = 0
        guard unsafe sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_UINT64), &number) > 0 else {
            throw .wrongArguments
        }
        return number
    }

    /// Reads a descriptor, and duplicates it.
    package func descriptor() throws(BusFailure) -> OwnedDescriptor {
        var number: Int32 = -1
        guard unsafe sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_UNIX_FD), &number) > 0 else {
            throw .wrongArguments
        }
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw BusFailure(bus: "LimitsExceeded", "too many files are open") }
        return OwnedDescriptor(owning: copy)
    }

    /// Copies an array of bytes into locked memory.
    ///
    /// - Parameter limit: How many bytes there may be.
    /// - Returns: The bytes; `nil` for none.
    package func secret(upTo limit: Int) throws(BusFailure) -> SecretBytes? {
        var start: UnsafeRawPointer?
        var count = 0
        guard unsafe sd_bus_message_read_array(message, CChar(SD_BUS_TYPE_BYTE), &start, &count) >= 0 else {
            throw .wrongArguments
        }
        if count == 0 { return nil }
        guard count <= limit else { throw BusFailure(bus: "LimitsExceeded", "there are more than \(limit) bytes") }
        do { return try unsafe SecretBytes(copying: UnsafeRawBufferPointer(start: start, count: count).bytes) } catch {
            throw BusFailure(bus: "NoMemory", "no memory for secrets can be locked")
        }
    }

    // MARK: Containers

    /// Begins to read an array.
    ///
    /// - Parameter type: The type of its elements.
    package func enterArray(of type: String) throws(BusFailure) { try enter(SD_BUS_TYPE_ARRAY, type) }

    /// Begins to read a structure.
    ///
    /// - Parameter types: The types of its members.
    package func enterStructure(of types: String) throws(BusFailure) { try enter(SD_BUS_TYPE_STRUCT, types) }

    /// Begins to read an entry of a dictionary.
    ///
    /// - Parameter types: The types of its key and its value.
    package func enterEntry(of types: String) throws(BusFailure) { try enter(SD_BUS_TYPE_DICT_ENTRY, types) }

    /// Begins to read a variant.
    ///
    /// - Parameter type: The type of its value; another one is a failure.
    package func enterVariant(of type: String) throws(BusFailure) { try enter(SD_BUS_TYPE_VARIANT, type) }

    /// The type of the value of the variant that is next; `nil` if something else is.
    package var variantType: String? {
        var (type, contents): (CChar, UnsafePointer<CChar>?) = (0, nil)
        guard unsafe sd_bus_message_peek_type(message, &type, &contents) > 0, type == CChar(SD_BUS_TYPE_VARIANT) else {
            return nil
        }
        return unsafe contents.map { unsafe String(cString: $0) }
    }

    private func enter(_ container: some BinaryInteger, _ contents: String) throws(BusFailure) {
        guard unsafe sd_bus_message_enter_container(message, CChar(container), contents) > 0 else {
            throw .wrongArguments
        }
    }

    /// Whether the container has no further element.
    package var isAtEnd: Bool { unsafe sd_bus_message_at_end(message, 0) != 0 }

    /// Ends reading a container, which is read to its end.
    package func leave() throws(BusFailure) {
        guard unsafe sd_bus_message_exit_container(message) >= 0 else { throw .wrongArguments }
    }

    /// Passes over values.
    ///
    /// - Parameter types: Their types.
    package func skip(_ types: String) throws(BusFailure) {
        guard unsafe sd_bus_message_skip(message, types) >= 0 else { throw .wrongArguments }
    }

    /// Reads strings with their names.
    package func texts() throws(BusFailure) -> [String: String] {
        var texts: [String: String] = [:]
        try enterArray(of: "{ss}")
        while !isAtEnd {
            try enterEntry(of: "ss")
            guard texts.count < Limits.busTexts else { throw .tooMuch }
            let name = try text()
            texts[name] = try text()
            try leave()
        }
        try leave()
        return texts
    }

    /// Reads an array of paths of objects.
    package func objectPaths() throws(BusFailure) -> [String] {
        var paths: [String] = []
        try enterArray(of: "o")
        while !isAtEnd {
            guard paths.count < Limits.busPaths else { throw .tooMuch }
            paths.append(try objectPath())
        }
        try leave()
        return paths
    }
}

/// A call that is answered after its handling.
@safe
package final class HeldCall {
    /// The call, whose arguments were read.
    package let call: BusMessage

    package init(_ call: BusMessage) {
        self.call = call
        unsafe sd_bus_message_ref(call.message)
    }

    deinit { unsafe sd_bus_message_unref(call.message) }
}
