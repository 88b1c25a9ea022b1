internal import CofferCore
package import CofferWire

/// The resources of a request, which decide the earlier requests of its connection that it waits for.
package enum RequestScope: Equatable, Sendable {
    /// A resource.
    package enum Subject: Equatable, Sendable {
        /// Everything in both stores.
        case catalog
        /// Everything in the keychain.
        case keychain
        /// The items of these names, and what is in the directories of these names.
        case names([String])
        /// An open file of the connection, by its number.
        case handle(Int64)
    }

    /// It waits for no request, and no request waits for it.
    case free
    /// It reads a resource.
    case reading(Subject)
    /// It changes a resource.
    case changing(Subject)
    /// It waits for all requests before it, and all requests after it wait for it.
    case barrier

    /// Decides whether a request waits for an earlier one of its connection that is not answered yet.
    ///
    /// Two requests that only read never wait for each other. Names are compared as bytes.
    package static func mustWait(_ later: RequestScope, for earlier: RequestScope) -> Bool {
        switch (later, earlier) {
        case (.free, _), (_, .free), (.reading, .reading): false
        case (.barrier, _), (_, .barrier): true
        case (.changing(let one), .changing(let other)), (.changing(let one), .reading(let other)),
            (.reading(let one), .changing(let other)):
            one.touches(other)
        }
    }

    /// The scope of a request.
    ///
    /// - Parameters:
    ///   - method: Its method.
    ///   - params: Its parameters, not validated.
    package init(of method: Method, _ params: JSONObject) {
        switch method.claim {
        case .nothing: self = .free
        case .barrier, .keys: self = .barrier
        case .reads(let subject): self = .reading(Subject(subject, in: params))
        case .changes(let subject): self = .changing(Subject(subject, in: params))
        }
    }
}

extension RequestScope.Subject {
    fileprivate init(_ subject: MethodClaim.Subject, in params: JSONObject) {
        switch subject {
        case .catalog: self = .catalog
        case .keychain: self = Self.password(in: params).map { .names([$0]) } ?? .keychain
        case .names(let keys):
            let names = keys.compactMap { params[$0]?.stringValue }
            // One item has several such names.
            self = names.isEmpty || names.contains(where: Self.isQualified) ? .catalog : .names(names)
        case .handle: self = params["handle"]?.integerValue.map { .handle($0) } ?? .catalog
        }
    }

    /// Whether a name may mean a keychain item that has another name as well.
    private static func isQualified(_ name: String) -> Bool {
        name.lastOffset(ofByte: UInt8(ascii: ":")) != nil && (try? ItemName(name)).flatMap(QualifiedName.init) != nil
    }

    /// The name of the generic password whose primary key a request gives and does not change.
    private static func password(in params: JSONObject) -> String? {
        guard params["class"]?.stringValue == ItemClass.genericPassword.rawValue,
            params["set"]?.objectValue?["attributes"] == nil,
            let attributes = params["attributes"]?.objectValue,
            let service = attributes["service"]?.stringValue, let account = attributes["account"]?.stringValue
        else { return nil }
        return service.isEmpty ? account : service + "/" + account
    }

    /// Whether a change of one resource may affect the other.
    fileprivate func touches(_ other: Self) -> Bool {
        switch (self, other) {
        case (.handle(let one), .handle(let other)): one == other
        case (.handle, .keychain), (.keychain, .handle): false
        case (.names(let some), .names(let others)):
            some.contains { one in others.contains { one.hasSameBytes(as: $0) || one.isBelow($0) || $0.isBelow(one) } }
        // The present name of an open file is not known from its handle.
        case (.catalog, _), (_, .catalog), (.keychain, _), (_, .keychain), (.handle, _), (_, .handle): true
        }
    }
}

extension String {
    fileprivate func isBelow(_ directory: String) -> Bool { utf8.starts(with: (directory + "/").utf8) }
}
