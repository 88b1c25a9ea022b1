import CofferCore
import CofferWire
import Testing

/// The tables of `proto-docs/ACCESS-CONTROL.md`.
@Suite struct AccessControlPageTests {
    private let page: Page

    init() throws { page = try Page("ACCESS-CONTROL.md") }

    /// The methods that are on this page, and on no other.
    static let methods = Method.allCases.filter { $0.rawValue.hasPrefix("context.") }

    @Test func `every word is in the table, in the order of its bits`() throws {
        let rows = try page.table(["word", "what it asks for"])
        #expect(rows.map { $0[0] } == AccessControl.Flag.allCases.map { "`\($0.rawValue)`" })
    }

    @Test func `every factor and every need is on the page`() {
        let words = Set(page.text.quotedWords)
        let known = AuthenticationFactor.allCases.map(\.rawValue) + AuthenticationNeed.allCases.map(\.rawValue)
        #expect(words.isSuperset(of: known))
    }

    @Test(arguments: methods, VaultState.allCases)
    func `the table of states is the gate`(method: Method, state: VaultState) throws {
        try Page.expectGate(method, in: state, try page.stateRows())
    }

    @Test(arguments: methods)
    func `the parameters of the page are those that the method reads`(method: Method) throws {
        let rows = try page.table(["method", "parameters", "payload", "result"])
        let row = try #require(rows.first { $0[0].quotedWords == [method.rawValue] })
        #expect(row[1].quotedWords == ProtocolParametersTests.parametersRead(by: method))
        #expect(ProtocolParametersTests.parametersMissed(by: method).isEmpty)
    }

    @Test func `the time of reuse is that of the code`() throws {
        let rows = try page.table(["parameter", "type", "bounds", "default"])
        #expect(rows.last?[2] == "0 to \(Limits.contextSeconds) seconds")
    }
}
