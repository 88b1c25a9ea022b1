import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Testing

/// The names that an item can get.
@Suite struct NewPathTests {
    private let stepper: Stepper

    init() throws { stepper = try Stepper() }

    private func refusal(_ body: () throws -> Void) throws -> CofferError? {
        do {
            try body()
            return nil
        } catch let error as CofferError { return error }
    }

    @Test(arguments: [
        "login:nina@github.com", "login:github.com", "key:deploy", "certificate:ca.example", "password:wifi",
        "reference:00112233445566778899aabbccddeeff",
    ])
    func `a name that means an item by its class is no path of another one, however that is to get it`(
        path: String
    ) throws {
        let name = try ItemName(path)
        try stepper.put("site/token", [1])
        try stepper.put("removed", [2])
        try stepper.put("file", [3]) { $0.store = .file }
        let removal = ItemRemoveParameters(name: try ItemName("removed"), keepsInTrash: true)
        let entry = try #require(try stepper.call(removal).value.number)
        let token = KeychainQuery(.genericPassword, [.service: .text("site"), .account: .text("token")])
        let attributes: [KeychainAttribute: AttributeValue] = [.service: .text(""), .account: .text(path)]

        let ways: [(way: String, run: () throws -> Void)] = [
            ("put of a secret", { try stepper.put(path, [4]) }),
            ("put of a file", { try stepper.put(path, [4]) { $0.store = .file } }),
            ("move of a secret", { try stepper.move(ItemName("site/token"), to: name) }),
            ("move of a file", { try stepper.move(ItemName("file"), to: name) }),
            ("restoration", { try stepper.call(TrashRestoreParameters(number: entry, target: name)) }),
            ("addition", { try stepper.add(.genericPassword, attributes) }),
            ("update", { try stepper.update(token, KeychainChange(attributes: attributes)) }),
        ]
        for (way, run) in ways {
            let failure = try refusal(run)
            #expect(failure?.code == .param, "\(way)")
            #expect(failure?.message.hasPrefix("no item gets the path '\(path)'") == true, "\(way)")
        }
        #expect(try stepper.list().items.map(\.name).sortedByBytes() == ["file", "site/token"])
        // What was refused is still in the trash, and a file of the tree may have the name.
        try stepper.call(TrashRestoreParameters(number: entry))
        #expect(try stepper.get("removed") == [2])
        try stepper.makeDirectory(name)
    }
}
