internal import CofferClient
internal import CofferCore
internal import CofferWire
internal import Glibc
internal import Synchronization

// Extended attributes: the class of a file is one of them, the others are kept by the daemon.
extension Filesystem {
    /// The attribute that is a file's class, or a directory's default for new files.
    static let classAttribute = "user.coffer.class"

    /// The value of an attribute.
    func extendedAttribute(_ name: String, of number: UInt64) throws(Errno) -> Secret {
        if name == Self.classAttribute {
            guard let protectionClass = try attributes(of: number).protectionClass else { throw .noAttribute }
            do { return try Secret(exposed: protectionClass.rawValue) } catch { throw Errno(error) }
        }
        // What programs ask for at each file, and the daemon never has.
        guard name.hasPrefix("user.") else { throw .noAttribute }
        return try onFile(number) { path, handle, _ in
            FileGetExtendedAttributeParameters(
                name: path,
                handle: handle,
                attribute: name,
                group: path == nil ? nil : group
            )
        }.payload
    }

    /// The names of the attributes, each with a zero byte after it.
    func extendedAttributeList(of number: UInt64) throws(Errno) -> Secret {
        let names = try extendedAttributes(of: number)
        do { return try Secret(exposed: names.map { $0 + "\0" }.joined()) } catch { throw Errno(error) }
    }

    /// The class is not among them: programs that copy attributes would set it elsewhere, or remove it here.
    private func extendedAttributes(of number: UInt64) throws(Errno) -> [String] {
        if number == NodeTable.root { return [] }
        let list = try onFile(number) { path, handle, _ in
            FileListExtendedAttributesParameters(name: path, handle: handle, group: path == nil ? nil : group)
        }
        return list.value.attributes.map(\.name)
    }

    /// How a new value and an old one exclude each other.
    package enum AttributeCondition: Sendable {
        case none, mustBeNew, mustExist
    }

    /// Sets an attribute.
    func setExtendedAttribute(
        _ name: String,
        of number: UInt64,
        to value: RawSpan,
        _ condition: AttributeCondition
    ) throws(Errno) {
        if name == Self.classAttribute { return try setClass(of: number, to: value, condition) }
        let payload: Secret
        do { payload = try Secret(copying: value) } catch { throw Errno(error) }
        _ = try onFile(number, payload: payload) { path, handle, isRepeated in
            FileSetExtendedAttributeParameters(
                name: path,
                handle: handle,
                attribute: name,
                // The first request may have made it.
                creates: condition == .mustBeNew && !isRepeated,
                replaces: condition == .mustExist,
                group: path == nil ? nil : group
            )
        }
    }

    private func setClass(of number: UInt64, to value: RawSpan, _ condition: AttributeCondition) throws(Errno) {
        let bytes = unsafe value.withUnsafeBytes { unsafe Array($0) }
        guard let word = String(checking: bytes.span), let wanted = ProtectionClass(rawValue: word) else {
            throw .invalid
        }
        let attributes = try attributes(of: number)
        switch condition {
        case .none: break
        case .mustBeNew: if attributes.protectionClass != nil { throw Errno(EEXIST) }
        case .mustExist: if attributes.protectionClass == nil { throw .noAttribute }
        }
        try protect(number, as: wanted, isDirectory: attributes.kind == .directory)
    }

    private func protect(_ number: UInt64, as wanted: ProtectionClass, isDirectory: Bool) throws(Errno) {
        // Only the root of the vault is a directory without a name.
        let path = try name(of: number)
        guard path != nil || isDirectory else { throw .notPermitted }
        settle()
        _ = try call(
            FileProtectParameters(name: path, protectionClass: wanted, isDefaultOnly: isDirectory, group: group)
        )
    }

    /// Gives a file at least the class of the one of which it becomes a copy.
    func protect(_ copy: UInt64, asCopyOf original: UInt64) throws(Errno) {
        guard let least = try attributes(of: original).protectionClass,
            let own = try attributes(of: copy).protectionClass, own.stricter(least) != own
        else { return }
        // What has no name any more ends with its handles.
        guard (try? name(of: copy)) != nil else { return }
        try protect(copy, as: least, isDirectory: false)
    }

    /// Gives a file the class of a new one in its directory, or a directory the default class of the one above it.
    private func inheritClass(_ number: UInt64) throws(Errno) {
        let attributes = try attributes(of: number)
        guard let name = try name(of: number) else { throw .notPermitted }
        if attributes.kind == .symbolicLink || attributes.protectionClass == nil { throw .noAttribute }
        var parts = name.components.dropLast()
        var inherited: ProtectionClass?
        while inherited == nil, !parts.isEmpty {
            let directory: ItemName
            do { directory = try ItemName(parts.joined(separator: "/")) } catch { throw .nameTooLong }
            inherited = try call(FileStatParameters(name: directory, group: group)).protectionClass
            parts.removeLast()
        }
        let wanted = if let inherited { inherited } else { try classWithoutDirectory() }
        try protect(number, as: wanted, isDirectory: attributes.kind == .directory)
    }

    /// The class of a new file where no directory has one.
    private func classWithoutDirectory() throws(Errno) -> ProtectionClass {
        var wishes = PlacementOptions()
        (wishes.group, wishes.store) = (group, .file)
        let placement = try call(ItemExplainParameters(byteCount: Limits.fileBytes, wishes: wishes)).placement
        guard case .file(let protectionClass) = placement.protection else { throw .invalid }
        return protectionClass
    }

    /// Removes an attribute; without its class, a file has that of a new one in its directory.
    func removeExtendedAttribute(_ name: String, of number: UInt64) throws(Errno) {
        if name == Self.classAttribute { return try inheritClass(number) }
        guard name.hasPrefix("user.") else { throw .noAttribute }
        var isRepetition = false
        do throws(Errno) {
            _ = try onFile(number) { path, handle, isRepeated in
                isRepetition = isRepeated
                return FileRemoveExtendedAttributeParameters(
                    name: path,
                    handle: handle,
                    attribute: name,
                    group: path == nil ? nil : group
                )
            }
        } catch  where error == .noAttribute && isRepetition {
            // The first request has removed it.
        }
    }

    /// Makes a call about a file by its name, or by its handle if it has none any more.
    private func onFile<Parameters: MethodParameters>(
        _ number: UInt64,
        payload: Secret? = nil,
        _ params: (ItemName?, Int64?, _ isRepeated: Bool) -> Parameters
    ) throws(Errno) -> DaemonConnection.Reply<Parameters.Result> {
        settle()
        if let path = try? Optional(name(of: number)) {
            guard let path else { throw .notSupported }
            return try changing { (isRepeated) throws(CallFailure) in
                try pool.any.call(params(path, nil, isRepeated), payload: payload)
            }
        }
        return try openFiles.file(number).read(payload: payload) { params(nil, $0, false) }
    }
}
