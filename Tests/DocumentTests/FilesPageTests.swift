import CofferCore
import CofferWire
import Testing

/// The tables of `proto-docs/FILES.md`.
@Suite struct FilesPageTests {
    private let page: Page

    init() throws { page = try Page("FILES.md") }

    /// The methods that are on this page, and on no other.
    static let methods = Method.allCases.filter { $0.rawValue.hasPrefix("file.") }

    @Test func `the table of classes is that of the code`() throws {
        let classes = ProtectionClass.allCases
        let rows = try page.table(["state"] + classes.map { "`\($0.rawValue)`" })
        let states = VaultState.allCases.filter { $0 != .noVault && $0 != .deviceKeyMissing }
        #expect(rows.map { $0[0] } == states.map { "`\($0.rawValue)`" })
        for (row, state) in zip(rows, states) {
            for (cell, protectionClass) in zip(row.dropFirst(), classes) {
                #expect(cell == Self.letters(of: protectionClass, in: state), "\(protectionClass) in \(state)")
            }
        }
    }

    private static func letters(of protectionClass: ProtectionClass, in state: VaultState) -> String {
        let operations: [(String, ItemOperation)] = [("R", .read), ("W", .write), ("N", .create), ("O", .proceed)]
        let letters = operations.filter { protectionClass.permits($0.1, in: state) }.map(\.0)
        return letters.isEmpty ? "–" : letters.joined(separator: " ")
    }

    @Test func `every method is in both tables`() throws {
        let states = try page.stateRows(below: "## Methods").flatMap { $0[0].quotedWords }
        #expect(states.sorted() == Self.methods.map(\.rawValue).sorted())
        let rows = try page.table(["method", "parameters", "payload", "result"]).map { $0[0] }
        #expect(rows.sorted() == Self.methods.map { "`\($0.rawValue)`" }.sorted())
    }

    @Test(arguments: methods, VaultState.allCases)
    func `the table of states is the gate`(method: Method, state: VaultState) throws {
        try Page.expectGate(method, in: state, try page.stateRows(below: "## Methods"))
    }

    @Test(arguments: methods)
    func `the parameters of the page are those that the method reads, in their order`(method: Method) throws {
        let known = ProtocolParametersTests.parametersRead(by: method)
        let found = try parameters(of: method).map(\.name)
        #expect(found == known)
    }

    @Test(arguments: methods)
    func `a parameter that is required on the page is required`(method: Method) throws {
        let required = try parameters(of: method).filter(\.isRequired).map(\.name)
        let missed = ProtocolParametersTests.parametersMissed(by: method)
        #expect(required == missed)
    }

    @Test func `the members of the results of handles are on the page`() throws {
        let opened = FileOpenResult(handle: 1, byteCount: 1, protectionClass: .complete, isNew: true)
        let salvage = Salvage(byteCount: 1, damagedByteCount: 1, damaged: [])
        let results: [(Method, JSONObject)] = [
            (.fileOpen, opened.json), (.fileRead, FileByteCount(byteCount: 1).json),
            (.fileWrite, FileWriteResult(offset: 1, byteCount: 1).json),
            (.fileAllocate, FileByteCount(byteCount: 1).json), (.fileSalvage, salvage.json),
            (.fileSalvage, DamagedRange(offset: 1, byteCount: 1).json), (.filePunch, FileByteCount(byteCount: 1).json),
            (.fileExtent, FileExtent(byteCount: 1, isHole: true).json),
            (.fileGetExtendedAttribute, FileByteCount(byteCount: 1).json),
            (.fileListExtendedAttributes, ExtendedAttributeList(attributes: []).json),
            (.fileListExtendedAttributes, ExtendedAttributeInfo(name: "a", byteCount: 1).json),
            (.fileSpace, FileSpace(totalByteCount: 1, freeByteCount: 1, availableByteCount: 1, fileCount: 1).json),
        ]
        for (method, result) in results {
            let named = Set(try row(of: method)[3].quotedWords)
            let members = Set(result.members.map(\.key))
            #expect(members.isSubset(of: named), "\(method): \(members.subtracting(named))")
        }
    }

    @Test func `the members of the results of the tree are on the page`() throws {
        let info = FileInfo(
            name: "a",
            isDirectory: true,
            type: .directory,
            inode: 1,
            mode: 1,
            uid: 1,
            gid: 1,
            target: "a",
            linkCount: 2,
            protectionClass: .complete,
            byteCount: 1,
            storedByteCount: 2,
            kind: .key,
            created: 1,
            modified: 1,
            accessedNanoseconds: 1,
            modifiedNanoseconds: 1,
            changedNanoseconds: 1,
            isReadable: true,
            isOpenForWriting: true,
            childCount: 1
        )
        let sentence = try #require(page.text.firstMatch(of: /A \*file\* has ([^.]+)\./)?.1)
        let shown = Set(info.json.members.map(\.key))
        #expect(Set(String(sentence).quotedWords) == shown)
        let unchanged = UnchangedFile(name: "a", code: .decode, message: "")
        let results: [(Method, JSONObject)] = [
            (.fileList, FilePage(entries: [info], cursor: "a", damagedCount: 1).json),
            (.fileRemove, CountResult(count: 1).json),
            (.fileProtect, FileProtectionChange(changedCount: 1, unchanged: [], unchangedCount: 0).json),
            (.fileProtect, unchanged.json),
        ]
        for (method, result) in results {
            let named = Set(try row(of: method)[3].quotedWords)
            let members = Set(result.members.map(\.key))
            #expect(members.isSubset(of: named), "\(method): \(members.subtracting(named))")
        }
    }

    @Test func `every reason of an error is on the page, with its sentence`() throws {
        let rows = try page.table(["reason", "what it means", "errno"])
        #expect(rows.map { $0[0].quotedWords } == ErrorReason.allCases.map { [$0.rawValue] })
        #expect(Set(rows.map { $0[2] }).count > rows.count / 2)
    }

    @Test func `every access is on the page`() throws {
        let rows = try page.table(["parameter", "type", "bounds", "default"])
        let row = try #require(rows.first { $0[0] == "`access`" })
        #expect(row[2].quotedWords == FileAccess.allCases.map(\.rawValue))
    }

    @Test func `the limits are those of the code`() throws {
        let text = page.text
        #expect(text.contains("writes \(Limits.framePayloadBytes) bytes at most"))
        #expect(text.contains("A file has \(Limits.fileBytes) at most"))
        let limits = try page.table(["limit", "value", "of"]).map { [$0[0].quotedWords[0], $0[1]] }
        let values = [
            ("handles", Limits.handles), ("openFiles", Limits.openFiles), ("links", Limits.links),
            ("linkTargetBytes", Limits.linkTargetBytes),
            ("extendedAttributeNameBytes", Limits.extendedAttributeNameBytes),
            ("extendedAttributeBytes", Limits.extendedAttributeBytes),
            ("extendedAttributes", Limits.extendedAttributes),
            ("extendedAttributesBytes", Limits.extendedAttributesBytes),
        ]
        #expect(limits == values.map { [$0.0, String($0.1)] })
        #expect(text.contains("`bytes`, the first \(Limits.pageItems) |"))
    }

    private func row(of method: Method) throws -> [String] {
        let rows = try page.table(["method", "parameters", "payload", "result"])
        return try #require(rows.first { $0[0].quotedWords == [method.rawValue] })
    }

    /// The parameters that the page gives a method.
    private func parameters(of method: Method) throws -> [(name: String, isRequired: Bool)] {
        let described = try page.table(["parameter", "type", "bounds", "default"])
        return try row(of: method)[1].quotedWords.map { name in
            let row = try #require(described.first { $0[0].quotedWords.contains(name) }, "\(name)")
            let isOptionalHere = row[3].contains("of `\(method.rawValue)`")
            return (name, row[3].hasPrefix("required") && !isOptionalHere)
        }
    }
}
