import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Sizes at and above each limit; the error has the limit and a hint.
@Suite struct KeychainBoundsTests {
    private let stepper: Stepper

    init() throws {
        stepper = try Stepper(passcode: nil)
    }

    /// The refusal of an operation; `nil` if it succeeds.
    private func refusal(_ body: () throws -> Void) throws -> CofferError? {
        do {
            try body()
            return nil
        } catch let error as CofferError {
            return error
        }
    }

    /// The required attributes of a class.
    private static func attributes(_ itemClass: ItemClass) -> [KeychainAttribute: AttributeValue] {
        itemClass == .key ? [.keyClass: .text("symmetric")] : [.account: .text("a")]
    }

    private static let passwords: [ItemClass] = [.genericPassword, .internetPassword, .key]

    @Test(arguments: passwords)
    func `a secret has 32768 bytes and not one more, when it is added and when it is changed`(
        itemClass: ItemClass
    ) throws {
        let full = pseudoRandomBytes(32_768)
        let reference = try stepper.add(itemClass, Self.attributes(itemClass), full)
        let query = KeychainQuery(reference: reference)
        #expect(try stepper.find(query).secrets == [full])
        var other = Self.attributes(itemClass)
        other[.label] = .text("another")
        other[itemClass == .key ? .applicationTag : .account] = itemClass == .key ? .bytes([1]) : .text("b")
        let refused = try #require(try refusal { try stepper.add(itemClass, other, full + [0]) })
        #expect(refused.code == .dataTooLarge)
        #expect(refused.message.contains("32768"))
        #expect(refused.hint != nil)
        #expect(try stepper.find(KeychainQuery(itemClass)).page.items.count == 1)
        guard itemClass != .key else { return }
        let changed = try #require(try refusal { try stepper.update(query, KeychainChange(), full + [0]) })
        #expect(changed.code == .dataTooLarge)
        #expect(changed.message.contains("32768"))
        #expect(changed.hint != nil)
        #expect(try stepper.find(query).secrets == [full])
    }

    @Test func `attributes have 4096 bytes together and not one more, whoever of them it is`() throws {
        func attempt(
            _ attributes: [KeychainAttribute: AttributeValue],
            user: [AttributeName: String] = [:]
        ) throws -> CofferError? {
            try refusal { try stepper.add(.genericPassword, attributes, user: user) }
        }
        /// The longest text that is accepted.
        func longest(_ make: (Int) -> ([KeychainAttribute: AttributeValue], [AttributeName: String])) throws -> Int {
            var (low, high) = (0, 5000)
            while low < high {
                let middle = (low + high + 1) / 2
                let (attributes, user) = make(middle)
                if let error = try attempt(attributes, user: user) {
                    #expect(error.code == .dataTooLarge)
                    #expect(error.message.contains("4096"))
                    #expect(error.hint != nil)
                    high = middle - 1
                } else {
                    #expect(try stepper.deleteKeychainItems(KeychainQuery(.genericPassword)) == 1)
                    low = middle
                }
            }
            return low
        }
        let label = try longest { ([.label: .text(String(repeating: "x", count: $0))], [:]) }
        let account = try longest { ([.account: .text(String(repeating: "x", count: $0))], [:]) }
        let generic = try longest { ([.generic: .bytes([UInt8](repeating: 1, count: $0))], [:]) }
        #expect(label == account)
        #expect(label == generic)
        let wide = try longest { ([.label: .text(String(repeating: "ä", count: $0))], [:]) }
        #expect(wide == label / 2, "bytes are counted, not characters")
        let value = try longest { ([:], ["n": String(repeating: "x", count: $0)]) }
        let name = try longest { ([:], [AttributeName(String(repeating: "x", count: $0 + 1)): ""]) } + 1
        #expect(name == value + 1, "the name and the value count alike")
        #expect((3900..<4096).contains(label))
        // A change has the same bound, and changes nothing above it.
        let reference = try stepper.add(.genericPassword, [.label: .text(String(repeating: "x", count: label))])
        let query = KeychainQuery(reference: reference)
        let longer = KeychainChange(attributes: [.label: .text(String(repeating: "y", count: label + 1))])
        let refused = try refusal { try stepper.update(query, longer) }
        #expect(refused?.code == .dataTooLarge)
        let same = KeychainChange(attributes: [.label: .text(String(repeating: "z", count: label))])
        #expect(try stepper.update(query, same) == 1)
    }

    @Test func `an item has 64 attributes of its owner's and not one more`() throws {
        let all = Dictionary(uniqueKeysWithValues: (0..<64).map { (AttributeName("n\($0)"), "v\($0)") })
        let reference = try stepper.add(.genericPassword, [:], user: all)
        let query = KeychainQuery(reference: reference)
        #expect(try stepper.find(query).page.items.first?.user == all)
        let more = all.merging(["one": "more"]) { $1 }
        let refused = try #require(
            try refusal { try stepper.add(.genericPassword, [.account: .text("b")], user: more) }
        )
        #expect(refused.code == .dataTooLarge)
        #expect(refused.message.contains("64"))
        #expect(refused.hint != nil)
        // Repeated small changes can't exceed it either.
        let changed = try #require(try refusal { try stepper.update(query, KeychainChange(user: ["one": "more"])) })
        #expect(changed.code == .dataTooLarge)
        #expect(changed.message.contains("64"))
        #expect(try stepper.update(query, KeychainChange(user: ["one": "more"], removedUser: ["n0"])) == 1)
        #expect(try stepper.find(query).page.items.first?.user?.count == 64)
    }

    @Test(
        arguments: [
            [], [0], [0, 0, 0], [10], [13, 10], Array("line\nline\n".utf8), [0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80],
            [0xF5, 0x80, 0x80, 0x80], Array(0...255), [0x80] + [UInt8](repeating: 0, count: 31),
            [UInt8](repeating: 0x80, count: 32), Array("{\"json\":true}".utf8),
        ] as [[UInt8]]
    )
    func `any bytes are a secret, and a former one`(secret: [UInt8]) throws {
        // A key must not be empty.
        for itemClass in Self.passwords where itemClass != .key || !secret.isEmpty {
            let reference = try stepper.add(itemClass, Self.attributes(itemClass), secret)
            let query = KeychainQuery(reference: reference)
            #expect(try stepper.find(query).secrets == [secret])
            guard itemClass != .key else { continue }
            try stepper.update(query, KeychainChange(), [1])
            #expect(try stepper.formerSecrets(of: query) == [secret])
            let number = try #require(try stepper.keychainHistory(of: query).first).number
            try stepper.restoreFormerValue(number, of: query)
            #expect(try stepper.find(query).secrets == [secret])
        }
    }

    @Test(arguments: Array(0..<80) + [127, 128, 129, 255, 256, 257, 4095, 4096, 4097])
    func `a secret of any length has it back`(count: Int) throws {
        let secret = pseudoRandomBytes(count)
        try stepper.add(.genericPassword, [:], secret)
        let found = try stepper.find(KeychainQuery(.genericPassword))
        #expect(found.secrets == [secret])
        #expect(found.page.items.map(\.byteCount) == [count])
    }

    @Test func `an empty text is a value, and a missing attribute is found by it too`() throws {
        let empty = try stepper.add(.genericPassword, [.account: .text("a"), .label: .text(""), .comment: .text("")])
        let missing = try stepper.add(.genericPassword, [.account: .text("b")])
        for attribute in [KeychainAttribute.label, .comment, .service] {
            let found = try stepper.find(KeychainQuery(.genericPassword, [attribute: .text("")])).page.items
            #expect(found.map(\.reference) == [empty, missing], "\(attribute)")
            #expect(found.first?.attributes?[attribute] == (attribute == .service ? nil : .text("")))
            #expect(found.last?.attributes?[attribute] == nil)
        }
        // Every text contains the empty one.
        #expect(try stepper.find(KeychainQuery(.genericPassword, prefix: [.label: ""])).page.items.count == 2)
        #expect(try stepper.find(KeychainQuery(.genericPassword, contains: [.label: ""])).page.items.count == 2)
    }

    @Test(
        arguments: [
            " ", "\n", "\0", "account", "class", "é", "a.b", "a=b", "\"", "\\", "💥", "\u{202E}", "__proto__", "null",
            String(repeating: "n", count: 1000),
        ]
    )
    func `an attribute of one's own has any name but the empty one`(text: String) throws {
        let name = AttributeName(text)
        let reference = try stepper.add(.genericPassword, [:], user: [name: "v"])
        let query = KeychainQuery(.genericPassword, user: [name: "v"])
        let found = try stepper.find(query).page.items
        #expect(found.map(\.reference) == [reference])
        #expect(found.first?.user == [name: "v"])
        #expect(found.first?.attributes?[.account] == nil, "it is no attribute of the class")
        #expect(try stepper.update(query, KeychainChange(removedUser: [name])) == 1)
        let after = try stepper.find(KeychainQuery(reference: reference)).page.items.first?.user
        #expect(after == [:])
        let unnamed = try refusal { try stepper.add(.genericPassword, [.account: .text("x")], user: ["": "v"]) }
        #expect(unnamed?.code == .param)
    }

    @Test(arguments: [Int64.min, -1, 0, 1, Int64.max])
    func `a number and a date have any value of 64 bits`(number: Int64) throws {
        let attributes: [KeychainAttribute: AttributeValue] = [
            .creator: .integer(number), .type: .integer(number), .expiryDate: .date(number),
        ]
        try stepper.add(.genericPassword, attributes)
        for (attribute, value) in attributes {
            let found = try stepper.find(KeychainQuery(.genericPassword, [attribute: value])).page.items
            #expect(found.count == 1)
            #expect(found.first?.attributes?[attribute] == value)
        }
        try stepper.add(.internetPassword, [.port: .integer(number)])
        #expect(try stepper.find(KeychainQuery(.internetPassword, [.port: .integer(number)])).page.items.count == 1)
    }

    // MARK: What can't be changed

    @Test func `a key that stays inside can't be let out by a change`() throws {
        let params = KeychainAddParameters(.key, [.label: .text("k")], generates: .ed25519)
        let reference = try stepper.addKeychainItem(params, secret: nil).value.reference
        let query = KeychainQuery(reference: reference)
        let changes = [
            KeychainChange(attributes: [.isExtractable: .bool(true)]),
            KeychainChange(removedAttributes: [.isExtractable]),
            KeychainChange(attributes: [.keyClass: .text("public")]),
            KeychainChange(attributes: [.keyClass: .text("symmetric")]),
        ]
        for change in changes {
            let refused = try refusal { try stepper.update(query, change) }
            #expect(refused?.code == .param, "\(change)")
            let read = try Outcome { _ = try stepper.find(query, returns: [.data]) }
            #expect(read == .refused(.missingEntitlement))
        }
        #expect(try stepper.update(query, KeychainChange(attributes: [.isExtractable: .bool(false)])) == 1)
    }

    @Test func `a key that may be read can be kept inside from now on`() throws {
        let attributes: [KeychainAttribute: AttributeValue] = [.keyClass: .text("private"), .keyType: .text("x25519")]
        let query = KeychainQuery(reference: try stepper.add(.key, attributes, pseudoRandomBytes(32)))
        #expect(try stepper.find(query).secrets.count == 1)
        #expect(try stepper.update(query, KeychainChange(attributes: [.isExtractable: .bool(false)])) == 1)
        let read = try Outcome { _ = try stepper.find(query, returns: [.data]) }
        #expect(read == .refused(.missingEntitlement))
    }

    @Test func `what comes from the item itself can't be changed or taken away`() throws {
        let attributes: [KeychainAttribute: AttributeValue] = [.keyClass: .text("private"), .keyType: .text("x25519")]
        let key = KeychainQuery(reference: try stepper.add(.key, attributes, pseudoRandomBytes(32)))
        let fixed: [KeychainAttribute: AttributeValue] = [
            .keyClass: .text("public"), .keyType: .text("ed25519"), .applicationLabel: .bytes([1]),
            .canSign: .bool(true), .canDerive: .bool(false), .keySizeInBits: .integer(1),
        ]
        for (attribute, value) in fixed {
            let changed = try refusal { try stepper.update(key, KeychainChange(attributes: [attribute: value])) }
            #expect(changed?.code == .param, "\(attribute)")
            let removed = try refusal { try stepper.update(key, KeychainChange(removedAttributes: [attribute])) }
            #expect(removed?.code == .param, "\(attribute)")
        }
        let pem = try String(
            contentsOfFile: "\(Project.root)/Tests/Vectors/keys/ed25519-certificate.pem",
            encoding: .utf8
        )
        let base64 = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
        let der = Array(try #require(Data(base64Encoded: base64)))
        let certificate = KeychainQuery(reference: try stepper.add(.certificate, [:], der))
        for attribute in [KeychainAttribute.issuer, .serialNumber, .publicKeyHash, .certificateType] {
            let removed = try refusal {
                try stepper.update(certificate, KeychainChange(removedAttributes: [attribute]))
            }
            #expect(removed?.code == .param, "\(attribute)")
        }
        for query in [key, certificate] {
            for attribute in [KeychainAttribute.accessGroup, .synchronizable, .creationDate] {
                let removed = try refusal { try stepper.update(query, KeychainChange(removedAttributes: [attribute])) }
                #expect(removed?.code == .param, "\(attribute)")
            }
            #expect(try stepper.update(query, KeychainChange(attributes: [.label: .text("l")])) == 1)
            #expect(try stepper.update(query, KeychainChange(removedAttributes: [.label])) == 1)
        }
        #expect(try stepper.publicKey(of: key).keyType == "x25519")
    }
}
