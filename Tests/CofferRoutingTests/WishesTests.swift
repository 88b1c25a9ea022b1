import CofferCore
import CofferRouting
import Testing

@Suite struct WishesTests {
    private static let small = RoutingFacts(size: .exactly(10))
    private static let large = RoutingFacts(size: .exactly(100_000))

    // MARK: The store

    @Test(arguments: StoreName.allCases, RoutingFacts.product.filter { $0.size == .exactly(1025) })
    func `a named store overrides the matrix, and the rule is still named`(store: StoreName, facts: RoutingFacts) throws
    {
        let verdict = try Routing.route(facts, wishes: RoutingWishes(store: store))
        #expect(verdict.store == store)
        #expect(verdict.storeSource == .caller)
        #expect(verdict.rule == Rule(for: facts))
        let standard: Protection =
            store == .file && facts.kind == nil && facts.isDeclaredStructured ? .file(.complete) : .standard(in: store)
        #expect(verdict.protection == (facts.kind?.scenario?.protection ?? standard).converted(to: store))
        #expect(
            verdict.reason == "the caller named the store; without that, "
                + "\(verdict.rule.rawValue): \(verdict.rule.reason(RoutingBounds()))"
        )
    }

    @Test(arguments: ItemKind.allCases, [(32767, true), (32768, true), (32769, false)] as [(Int64, Bool)])
    func `nothing over 32 KiB gets into the keychain, whatever the source of the choice`(
        kind: ItemKind,
        boundary: (size: Int64, fits: Bool)
    ) throws {
        let facts = RoutingFacts(kind: kind, size: .exactly(boundary.size))
        let wishes = RoutingWishes(store: .keychain)
        if boundary.fits {
            #expect(try Routing.route(facts, wishes: wishes).store == .keychain)
        } else {
            #expect(throws: CofferError(.dataTooLarge, "")) { try Routing.route(facts, wishes: wishes) }
        }
    }

    @Test func `nothing whose end was not seen gets into the keychain`() {
        #expect(throws: CofferError(.dataTooLarge, "")) {
            try Routing.route(RoutingFacts(size: .moreThan(10)), wishes: RoutingWishes(store: .keychain))
        }
    }

    @Test func `a large key is stored where the caller names the file store`() throws {
        let facts = RoutingFacts(kind: .key, size: .exactly(32769))
        let verdict = try Routing.route(facts, wishes: RoutingWishes(store: .file))
        #expect(verdict.store == .file)
        #expect(verdict.rule == .r2)
    }

    // MARK: The words of the errors

    @Test(
        arguments: [
            (.key, nil, "store it as a document: say '--kind document'"),
            (.key, .keychain, "store it as a document: say '--kind document' and leave out '--store keychain'"),
            (nil, .keychain, "store it as a document: leave out '--store keychain'"),
        ] as [(ItemKind?, StoreName?, String)]
    )
    func `too large names the limit and a way out that works`(
        kind: ItemKind?,
        store: StoreName?,
        hint: String
    ) throws {
        let facts = RoutingFacts(kind: kind, size: .exactly(40_000))
        let error = try #require(throws: CofferError.self) {
            try Routing.route(facts, wishes: RoutingWishes(store: store))
        }
        #expect(error.message == "can't put it in the keychain: it has 40000 bytes, and the limit is 32768 (32 KiB)")
        #expect(error.hint == hint)
        #expect(error.retry == .never)
        #expect(error.cocoaCode == 263)
        let way = RoutingFacts(kind: hint.contains("--kind") ? .document : kind, size: facts.size)
        #expect(try Routing.route(way).store == .file)
    }

    @Test func `too large says that the end was not seen`() throws {
        let error = try #require(throws: CofferError.self) {
            try Routing.route(RoutingFacts(kind: .token, size: .moreThan(32768)))
        }
        #expect(error.message.contains("it has more than 32768 bytes"))
    }

    @Test(arguments: ProtectionClass.allCases, Accessibility.allCases)
    func `a class and an accessibility together are refused, unless they match`(
        protectionClass: ProtectionClass,
        accessibility: Accessibility
    ) throws {
        let wishes = RoutingWishes(protectionClass: protectionClass, accessibility: accessibility)
        if Accessibility(matching: protectionClass) == accessibility {
            for (facts, protection) in [
                (Self.small, Protection.keychain(accessibility)), (Self.large, .file(protectionClass)),
            ] {
                let verdict = try Routing.route(facts, wishes: wishes)
                #expect(verdict.protection == protection)
                #expect(verdict.protectionSource == .caller)
                #expect(verdict.storeSource == .matrix)
                #expect(verdict.convertedFrom == nil)
            }
            return
        }
        let error = try #require(throws: CofferError.self) { try Routing.route(Self.small, wishes: wishes) }
        #expect(error.code == .param)
        #expect(error.message.contains("'\(protectionClass.rawValue)'"))
        #expect(error.message.contains("'\(accessibility.rawValue)'"))
    }

    @Test func `contradicting options are refused before the size is checked`() {
        let wishes = RoutingWishes(store: .keychain, protectionClass: .complete, accessibility: .always)
        #expect(throws: CofferError(.param, "")) { try Routing.route(Self.large, wishes: wishes) }
    }

    // MARK: Precedence

    // Each source says something of its own, so that the answer shows who was heard.
    @Test(arguments: 0..<64)
    func `the first source that says something wins`(bits: Int) throws {
        let says = (0..<6).map { bits >> $0 & 1 == 1 }
        let expected: [(ProtectionSource, ProtectionClass)] = [
            (.caller, .none), (.directory, .complete), (.existingItem, .completeWhenUserInactive),
            (.entitlement, .completeUnlessOpen), (.configuration, .none), (.scenario, .complete),
            (.standard, .completeUntilFirstUserAuthentication),
        ]
        let verdict = try Routing.route(
            RoutingFacts(size: .exactly(100_000), scenario: says[5] ? .health : nil),
            wishes: RoutingWishes(
                protectionClass: says[0] ? ProtectionClass.none : nil,
                existing: says[2] ? .file(.completeWhenUserInactive) : nil,
                directory: says[1] ? .complete : nil,
                entitled: says[3] ? .file(.completeUnlessOpen) : nil,
                configured: says[4] ? .file(.none) : nil
            )
        )
        let winner = expected[says.firstIndex(of: true) ?? 6]
        #expect(verdict.protectionSource == winner.0)
        #expect(verdict.protection == .file(winner.1))
        #expect(verdict.convertedFrom == nil)
    }

    @Test func `a directory says nothing of the keychain, and nothing of what comes out of it`() throws {
        let small = try Routing.route(Self.small, wishes: RoutingWishes(directory: .complete))
        #expect(small.protection == .keychain(.whenUnlocked))
        #expect(small.protectionSource == .standard)
        for accessibility in Accessibility.allCases {
            let existing = Protection.keychain(accessibility)
            guard let same = existing.converted(to: .file) else { continue }
            let grown = try Routing.route(
                Self.large,
                wishes: RoutingWishes(existing: existing, directory: ProtectionClass.none)
            )
            #expect(grown.protection == same)
            #expect(grown.protectionSource == .existingItem)
        }
        let shrunk = try Routing.route(
            Self.small,
            wishes: RoutingWishes(store: .keychain, existing: .file(.complete), directory: ProtectionClass.none)
        )
        #expect(shrunk.protection == .keychain(.whenUnlocked))
        #expect(shrunk.protectionSource == .existingItem)
    }

    private static let strictToWeak: [ProtectionClass] = [
        .complete, .completeUnlessOpen, .completeWhenUserInactive, .completeUntilFirstUserAuthentication, .none,
    ]

    private static func stricter(_ one: ProtectionClass, _ other: ProtectionClass) -> ProtectionClass {
        strictToWeak.first { $0 == one || $0 == other } ?? one
    }

    @Test(arguments: strictToWeak, strictToWeak)
    func `a copy has the stricter of the class of its source and that of its place`(
        source: ProtectionClass,
        place: ProtectionClass
    ) throws {
        let facts = RoutingFacts(size: .exactly(100_000))
        for wishes in [
            RoutingWishes(leastClass: source, directory: place),
            RoutingWishes(leastClass: source, existing: .file(place)),
            RoutingWishes(leastClass: source, entitled: .file(place)),
            RoutingWishes(leastClass: source, configured: .file(place)),
        ] {
            let verdict = try Routing.route(facts, wishes: wishes)
            #expect(verdict.protection == .file(Self.stricter(source, place)))
            #expect((verdict.protectionSource == .copiedItem) == (Self.stricter(source, place) != place))
        }
        let named = RoutingWishes(protectionClass: place, leastClass: source)
        #expect(try Routing.route(facts, wishes: named).protection == .file(place))
    }

    @Test(arguments: strictToWeak, strictToWeak)
    func `what replaces a file is never weaker, unless the caller says so`(
        former: ProtectionClass,
        directory: ProtectionClass
    ) throws {
        let wishes = RoutingWishes(existing: .file(former), directory: directory)
        let verdict = try Routing.route(RoutingFacts(size: .exactly(100_000)), wishes: wishes)
        #expect(verdict.protection == .file(Self.stricter(former, directory)))
    }

    @Test func `the sources keep their names`() {
        #expect(
            ProtectionSource.allCases.map(\.rawValue)
                == [
                    "caller", "copiedItem", "directory", "existingItem", "entitlement", "configuration", "scenario",
                    "kind", "content", "group", "standard",
                ]
        )
        #expect(StoreSource.allCases.map(\.rawValue) == ["matrix", "caller", "protection", "existingItem"])
    }

    // MARK: Conversion

    @Test(arguments: ProtectionClass.allCases)
    func `a file that stays in its store keeps its class`(protectionClass: ProtectionClass) throws {
        let verdict = try Routing.route(Self.large, wishes: RoutingWishes(existing: .file(protectionClass)))
        #expect(verdict.protection == .file(protectionClass))
        #expect(verdict.convertedFrom == nil)
    }

    // Every row of the matrix wants the one store or the other; 32 KiB is the only size that moves an item.
    @Test(arguments: [nil] + ItemKind.allCases, [1, 1024, 1025, 4096, 4097, 32767, 32768, 32769, 1 << 30])
    func `an item keeps its store, whatever the matrix says, and outgrows the keychain beyond 32 KiB`(
        kind: ItemKind?,
        size: Int64
    ) throws {
        for isInDirectory in [false, true] {
            for isPresentedAsFile in [false, true] {
                let facts = RoutingFacts(
                    kind: kind,
                    size: .exactly(size),
                    isPresentedAsFile: isPresentedAsFile,
                    isInDirectory: isInDirectory
                )
                let file = try Routing.route(facts, wishes: RoutingWishes(existing: .file(.completeUnlessOpen)))
                #expect(file.protection == .file(.completeUnlessOpen))
                let secret = try Routing.route(facts, wishes: RoutingWishes(existing: .keychain(.afterFirstUnlock)))
                let isSecret = size <= Limits.secretBytes
                #expect(
                    secret.protection
                        == (isSecret ? .keychain(.afterFirstUnlock) : .file(.completeUntilFirstUserAuthentication))
                )
                for verdict in [file, secret] {
                    #expect((verdict.storeSource == .matrix) == (verdict.rule.store == verdict.store))
                    #expect(verdict.storeSource == .matrix || verdict.storeSource == .existingItem)
                }
            }
        }
    }

    @Test(arguments: Accessibility.allCases)
    func `an item that stays in the keychain keeps its accessibility`(accessibility: Accessibility) throws {
        let verdict = try Routing.route(Self.small, wishes: RoutingWishes(existing: .keychain(accessibility)))
        #expect(verdict.protection == .keychain(accessibility))
        #expect(verdict.convertedFrom == nil)
    }

    @Test(
        arguments: [
            (.complete, .whenUnlocked),
            (.completeUnlessOpen, .whenUnlockedDeposit),
            (.completeUntilFirstUserAuthentication, .afterFirstUnlock),
            (ProtectionClass.none, .always),
        ] as [(ProtectionClass, Accessibility)]
    )
    func `a policy goes along into the keychain, and only who named it is told of the other word`(
        protectionClass: ProtectionClass,
        accessibility: Accessibility
    ) throws {
        for wishes in [
            RoutingWishes(store: .keychain, existing: .file(protectionClass)),
            RoutingWishes(entitled: .file(protectionClass)),
        ] {
            let verdict = try Routing.route(Self.small, wishes: wishes)
            #expect(verdict.protection == .keychain(accessibility))
            #expect(verdict.convertedFrom == nil)
        }
        let named = try Routing.route(Self.small, wishes: RoutingWishes(protectionClass: protectionClass))
        #expect(named.protection == .keychain(accessibility))
        #expect(named.convertedFrom == .file(protectionClass))
    }

    @Test(
        arguments: [
            (.whenUnlocked, .complete),
            (.afterFirstUnlock, .completeUntilFirstUserAuthentication),
            (.always, .none),
            (.whenUnlockedDeposit, .completeUnlessOpen),
        ] as [(Accessibility, ProtectionClass)]
    )
    func `a policy goes along into the file store, and only who named it is told of the other word`(
        accessibility: Accessibility,
        protectionClass: ProtectionClass
    ) throws {
        for wishes in [
            RoutingWishes(existing: .keychain(accessibility)), RoutingWishes(entitled: .keychain(accessibility)),
        ] {
            let verdict = try Routing.route(Self.large, wishes: wishes)
            #expect(verdict.protection == .file(protectionClass))
            #expect(verdict.convertedFrom == nil)
        }
        for wishes in [
            RoutingWishes(accessibility: accessibility), RoutingWishes(store: .file, accessibility: accessibility),
        ] {
            let verdict = try Routing.route(Self.large, wishes: wishes)
            #expect(verdict.protection == .file(protectionClass))
            #expect(verdict.convertedFrom == .keychain(accessibility))
        }
    }

    // MARK: What only one store has

    private static let onlyHere = Accessibility.allCases.filter { $0.rawValue.hasSuffix("ThisDeviceOnly") }

    @Test(arguments: onlyHere, [32767, 32768, 32769] as [Int64])
    func `what stays on this device stays in the keychain up to 32 KiB, and is refused beyond`(
        accessibility: Accessibility,
        size: Int64
    ) throws {
        for wishes in [
            RoutingWishes(accessibility: accessibility), RoutingWishes(existing: .keychain(accessibility)),
            RoutingWishes(entitled: .keychain(accessibility)), RoutingWishes(configured: .keychain(accessibility)),
        ] {
            for kind in [nil, ItemKind.document] {
                let facts = RoutingFacts(kind: kind, size: .exactly(size), isPresentedAsFile: true)
                if size <= 32768 {
                    let verdict = try Routing.route(facts, wishes: wishes)
                    #expect(verdict.protection == .keychain(accessibility))
                    #expect(verdict.storeSource == .protection)
                    #expect(
                        verdict.reason.hasPrefix(
                            "the protection '\(accessibility.words)' exists in the keychain only; without that, R"
                        )
                    )
                } else {
                    let error = try #require(throws: CofferError.self) { try Routing.route(facts, wishes: wishes) }
                    #expect(error.code == .dataTooLarge)
                    #expect(error.hint?.contains("--protection complete") == true)
                }
            }
        }
        #expect(throws: CofferError(.param, "")) {
            try Routing.route(Self.small, wishes: RoutingWishes(store: .file, accessibility: accessibility))
        }
    }

    @Test(arguments: [0, 1023, 1024, 1025, 32768, 32769] as [Int64])
    func `what expires while locked is a file of any size, also a password`(size: Int64) throws {
        let expiring = ProtectionClass.completeWhenUserInactive
        for wishes in [
            RoutingWishes(protectionClass: expiring), RoutingWishes(existing: .file(expiring)),
            RoutingWishes(entitled: .file(expiring)), RoutingWishes(configured: .file(expiring)),
        ] {
            for kind in [nil, ItemKind.password, .document] {
                let verdict = try Routing.route(RoutingFacts(kind: kind, size: .exactly(size)), wishes: wishes)
                #expect(verdict.protection == .file(expiring))
                #expect(verdict.convertedFrom == nil)
            }
        }
        #expect(throws: CofferError(.param, "")) {
            try Routing.route(Self.small, wishes: RoutingWishes(store: .keychain, protectionClass: expiring))
        }
    }

    @Test func `in a directory nothing new stays on this device only`() throws {
        let facts = RoutingFacts(size: .exactly(10), isInDirectory: true)
        for wishes in [
            RoutingWishes(accessibility: .whenUnlockedThisDeviceOnly),
            RoutingWishes(entitled: .keychain(.whenUnlockedThisDeviceOnly)),
        ] {
            #expect(throws: CofferError(.param, "")) { try Routing.route(facts, wishes: wishes) }
        }
        let kept = RoutingWishes(existing: .keychain(.whenUnlockedThisDeviceOnly), directory: .complete)
        #expect(try Routing.route(facts, wishes: kept).protection == .keychain(.whenUnlockedThisDeviceOnly))
    }

    // MARK: What is kept

    @Test func `a verdict that was kept says the same again`() throws {
        for facts in RoutingFacts.product.filter({ $0.size == .exactly(1024) || $0.size == .exactly(4097) }) {
            for wishes in [RoutingWishes(), RoutingWishes(store: .file), RoutingWishes(protectionClass: .complete)] {
                guard let verdict = try? Routing.route(facts, wishes: wishes) else { continue }
                let again = try #require(Verdict(verdict.decision, of: verdict.protection, RoutingBounds()))
                #expect(again.reason == verdict.reason)
                #expect([again.rule.rawValue, again.protectionSource.rawValue] == verdict.words)
            }
        }
        let found = try Routing.route(RoutingFacts(size: .exactly(300), signature: .pemKey))
        #expect(found.decision == "R1 matrix standard pemKey")
        #expect(Verdict(found.decision, of: found.protection, RoutingBounds())?.signature == .pemKey)
        for text in ["", "R9 matrix standard", "R1 matrix", "R1 nothing standard"] {
            #expect(Verdict(text, of: found.protection, RoutingBounds()) == nil)
        }
    }

    @Test(arguments: [VaultState.beforeFirstUnlock, .locked, .lockedExpired, .locking, .unlocked])
    func `what is asked for as class B can be put in every state, however small it is`(state: VaultState) throws {
        for size: Int64 in [1, 1024, 1025, 40_000] {
            let facts = RoutingFacts(size: .exactly(size))
            let wishes = RoutingWishes(protectionClass: .completeUnlessOpen)
            switch try Routing.route(facts, wishes: wishes).protection {
            case .keychain(let accessibility): #expect(accessibility.permits(.create, in: state))
            case .file(let protectionClass): #expect(protectionClass.permits(.create, in: state))
            }
        }
    }

    // A vault that never had a passcode lies outside the states.
    @Test(arguments: [VaultState.beforeFirstUnlock, .locked, .lockedExpired, .locking, .unlocked])
    func `a converted item is readable in the same states`(state: VaultState) {
        let files = ProtectionClass.allCases.map { Protection.file($0) }
        let items = Accessibility.allCases.map { Protection.keychain($0) }
        for original in files + items {
            for converted in StoreName.allCases.compactMap({ original.converted(to: $0) }) {
                #expect(converted.isReadable(in: state) == original.isReadable(in: state))
            }
        }
    }
}

extension Verdict {
    fileprivate var words: [String] { [rule.rawValue, protectionSource.rawValue] }
}
