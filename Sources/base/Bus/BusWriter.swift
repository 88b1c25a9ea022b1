internal import CSystemd
package import CofferSystem

/// Appends the arguments of a message.
@safe
package struct BusWriter {
    private let message: OpaquePointer

    init(_ message: OpaquePointer) { unsafe self.message = message }

    package func text(_ text: String) throws(SystemError) { try append(text, of: SD_BUS_TYPE_STRING) }

    package func objectPath(_ path: String) throws(SystemError) { try append(path, of: SD_BUS_TYPE_OBJECT_PATH) }

    private func append(_ text: String, of type: some BinaryInteger) throws(SystemError) {
        let code = unsafe text.withCString { unsafe sd_bus_message_append_basic(message, CChar(type), $0) }
        try checked("sd_bus_message_append_basic", code)
    }

    package func flag(_ flag: Bool) throws(SystemError) {
        var number: Int32 = flag ? 1 : 0
        try unsafe append(&number, SD_BUS_TYPE_BOOLEAN)
    }

    /// Appends a number of 32 bits.
    package func number(_ number: UInt32) throws(SystemError) {
        var number = number
        try unsafe append(&number, SD_BUS_TYPE_UINT32)
    }

    /// Appends a number of 64 bits.
    package func longNumber(_ number: UInt64) throws(SystemError) {
        var number = number
        try unsafe append(&number, SD_BUS_TYPE_UINT64)
    }

    private func append(_ value: UnsafeRawPointer, _ type: some BinaryInteger) throws(SystemError) {
        try checked("sd_bus_message_append_basic", unsafe sd_bus_message_append_basic(message, CChar(type), value))
    }

    /// Appends an array of bytes.
    package func bytes(_ bytes: RawSpan) throws(SystemError) {
        let code = unsafe bytes.withUnsafeBytes { buffer in
            unsafe sd_bus_message_append_array(message, CChar(SD_BUS_TYPE_BYTE), buffer.baseAddress, buffer.count)
        }
        try checked("sd_bus_message_append_array", code)
    }

    // MARK: Containers

    /// Begins an array.
    ///
    /// - Parameter type: The type of its elements.
    package func openArray(of type: String) throws(SystemError) { try open(SD_BUS_TYPE_ARRAY, type) }

    /// Begins a structure.
    ///
    /// - Parameter types: The types of its members.
    package func openStructure(of types: String) throws(SystemError) { try open(SD_BUS_TYPE_STRUCT, types) }

    /// Begins an entry of a dictionary.
    ///
    /// - Parameter types: The types of its key and its value.
    package func openEntry(of types: String) throws(SystemError) { try open(SD_BUS_TYPE_DICT_ENTRY, types) }

    /// Begins a variant.
    ///
    /// - Parameter type: The type of its value.
    package func openVariant(of type: String) throws(SystemError) { try open(SD_BUS_TYPE_VARIANT, type) }

    private func open(_ container: some BinaryInteger, _ contents: String) throws(SystemError) {
        try checked(
            "sd_bus_message_open_container",
            unsafe sd_bus_message_open_container(message, CChar(container), contents)
        )
    }

    /// Ends the container that was begun last.
    package func close() throws(SystemError) {
        try checked("sd_bus_message_close_container", unsafe sd_bus_message_close_container(message))
    }

    package func objectPaths(_ paths: [String]) throws(SystemError) {
        try openArray(of: "o")
        for path in paths { try objectPath(path) }
        try close()
    }

    /// Appends strings with their names.
    package func texts(_ texts: [String: String]) throws(SystemError) {
        try openArray(of: "{ss}")
        for (name, value) in texts.sorted(by: { $0.key < $1.key }) {
            try openEntry(of: "ss")
            try text(name)
            try text(value)
            try close()
        }
        try close()
    }
}

/// Checks the result of a libsystemd function, which is a negative `errno` after a failure.
@discardableResult
func checked(_ operation: StaticString, _ result: Int32) throws(SystemError) -> Int32 {
    if result < 0 { throw SystemError(operation, code: -result) }
    return result
}
