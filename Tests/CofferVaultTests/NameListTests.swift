import CofferCore
import CofferVault
import Testing

/// The names that a shell's completion is answered from.
@Suite struct NameListTests {
    private func list(_ names: [String], in group: String = "home") throws -> NameList {
        let list = try NameList()
        for name in names { #expect(try list.append(name, in: group)) }
        list.sort()
        return list
    }

    @Test func `a few names are completed to themselves, in the order of their bytes`() throws {
        let list = try list(["web/b", "mail/a", "web/a"])
        #expect(list.completions(of: "", in: "home") == ["mail/a", "web/a", "web/b"])
        #expect(list.completions(of: "web/", in: "home") == ["web/a", "web/b"])
        #expect(list.completions(of: "web/c", in: "home") == [])
    }

    @Test func `a name of another group is no candidate`() throws {
        let list = try list(["web/a"])
        #expect(list.completions(of: "", in: "work") == [])
    }

    @Test func `many names are completed to their folders`() throws {
        let list = try list((0..<Limits.completions).flatMap { ["web/\($0)", "mail/\($0)"] })
        #expect(list.completions(of: "", in: "home") == ["mail/", "web/"])
    }

    @Test func `a folder that holds all of many names is passed over`() throws {
        let list = try list((0...Limits.completions).map { "web/\($0 % 2 == 0 ? "x" : "y")/\($0)" })
        #expect(list.completions(of: "", in: "home") == ["web/x/", "web/y/"])
    }
}
