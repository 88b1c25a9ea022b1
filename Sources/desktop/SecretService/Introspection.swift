/// The interfaces of the service, as D-Bus describes them to programs that ask.
///
/// Source: the specification of the Secret Service API, version 0.2.
enum Introspection {
    /// The names of the interfaces.
    enum Interface {
        static let service = "org.freedesktop.Secret.Service"
        static let collection = "org.freedesktop.Secret.Collection"
        static let item = "org.freedesktop.Secret.Item"
        static let session = "org.freedesktop.Secret.Session"
        static let prompt = "org.freedesktop.Secret.Prompt"
        static let properties = "org.freedesktop.DBus.Properties"
        static let introspectable = "org.freedesktop.DBus.Introspectable"
    }

    /// A method or a signal: its arguments by their names, `out` ones behind `->`.
    private struct Member {
        let element: String
        let name: String
        let takes: [(String, String)]
        var gives: [(String, String)] = []

        var xml: String {
            let direction = element == "method" ? " direction=\"in\"" : ""
            let arguments =
                takes.map { "<arg name=\"\($0.0)\" type=\"\($0.1)\"\(direction)/>" }
                + gives.map { "<arg name=\"\($0.0)\" type=\"\($0.1)\" direction=\"out\"/>" }
            return "<\(element) name=\"\(name)\">\(arguments.joined())</\(element)>"
        }
    }

    private static func method(
        _ name: String,
        _ takes: [(String, String)] = [],
        gives: [(String, String)] = []
    ) -> String { Member(element: "method", name: name, takes: takes, gives: gives).xml }

    private static func signal(_ name: String, _ arguments: [(String, String)]) -> String {
        Member(element: "signal", name: name, takes: arguments).xml
    }

    private static func property(_ name: String, _ type: String, isSettable: Bool = false) -> String {
        "<property name=\"\(name)\" type=\"\(type)\" access=\"\(isSettable ? "readwrite" : "read")\"/>"
    }

    /// The description of an object, and of what is below it.
    ///
    /// - Parameters:
    ///   - interfaces: The names of its own interfaces.
    ///   - children: The last parts of the paths of what is below it.
    static func document(_ interfaces: [String], children: [String]) -> String {
        let own = (interfaces.isEmpty ? [] : interfaces + [Interface.properties]) + [Interface.introspectable]
        let bodies = own.map { "<interface name=\"\($0)\">\((members[$0] ?? []).joined())</interface>" }
        let nodes = children.map { "<node name=\"\($0)\"/>" }
        return """
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
            "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <node>\((bodies + nodes).joined(separator: "\n"))</node>
            """
    }

    private static let members: [String: [String]] = [
        Interface.service: [
            method("OpenSession", [("algorithm", "s"), ("input", "v")], gives: [("output", "v"), ("result", "o")]),
            method(
                "CreateCollection",
                [("properties", "a{sv}"), ("alias", "s")],
                gives: [("collection", "o"), ("prompt", "o")]
            ),
            method("SearchItems", [("attributes", "a{ss}")], gives: [("unlocked", "ao"), ("locked", "ao")]),
            method("Unlock", [("objects", "ao")], gives: [("unlocked", "ao"), ("prompt", "o")]),
            method("Lock", [("objects", "ao")], gives: [("locked", "ao"), ("prompt", "o")]),
            method("GetSecrets", [("items", "ao"), ("session", "o")], gives: [("secrets", "a{o(oayays)}")]),
            method("ReadAlias", [("name", "s")], gives: [("collection", "o")]),
            method("SetAlias", [("name", "s"), ("collection", "o")]),
            signal("CollectionCreated", [("collection", "o")]), signal("CollectionDeleted", [("collection", "o")]),
            signal("CollectionChanged", [("collection", "o")]), property("Collections", "ao"),
        ],
        Interface.collection: [
            method("Delete", gives: [("prompt", "o")]),
            method("SearchItems", [("attributes", "a{ss}")], gives: [("results", "ao")]),
            method(
                "CreateItem",
                [("properties", "a{sv}"), ("secret", "(oayays)"), ("replace", "b")],
                gives: [("item", "o"), ("prompt", "o")]
            ),
            signal("ItemCreated", [("item", "o")]), signal("ItemDeleted", [("item", "o")]),
            signal("ItemChanged", [("item", "o")]), property("Items", "ao"),
            property("Label", "s", isSettable: true), property("Locked", "b"), property("Created", "t"),
            property("Modified", "t"),
        ],
        Interface.item: [
            method("Delete", gives: [("prompt", "o")]),
            method("GetSecret", [("session", "o")], gives: [("secret", "(oayays)")]),
            method("SetSecret", [("secret", "(oayays)")]), property("Locked", "b"),
            property("Attributes", "a{ss}", isSettable: true), property("Label", "s", isSettable: true),
            property("Created", "t"), property("Modified", "t"),
        ],
        Interface.session: [method("Close")],
        Interface.prompt: [
            method("Prompt", [("window-id", "s")]), method("Dismiss"),
            signal("Completed", [("dismissed", "b"), ("result", "v")]),
        ],
        VaultObject.name: [
            method("Lock"), method("Unlock", [("window-id", "s")]), property("State", "s"),
        ] + VaultObject.signals.map { signal($0, []) },
        PortalBackend.interface: [
            method(
                "RetrieveSecret",
                [("handle", "o"), ("app_id", "s"), ("fd", "h"), ("options", "a{sv}")],
                gives: [("response", "u"), ("results", "a{sv}")]
            ), property("version", "u"),
        ],
        Interface.properties: [
            method("Get", [("interface", "s"), ("name", "s")], gives: [("value", "v")]),
            method("Set", [("interface", "s"), ("name", "s"), ("value", "v")]),
            method("GetAll", [("interface", "s")], gives: [("properties", "a{sv}")]),
            signal(
                "PropertiesChanged",
                [("interface", "s"), ("changed", "a{sv}"), ("invalidated", "as")]
            ),
        ],
        Interface.introspectable: [method("Introspect", gives: [("document", "s")])],
    ]
}
