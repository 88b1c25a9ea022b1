internal import CofferBus
internal import CofferClient
internal import CofferSystem

extension SecretService {
    /// Carries out a method on the properties of an object.
    func carryOut(_ call: BusMessage, _ member: String, onPropertiesOf object: ObjectPath) throws {
        let interface = try call.text()
        guard interface == object.interface || interface.isEmpty else {
            throw BusFailure(bus: "UnknownInterface", "the object has no interface \(quotedForDisplay(interface))")
        }
        switch member {
        case "GetAll":
            let properties = try properties(of: object)
            try bus.answer(call) { (writer) throws(SystemError) in try writer.properties(properties) }
        case "Get":
            let name = try call.text()
            guard let value = try properties(of: object).first(where: { $0.name == name })?.value else {
                throw BusFailure(bus: "UnknownProperty", "the object has no property \(quotedForDisplay(name))")
            }
            try bus.answer(call) { (writer) throws(SystemError) in try value.append(to: writer) }
        case "Set":
            try set(try call.text(), of: object, call)
            try bus.answer(call)
        default: throw BusFailure(bus: "UnknownMethod", "there is no method \(quotedForDisplay(member))")
        }
    }

    private func properties(of object: ObjectPath) throws -> [(name: String, value: PropertyValue)] {
        switch object {
        case .service: return [("Collections", .objectPaths(try collectionPaths))]
        case .collection(let name):
            let collection = try holdings.collection(name)
            return [
                ("Items", .objectPaths(try holdings.items(of: name).map(\.path))),
                ("Label", .text(collection.label)), ("Locked", .flag(holdings.isLocked(name))),
                ("Created", .time(collection.created.seconds)), ("Modified", .time(collection.modified.seconds)),
            ]
        case .item(let key):
            let item = try holdings.item(key)
            return [
                ("Locked", .flag(!holdings.isReadable(key))), ("Attributes", .texts(item.attributes)),
                ("Label", .text(item.label)), ("Created", .time(item.created.seconds)),
                ("Modified", .time(item.modified.seconds)),
            ]
        case .session, .prompt, .alias: return []
        }
    }

    private var collectionPaths: [String] {
        get throws { try holdings.collectionNames.map { ObjectPath.collection($0).path } }
    }

    private func set(_ name: String, of object: ObjectPath, _ call: BusMessage) throws {
        switch (object, name) {
        case (.collection(let collection), "Label"):
            try call.enterVariant(of: "s")
            try holdings.setLabel(of: try holdings.collection(collection), to: try call.text())
        case (.item(let key), "Label"):
            try call.enterVariant(of: "s")
            let label = try call.text()
            try holdings.change(key) { (store) throws(CofferError) in try store.setLabel(of: key, to: label) }
        case (.item(let key), "Attributes"):
            try call.enterVariant(of: "a{ss}")
            let attributes = try call.texts()
            try holdings.change(key) { (store) throws(CofferError) in
                try store.setAttributes(of: key, to: attributes)
            }
        default:
            throw BusFailure(bus: "PropertyReadOnly", "the property \(quotedForDisplay(name)) can't be set")
        }
    }

    // MARK: Changes

    /// Tells the bus of a change.
    func tell(_ change: Holdings.Change) throws {
        switch change {
        case .collectionCreated(let name): try tell("CollectionCreated", .collection(name), to: .service)
        case .collectionDeleted(let name): try tell("CollectionDeleted", .collection(name), to: .service)
        case .collectionChanged(let name):
            try tell("CollectionChanged", .collection(name), to: .service)
            try tellProperties(of: .collection(name), ["Label", "Modified"])
        case .itemCreated(let key): try tell("ItemCreated", .item(key), to: .collection(key.collection))
        case .itemDeleted(let key): try tell("ItemDeleted", .item(key), to: .collection(key.collection))
        case .itemChanged(let key):
            try tell("ItemChanged", .item(key), to: .collection(key.collection))
            try tellProperties(of: .item(key), ["Label", "Attributes", "Modified"])
        case .lockChanged(let collections, let items):
            for name in collections {
                try tellProperties(of: .collection(name), ["Locked"])
                try tell("CollectionChanged", .collection(name), to: .service)
            }
            // Of more, programs ask when they need one.
            for key in items.prefix(Limits.toldChanges) {
                try emitChange(of: .item(key), [("Locked", .flag(!holdings.isReadable(key)))])
            }
        }
    }

    private func tell(_ signal: String, _ object: ObjectPath, to parent: ObjectPath) throws {
        try bus.emit(signal, of: parent.interface, at: parent.path, to: listener) { (writer) throws(SystemError) in
            try writer.objectPath(object.path)
        }
        switch (parent, signal) {
        case (.service, "CollectionCreated"), (.service, "CollectionDeleted"):
            try emitChange(of: parent, [("Collections", .objectPaths(try collectionPaths))])
        case (.collection, "ItemCreated"), (.collection, "ItemDeleted"):
            // The list itself may be long, and this is told of each item.
            try emitChange(of: parent, [], invalidated: "Items")
        default: return
        }
    }

    private func tellProperties(of object: ObjectPath, _ names: Set<String>) throws {
        try emitChange(of: object, try properties(of: object).filter { names.contains($0.name) })
    }

    private func emitChange(
        of object: ObjectPath,
        _ changed: [(name: String, value: PropertyValue)],
        invalidated: String? = nil
    ) throws {
        try bus.emitChange(of: object.interface, at: object.path, changed, invalidated: invalidated, to: listener)
    }
}

extension Int64 {
    /// A time in milliseconds since 1970 as seconds.
    fileprivate var seconds: UInt64 { UInt64(Swift.max(0, self) / 1000) }
}
