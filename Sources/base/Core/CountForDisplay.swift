/// A number with its noun and verb, such as "1 item is".
package func counted(_ count: some BinaryInteger, _ one: String, _ many: String) -> String {
    "\(count) \(count == 1 ? one : many)"
}

/// A number of bytes, such as "1 byte".
package func countedBytes(_ count: some BinaryInteger) -> String { counted(count, "byte", "bytes") }
