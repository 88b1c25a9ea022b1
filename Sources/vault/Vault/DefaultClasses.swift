package import CofferCore
internal import CofferFiles
package import CofferKeys
internal import CofferRouting

/// The classes of new files of each group where neither the caller nor a directory says one: what the root of a group has,
/// as a directory has its own.
struct DefaultClasses {
    private static let version: UInt8 = 1
    private var classes: [(group: String, protectionClass: ProtectionClass)] = []

    init() {}

    /// The class of a group; `nil` if it has none.
    subscript(group: String) -> ProtectionClass? {
        get { classes.first { $0.group.hasSameBytes(as: group) }?.protectionClass }
        set {
            classes.removeAll { $0.group.hasSameBytes(as: group) }
            if let newValue { classes.append((group, newValue)) }
        }
    }

    var count: Int { classes.count }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.version)
        writer.write(UInt8(classes.count))
        for (group, protectionClass) in classes {
            writer.write(counted: group.utf8)
            writer.write(ClassKeyName(protectionClass).rawValue)
        }
        return writer.bytes
    }

    init(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.version else { throw ByteReader.Malformed() }
        for _ in 0..<(try reader.read(UInt8.self)) {
            let group = try reader.readText()
            let code = try reader.read(UInt8.self)
            guard let found = ProtectionClass.allCases.first(where: { ClassKeyName($0).rawValue == code }) else {
                throw ByteReader.Malformed()
            }
            classes.append((group, found))
        }
        guard reader.isAtEnd else { throw ByteReader.Malformed() }
    }
}

extension Vault {
    /// The class of a new file if its client states none: as a put of content of which nothing is known would have it.
    ///
    /// - Parameters:
    ///   - name: The path of the file.
    ///   - group: The group.
    ///   - call: The call, whose client may have a default.
    package func classOfNewFile(_ name: ItemName, in group: String, _ call: Call) throws -> ProtectionClass {
        if let directory = try catalog.files.defaultClass(for: name, in: group) { return directory }
        let caller = call.caller
        let said = caller.rights.protection ?? routing.protection(of: name, from: caller.identity)
        if case .file(let protectionClass)? = said?.converted(to: .file) { return protectionClass }
        return try catalog.defaultClass(of: group, keys) ?? .completeUntilFirstUserAuthentication
    }
}

extension Catalog {
    /// The class of new files of a group where nothing else decides; `nil` for the usual one.
    ///
    /// - Parameters:
    ///   - group: The group.
    ///   - keys: The keys, which open it in every state.
    /// - Throws: `decode` if it is damaged.
    package func defaultClass(of group: String, _ keys: VaultKeys) throws -> ProtectionClass? {
        try defaultClasses(keys)[group]
    }

    /// Changes the class of new files of a group, within the open transaction.
    ///
    /// - Parameters:
    ///   - protectionClass: The class.
    ///   - group: The group.
    ///   - keys: The keys.
    /// - Returns: Whether it had another.
    /// - Throws: `dataTooLarge` if too many groups have one.
    package func setDefaultClass(
        _ protectionClass: ProtectionClass,
        of group: String,
        _ keys: VaultKeys
    ) throws -> Bool {
        // Damage can be repaired by stating the class again.
        var classes = (try? defaultClasses(keys)) ?? DefaultClasses()
        if classes[group] == protectionClass { return false }
        classes[group] = protectionClass
        guard classes.count <= Limits.groups else {
            throw CofferError(
                .dataTooLarge,
                "too many groups with a default class: \(classes.count) (limit \(Limits.groups))",
                operation: .write
            )
        }
        try store(keys.seal(defaultClasses: classes.encoded), as: .defaultClasses)
        return true
    }

    private func defaultClasses(_ keys: VaultKeys) throws -> DefaultClasses {
        guard let stored = try setting(.defaultClasses) else { return DefaultClasses() }
        do {
            return try DefaultClasses(decoding: try keys.open(defaultClasses: stored))
        } catch KeyError.noMemory {
            throw CofferError.noSecretMemory
        } catch {
            throw CofferError.damaged("the default class of files", found: "it is not authentic")
        }
    }
}
