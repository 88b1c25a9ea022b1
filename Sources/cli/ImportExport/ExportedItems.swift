internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal

/// The items that an export writes, read and taken apart.
struct ExportedItems {
    private(set) var entries: [ExchangeEntry] = []
    /// The items that can't be exported, each with the reason.
    private(set) var left: [(name: String, reason: String)] = []

    /// The reason for what can be exported after an unlock.
    static let locked = "it is locked"

    private let session: Session

    /// Reads items.
    ///
    /// - Parameter isWhole: Whether each is exported as it is stored, and not by its fields.
    init(_ items: [ItemInfo], isWhole: Bool, _ session: Session) throws(CofferError) {
        self.session = session
        for item in items {
            do throws(CofferError) {
                if let reason = Self.obstacle(item) {
                    left.append((item.name, reason))
                } else {
                    try read(item, isWhole: isWhole)
                }
            } catch {
                guard [.interactionNotAllowed, .interactionRequired, .missingEntitlement].contains(error.code) else {
                    throw error
                }
                left.append(
                    (item.name, error.code == .interactionNotAllowed ? Self.locked : "it requires authentication")
                )
            }
        }
    }

    /// Why an item can't be exported, as far as that is known without reading it.
    private static func obstacle(_ item: ItemInfo) -> String? {
        if case .keychain(let accessibility) = item.protection, accessibility.isThisDeviceOnly {
            return "it stays on this device"
        }
        switch item.itemClass {
        case .key, .identity: return "it is a key: 'coffer get' writes it"
        case .certificate: return "it is a certificate: 'coffer get' writes it"
        case .none where item.protection.store == .file: return "it is a file: 'coffer get' writes it"
        case .genericPassword, .internetPassword, .none: break
        }
        if item.isLeftBehind { return "its key was lost with another device" }
        return item.isReadable ? nil : Self.locked
    }

    private mutating func read(_ item: ItemInfo, isWhole: Bool) throws(CofferError) {
        let name = try ItemName(item.name)
        let content = try session.content(name, item)
        guard content.exposesText else {
            left.append((item.name, "it is no text: 'coffer get --output' writes it"))
            return
        }
        let info = try session.client.call(ItemShowParameters(name: name, group: item.group)).value
        var entry = ExchangeEntry(place: name.quoted)
        entry.folder = name.components.dropLast().map(String.init)
        entry.title = name.components.last.map(String.init) ?? item.name
        entry.tags = (info.user?["tags"] ?? "").split(separator: " ").map(String.init)
        func stated(_ name: AttributeName) -> Int64? {
            info.user?[name].flatMap { ExchangeDate.milliseconds(iso: $0) }
        }
        entry.dates.created = stated(ImportPlan.created) ?? info.created
        entry.dates.modified = stated(ImportPlan.modified) ?? info.modified
        if isWhole { entry.whole = content } else { try EntryContent.take(content, into: &entry) }
        if let attributes = info.attributes, case .text(let server)? = attributes[.server],
            let account = attributes.loginField(ExchangeEntry.username),
            let url = attributes.loginField(ExchangeEntry.url)
        {
            entry.folder = [server]
            entry.title = account
            try entry.add(ExchangeEntry.username, try Secret(bulk: account))
            try entry.add(ExchangeEntry.url, try Secret(bulk: url))
        }
        entries.append(entry)
    }
}

extension Secret {
    /// Whether the bytes are UTF-8, without a copy of them.
    fileprivate var exposesText: Bool { withBytes { (try? UTF8Span(validating: Span<UInt8>(_bytes: $0))) != nil } }
}

extension Accessibility {
    /// Whether an item with it never leaves the machine.
    fileprivate var isThisDeviceOnly: Bool { rawValue.hasSuffix("ThisDeviceOnly") }
}

extension EntryContent {
    /// Takes a secret apart, so that ``secret(of:)`` makes the same of it.
    static func take(_ content: Secret, into entry: inout ExchangeEntry) throws(CofferError) {
        guard let fields = SecretFields(content), fields.form == .password || fields.form == .json else {
            return try entry.setNotes(content)
        }
        // Numbers and members of members would come back as texts.
        guard fields.form == .password || fields.names.contains(ExchangeEntry.password) else {
            return try entry.setNotes(content)
        }
        for name in fields.names {
            guard let value = try fields.value(of: name) else { continue }
            if fields.form == .json && name == notes { try entry.setNotes(value) } else { try entry.add(name, value) }
        }
        if fields.form == .password { try entry.setNotes(try fields.wordsBelow()) }
    }
}
