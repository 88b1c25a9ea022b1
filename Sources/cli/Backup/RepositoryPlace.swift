package import CofferCore

/// Where a repository is, as a person writes it.
package enum RepositoryPlace {
    /// The storage of a place.
    ///
    /// - Parameter place: A directory, `sftp://[user@]host[:port]/path` or `[user@]host:path`. What begins with a slash
    ///   or a dot is a directory.
    /// - Throws: `param` if it is none of them.
    package static func storage(at place: String) throws(CofferError) -> any RepositoryStorage {
        guard !place.isEmpty, !place.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw CofferError(.param, "the place of a repository is empty, or has control characters")
        }
        if place.hasPrefix("sftp://") { return try url(place) }
        let slash = place.utf8.firstIndex(of: UInt8(ascii: "/")) ?? place.endIndex
        let colon = place.utf8.firstIndex(of: UInt8(ascii: ":")) ?? place.endIndex
        guard colon < slash, !place.hasPrefix(".") else { return DirectoryStorage(place) }
        let path = String(place[place.utf8.index(after: colon)...])
        return try remote(place, host: String(place[..<colon]), port: nil, path: path.isEmpty ? "." : path)
    }

    private static func url(_ place: String) throws(CofferError) -> SFTPStorage {
        let rest = place.dropFirst("sftp://".count)
        guard let slash = rest.firstIndex(of: "/") else { throw wrong(place) }
        let (authority, path) = (rest[..<slash], String(rest[slash...]))
        let parts = authority.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2 else { throw wrong(place) }
        let port = parts.count == 2 ? UInt16(parts[1]) : nil
        guard parts.count == 1 || port != nil else { throw wrong(place) }
        return try remote(place, host: parts[0], port: port, path: path)
    }

    private static func remote(
        _ place: String,
        host: String,
        port: UInt16?,
        path: String
    ) throws(CofferError) -> SFTPStorage {
        // What begins with a hyphen would be an option of the program.
        guard !host.isEmpty, !host.hasPrefix("-"), !host.contains(where: { $0 == " " || $0 == "/" }) else {
            throw wrong(place)
        }
        return SFTPStorage(place, path: path, connecting: (port.map { ["-P", String($0)] } ?? []) + ["--", host])
    }

    private static func wrong(_ place: String) -> CofferError {
        CofferError(
            .param,
            "\(quotedForDisplay(place)) is no place of a repository",
            hint: "such as /mnt/backup, sftp://user@host/path or user@host:path"
        )
    }
}
