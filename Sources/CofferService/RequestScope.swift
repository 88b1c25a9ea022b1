package import CofferWire

/// What a request has to do with, as far as that decides which other requests of its connection it waits for.
package enum RequestScope: Equatable, Sendable {
    /// Something that any request may change, or be changed by.
    package enum Subject: Equatable, Sendable {
        /// Everything that is stored.
        case catalog
        /// Everything in the keychain.
        case keychain
        /// What has these names, and what is in the directories of these names.
        case names([String])
        /// What the connection has open under a number.
        case handle(Int64)
    }

    /// It waits for nothing, and nothing for it.
    case free
    /// It looks at something.
    case reading(Subject)
    /// It changes something.
    case changing(Subject)
    /// What was asked before is done first, and what is asked afterwards later.
    case barrier

    /// Decides whether a request waits for one of the same connection that came before it and is not answered yet.
    ///
    /// Those that only look wait for no other that only looks; names are the same where they are canonically equivalent,
    /// which is how the keychain compares them.
    ///
    /// - Parameters:
    ///   - later: The request.
    ///   - earlier: The one before it.
    package static func mustWait(_ later: RequestScope, for earlier: RequestScope) -> Bool {
        switch (later, earlier) {
        case (.free, _), (_, .free), (.reading, .reading): false
        case (.barrier, _), (_, .barrier): true
        case (.changing(let one), .changing(let other)), (.changing(let one), .reading(let other)),
            (.reading(let one), .changing(let other)):
            one.touches(other)
        }
    }

    /// What a request has to do with.
    ///
    /// - Parameters:
    ///   - method: Its method.
    ///   - params: Its parameters, which may make no sense.
    package init(of method: Method, _ params: JSONObject) {
        switch method.claim {
        case .nothing: self = .free
        case .barrier: self = .barrier
        case .reads(let subject): self = .reading(Subject(subject, in: params))
        case .changes(let subject): self = .changing(Subject(subject, in: params))
        }
    }
}

extension RequestScope.Subject {
    fileprivate init(_ subject: MethodClaim.Subject, in params: JSONObject) {
        switch subject {
        case .catalog: self = .catalog
        case .keychain: self = .keychain
        case .names(let keys):
            let names = keys.compactMap { params[$0]?.stringValue }
            self = names.isEmpty ? .catalog : .names(names)
        case .handle: self = params["handle"]?.integerValue.map { .handle($0) } ?? .catalog
        }
    }

    /// Whether what is done to the one may matter to who looks at the other.
    fileprivate func touches(_ other: Self) -> Bool {
        switch (self, other) {
        case (.handle(let one), .handle(let other)): one == other
        case (.handle, .keychain), (.keychain, .handle): false
        case (.names(let some), .names(let others)):
            some.contains { one in others.contains { one == $0 || one.isBelow($0) || $0.isBelow(one) } }
        // A handle does not tell the name that its file has by now.
        case (.catalog, _), (_, .catalog), (.keychain, _), (_, .keychain), (.handle, _), (_, .handle): true
        }
    }
}

extension String {
    fileprivate func isBelow(_ directory: String) -> Bool { hasPrefix(directory + "/") }
}
