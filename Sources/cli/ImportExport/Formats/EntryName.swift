package import CofferClient

/// The names under which entries are stored.
package enum EntryName {
    /// What a name begins with that stands for an item without a path.
    private static let reserved = ["login:", "key:", "certificate:", "password:", "reference:"]
    private static let untitled = "untitled"

    /// The name of each entry: its folders, its title, and where several have the same, the user name, and at last a number.
    ///
    /// - Parameters:
    ///   - entries: The entries.
    ///   - prefix: The name below which all of them are; `nil` for none.
    /// - Returns: For each entry its name, or the error `param` if that is too long.
    package static func names(
        of entries: [ExchangeEntry],
        below prefix: ItemName?
    ) -> [Result<ItemName, CofferError>] {
        let plain = entries.map { path(of: $0, below: prefix) }
        let counts = plain.reduce(into: [:]) { $0[Array($1.utf8), default: 0] += 1 }
        var taken: Set<[UInt8]> = Set(plain.filter { counts[Array($0.utf8)] == 1 }.map { Array($0.utf8) })
        var names: [Result<ItemName, CofferError>] = []
        var numbers: [[UInt8]: Int] = [:]
        for (entry, path) in zip(entries, plain) {
            var free = path
            if counts[Array(path.utf8), default: 0] > 1 {
                free = Self.free(path, entry, taken, &numbers)
                taken.insert(Array(free.utf8))
            }
            names.append(Result { () throws(CofferError) in try ItemName(free) })
        }
        return names
    }

    /// A name that is not taken.
    ///
    /// - Parameter numbers: The next number for each name that was taken, so that none is tried again.
    private static func free(
        _ path: String,
        _ entry: ExchangeEntry,
        _ taken: Set<[UInt8]>,
        _ numbers: inout [[UInt8]: Int]
    ) -> String {
        var stem = path
        if let user = entry[ExchangeEntry.username]?.exposeText() { stem += "/\(part(user) ?? untitled)" }
        let key = Array(stem.utf8)
        var free = stem
        while taken.contains(Array(free.utf8)) {
            let number = numbers[key, default: 2]
            numbers[key] = number + 1
            free = "\(stem)-\(number)"
        }
        return free
    }

    private static func path(of entry: ExchangeEntry, below prefix: ItemName?) -> String {
        var parts = entry.folder.compactMap { part($0) }
        let title = part(entry.title) ?? entry.host.flatMap { part($0) } ?? untitled
        parts.append(title)
        // A login without a title has the name by which git finds it.
        if part(entry.title) == nil, entry.host != nil, let user = entry[ExchangeEntry.username]?.exposeText() {
            parts.append(part(user) ?? untitled)
        }
        let path = parts.joined(separator: "/")
        if let prefix { return "\(prefix.path)/\(path)" }
        return reserved.contains { path.hasPrefix($0) } ? path.replacing(":", with: "-", maxReplacements: 1) : path
    }

    /// A part of a name that can be typed: without slashes, control characters and white space around it.
    ///
    /// - Returns: `nil` if nothing is left.
    package static func part(_ text: String) -> String? {
        var part = ""
        for scalar in text.unicodeScalars {
            var piece = String(scalar)
            if scalar == "/" { piece = "-" }
            if scalar.isUnseen || scalar.properties.isWhitespace { piece = " " }
            if piece == " " && (part.isEmpty || part.last == " ") { continue }
            if part.utf8.count + piece.utf8.count > Limits.nameComponentBytes { break }
            part += piece
        }
        while part.last == " " { part.removeLast() }
        // An option begins with a hyphen, and a dot alone has no meaning.
        if part.first == "-" { part = "_" + part.dropFirst() }
        if part == "." || part == ".." { part = "_" }
        return part.isEmpty ? nil : part
    }
}
