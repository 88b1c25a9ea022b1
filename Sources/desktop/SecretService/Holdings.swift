internal import CofferClient

/// What the service offers: the collections and items of the vault and of the session, and whether they can be read.
///
/// It knows nothing of the bus.
final class Holdings {
    /// A change that programs are told of.
    enum Change {
        case collectionCreated(String), collectionDeleted(String), collectionChanged(String)
        case itemCreated(ItemKey), itemDeleted(ItemKey), itemChanged(ItemKey)
        /// Collections and items became readable, or are so no more.
        case lockChanged([String], [ItemKey])
    }

    private let connection: DaemonConnection
    private let collections: Collections
    private let vaultItems: VaultItems
    private let sessionItems = SessionItems()
    private var index = AttributeIndex()
    /// Whether the index has the items of the vault.
    private var isLoaded = false
    private(set) var state = VaultState.noVault
    private let tell: (Change) -> Void

    /// - Parameters:
    ///   - connection: The connection to the daemon.
    ///   - isOfProgram: Whether all of it belongs to one program.
    ///   - tell: Gets each change.
    init(_ connection: DaemonConnection, isOfProgram: Bool = false, tell: @escaping (Change) -> Void) {
        self.connection = connection
        collections = Collections(connection, isOfProgram: isOfProgram)
        vaultItems = VaultItems(connection)
        self.tell = tell
    }

    // MARK: The state of the vault

    /// Follows an event of the vault.
    func take(_ event: VaultEvent) throws(CofferError) {
        switch event {
        case .itemsDidChange(let changes): for change in changes { try follow(change) }
        case .eventsMissed: forgetVault()
        default: try readState()
        }
    }

    /// Asks the daemon for the state of the vault.
    func readState() throws(CofferError) {
        let former = state
        state = try connection.call(VaultStatusParameters()).value.state
        if !showsNames { forgetVault() }
        if former == state { return }
        let changed = collections.all.map(\.name).filter { isLocked($0, in: former) != isLocked($0, in: state) }
        let items = index.items(thatDifferBetween: former, state)
        if !changed.isEmpty || !items.isEmpty { tell(.lockChanged(changed, items)) }
    }

    /// Forgets what it knows of the vault: it is asked again.
    func forgetVault() {
        for key in vaultKeys { index.remove(key) }
        collections.forget()
        isLoaded = false
    }

    private var vaultKeys: [ItemKey] {
        index.items(with: [:], in: nil).filter { $0.collection != Collection.session }
    }

    /// Whether the vault shows the names of its items.
    private var showsNames: Bool { Accessibility.afterFirstUnlock.isAvailable(in: state) }

    /// Reads what the vault has, unless it is known.
    private func load() throws(CofferError) {
        if isLoaded { return }
        if state == .noVault { throw Self.noVault }
        guard showsNames else { throw .locked("the collections", in: state, for: .read) }
        try collections.load()
        for collection in collections.all where collection.name != Collection.session {
            try vaultItems.forEachItem(of: collection.name) { index.set($0, $1) }
        }
        isLoaded = true
    }

    private static let noVault = CofferError(
        .notAvailable,
        "there is no vault",
        hint: "'coffer setup' makes one"
    )

    private func follow(_ change: ItemChange) throws(CofferError) {
        guard isLoaded, let name = change.name else { return }
        guard let collection = VaultItems.collection(of: change.group) else {
            if change.group == Collections.group { try reloadCollections() }
            return
        }
        if collections.named(collection) == nil { return }
        if let former = change.formerName { noteRemoval(of: ItemKey(collection: collection, name: former)) }
        let key = ItemKey(collection: collection, name: name)
        if let item = try connection.unlessMissing({ () throws(CofferError) in try vaultItems.item(key) }) {
            note(key, item)
        } else {
            noteRemoval(of: key)
        }
    }

    private func reloadCollections() throws(CofferError) {
        let former = Dictionary(collections.all.map { ($0.name, $0) }) { one, _ in one }
        try collections.load()
        let names = Set(collections.all.map(\.name))
        for collection in collections.all {
            guard let known = former[collection.name] else {
                try vaultItems.forEachItem(of: collection.name) { index.set($0, $1) }
                tell(.collectionCreated(collection.name))
                continue
            }
            if known.modified != collection.modified { tell(.collectionChanged(collection.name)) }
        }
        for name in former.keys where !names.contains(name) {
            for key in index.items(of: name) { index.remove(key) }
            tell(.collectionDeleted(name))
        }
    }

    private func note(_ key: ItemKey, _ item: ServiceItem) {
        let former = index.modified(key)
        index.set(key, item)
        if former == nil { tell(.itemCreated(key)) } else if former != item.modified { tell(.itemChanged(key)) }
    }

    private func noteRemoval(of key: ItemKey) {
        guard index.contains(key) else { return }
        index.remove(key)
        tell(.itemDeleted(key))
    }

    // MARK: Collections

    /// The names of all collections.
    ///
    /// Before the first unlock they are those that each vault has.
    var collectionNames: [String] {
        get throws(CofferError) {
            try allCollections.map(\.name)
        }
    }

    /// - Throws: `itemNotFound`.
    func collection(_ name: String) throws(CofferError) -> Collection {
        guard let collection = try known({ $0.named(name) }, isOfVault: name != Collection.session) else {
            throw CofferError(.itemNotFound, "there is no collection \(quotedForDisplay(name))")
        }
        return collection
    }

    /// All collections.
    var allCollections: [Collection] {
        get throws(CofferError) {
            if showsNames { try load() }
            return collections.all
        }
    }

    /// The collection that an alias stands for; `nil` for none.
    func collection(aliased alias: String) throws(CofferError) -> Collection? {
        try known({ $0.aliased(alias) }, isOfVault: alias != Collection.session)
    }

    func has(collection name: String) throws(CofferError) -> Bool {
        try known({ $0.named(name) }, isOfVault: name != Collection.session) != nil
    }

    /// Looks for a collection.
    ///
    /// - Throws: `interactionNotAllowed` before the first unlock, for one that the vault may have.
    private func known(
        _ find: (Collections) -> Collection?,
        isOfVault: Bool
    ) throws(CofferError) -> Collection? {
        if isOfVault && showsNames { try load() }
        if let found = find(collections) { return found }
        if isOfVault { try load() }
        return nil
    }

    func isLocked(_ collection: String) -> Bool { isLocked(collection, in: state) }

    private func isLocked(_ collection: String, in state: VaultState) -> Bool {
        collection != Collection.session && !Accessibility.whenUnlocked.isAvailable(in: state)
    }

    /// Whether something of the vault can't be read until it is unlocked.
    var isLocked: Bool { isLocked(Collection.login) }

    /// Refuses to go on if items can't be stored.
    func requireUnlocked() throws(CofferError) {
        try load()
        if isLocked { throw .locked("the collections", in: state, for: .write) }
    }

    func makeCollection(labelled label: String, alias: String?) throws(CofferError) -> String {
        try load()
        if let alias, !alias.isEmpty, let known = collections.aliased(alias) { return known.name }
        let name = try collections.make(labelled: label, alias: alias.flatMap { $0.isEmpty ? nil : $0 })
        tell(.collectionCreated(name))
        return name
    }

    func setLabel(of collection: Collection, to label: String) throws(CofferError) {
        try load()
        guard collection.name != Collection.session else { throw Self.isSession }
        try collections.setLabel(of: collection, to: label)
        tell(.collectionChanged(collection.name))
    }

    func setAlias(_ alias: String, to collection: Collection?) throws(CofferError) {
        try load()
        guard collection?.name != Collection.session else { throw Self.isSession }
        try collections.setAlias(alias, to: collection)
    }

    /// Removes a collection with its items.
    func removeCollection(_ name: String) throws(CofferError) {
        try load()
        guard name != Collection.session else { throw Self.isSession }
        try collections.checkChangeable()
        for key in index.items(of: name) { try remove(key) }
        try collections.remove(name)
        if collections.named(name) == nil { tell(.collectionDeleted(name)) }
    }

    private static let isSession = CofferError(.param, "the collection 'session' stays as it is")

    // MARK: Items

    private func store(of collection: String) -> any ItemStore {
        collection == Collection.session ? sessionItems : vaultItems
    }

    func items(of collection: String) throws(CofferError) -> [ItemKey] {
        if collection != Collection.session && showsNames { try load() }
        return index.items(of: collection)
    }

    /// The items that have all of some attributes.
    ///
    /// - Parameter collection: The collection; `nil` for all.
    func search(_ attributes: [String: String], in collection: String?) throws(CofferError) -> [ItemKey] {
        if collection != Collection.session { try load() }
        return index.items(with: attributes, in: collection)
    }

    /// The items of a collection that have exactly some attributes, the one that was changed last first.
    func items(withExactly attributes: [String: String], in collection: String) throws(CofferError) -> [ItemKey] {
        try load()
        return index.items(withExactly: attributes, in: collection)
    }

    /// - Throws: `interactionNotAllowed` before the first unlock, because the vault may have it.
    func has(_ key: ItemKey) throws(CofferError) -> Bool {
        if key.collection != Collection.session { try load() }
        return index.contains(key)
    }

    func isReadable(_ key: ItemKey) -> Bool { index.isReadable(key, in: state) }

    func item(_ key: ItemKey) throws(CofferError) -> ServiceItem { try store(of: key.collection).item(key) }

    /// The type of the content of an item's secret.
    func contentType(of key: ItemKey) -> String { index.contentType(key) ?? VaultItems.usualContentType }

    func secret(of key: ItemKey) throws(CofferError) -> Secret {
        // A program that is kept apart may name what is not its own.
        guard try has(key) else { throw CofferError(.itemNotFound, "there is no such item") }
        return try store(of: key.collection).secret(of: key)
    }

    /// Stores an item.
    ///
    /// - Parameter replaces: Whether the item that has the same attributes is replaced.
    func add(_ item: NewItem, to collection: String, replaces: Bool) throws(CofferError) -> ItemKey {
        if collection != Collection.session { try load() }
        let store = store(of: collection)
        let known = replaces ? index.item(withExactly: item.attributes, in: collection) : nil
        let key: ItemKey
        if let known {
            try store.replace(known, by: item)
            key = known
        } else {
            key = try store.add(item, to: collection)
        }
        note(key, try store.item(key))
        return key
    }

    /// Changes an item in a store.
    func change(
        _ key: ItemKey,
        _ body: (any ItemStore) throws(CofferError) -> Void
    ) throws(CofferError) {
        let store = store(of: key.collection)
        try body(store)
        note(key, try store.item(key))
    }

    func remove(_ key: ItemKey) throws(CofferError) {
        try store(of: key.collection).remove(key)
        noteRemoval(of: key)
    }

    /// Replaces the secret of an item.
    func setSecret(of key: ItemKey, to secret: Secret, contentType: String) throws(CofferError) {
        let item = try item(key)
        let new = NewItem(
            label: item.label,
            attributes: item.attributes,
            contentType: contentType,
            secret: secret
        )
        try change(key) { (store) throws(CofferError) in try store.replace(key, by: new) }
    }

    // MARK: Locking

    func lock() throws(CofferError) {
        try connection.call(VaultLockParameters(graceSeconds: 0))
        try readState()
    }
}
