internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferVault

// A name is in one store at a time.

extension Catalog {
    /// Refuses to give an entry a new name if that, or a name below it, would be the name of a secret.
    func checkNoSecrets(
        at name: ItemName,
        insteadOf entry: FileEntry,
        in group: String
    ) throws {
        if try ItemName(entry.path) == name { return }
        try checkNotSecret(name, in: group)
        if entry.isDirectory { try checkNoSecrets(in: entry, at: name, group) }
    }

    /// Refuses a name that a directory or a symbolic link has: a name is in one store at a time.
    ///
    /// A directory that was only made implicitly does not count: it disappears with its last entry.
    func checkNoDirectory(_ name: ItemName, in group: String) throws {
        try checkNoDirectory(at: files.spot(of: name, in: group))
    }

    /// Refuses a name that a directory or a symbolic link has.
    func checkNoDirectory(at spot: FileSpot) throws {
        switch try files.occupant(at: spot) {
        case .madeDirectory: throw CofferError.isDirectory(spot.name)
        case .symbolicLink: throw CofferError.isLink(spot.name)
        case .file, nil: return
        }
    }

    /// Refuses a name that a secret has: a name is in one store at a time.
    func checkNotSecret(_ name: ItemName, in group: String) throws {
        if try keychain.contains(GenericPasswordKey(name, in: group)) { throw CofferError.isSecret(name) }
    }

    /// Refuses to move a directory if the new name of an entry would be the name of a secret.
    private func checkNoSecrets(
        in directory: FileEntry,
        at target: ItemName,
        _ group: String
    ) throws {
        if try keychain.count() == 0 { return }
        if try keychain.sealedCount() > 0 {
            throw CofferError.locked(directory.quoted, in: keychain.state, for: .write)
        }
        let prefix = target.path + "/"
        try keychain.forEachItem { outcome in
            guard case .success(let item) = outcome, let name = item.attributes.name,
                item.attributes.group.utf8.elementsEqual(group.utf8), name.path.utf8.starts(with: prefix.utf8)
            else { return }
            let rest = String(decoding: name.path.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
            guard let former = try? ItemName("\(directory.path)/\(rest)"),
                let inside = try files.entry(former, in: group)
            else { return }
            // A directory that was only made implicitly may share its name with a secret, before and after.
            if inside.isDirectory && !inside.staysWhenEmpty { return }
            throw CofferError.isSecret(name)
        }
    }
}

extension CofferError {
    static func isDirectory(_ name: ItemName) -> CofferError {
        CofferError(
            .duplicateItem,
            "there is a directory \(name.quoted) already",
            hint: "choose another name, or remove the directory",
            operation: .write
        )
    }

    static func isLink(_ name: ItemName) -> CofferError {
        CofferError(
            .duplicateItem,
            "there is a symbolic link \(name.quoted) already",
            hint: "choose another name, or remove the link",
            operation: .write
        )
    }

    fileprivate static func isSecret(_ name: ItemName) -> CofferError {
        CofferError(
            .duplicateItem,
            "there is a secret \(name.quoted) in the keychain already",
            hint: "choose another name, or remove the secret",
            operation: .create
        )
    }
}
