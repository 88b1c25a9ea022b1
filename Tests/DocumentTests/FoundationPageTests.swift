import CofferCore
import CofferFoundation
import Foundation
import Testing

/// The tables of `proto-docs/FOUNDATION.md`.
@Suite struct FoundationPageTests {
    private let page: Page

    init() throws { page = try Page("FOUNDATION.md") }

    private static func source(_ path: String) throws -> String {
        try String(contentsOf: Page.root.appending(path: path), encoding: .utf8)
    }

    @Test func `the protections are those of the code, with their values`() throws {
        let rows = try page.table(["`FileProtectionType`", "its value", "`Data.WritingOptions`", "its value"])
        let expected = ProtectionClass.allCases.map { protectionClass in
            let options = Data.WritingOptions(protectionClass)
            return [
                protectionClass.rawValue, FileProtectionType(protectionClass).rawValue,
                "0x" + String(options.rawValue, radix: 16),
            ]
        }
        #expect(rows.map { [0, 1, 3].compactMap { [row = $0] in row[$0].quotedWords.first } } == expected)
        let names: [String: Data.WritingOptions] = [
            "noFileProtection": .noFileProtection, "completeFileProtection": .completeFileProtection,
            "completeFileProtectionUnlessOpen": .completeFileProtectionUnlessOpen,
            "completeFileProtectionUntilFirstUserAuthentication": .completeFileProtectionUntilFirstUserAuthentication,
            "completeFileProtectionWhenUserInactive": .completeFileProtectionWhenUserInactive,
        ]
        for (row, protectionClass) in zip(rows, ProtectionClass.allCases) {
            #expect(names[row[2].quotedWords[0]] == Data.WritingOptions(protectionClass))
        }
    }

    @Test func `the errors are those of the code, and each status has a constant of its value`() throws {
        let rows = try page.table(["code", "reading a file", "writing a file", "keychain", "its value"])
        let source = try Self.source("Sources/client/Foundation/Security/SecStatus.swift")
        let constants = source.matches(of: /public let (errSec\w+): OSStatus = (-?\d+)/).map { ($0.1, $0.2) }
        let names = Dictionary(uniqueKeysWithValues: constants.map { (String($0.1), String($0.0)) })
        #expect(names.count == ErrorCode.table.count + 1 && names["0"] == "errSecSuccess")
        let expected = ErrorCode.table.map { row in
            [
                "`\(row.code.rawValue)`", "\(row.cocoaRead ?? CocoaError.fileReadUnknown.rawValue)",
                "\(row.cocoaWrite ?? CocoaError.fileWriteUnknown.rawValue)", "`\(names["\(row.osStatus)"] ?? "")`",
                "\(row.osStatus)",
            ]
        }
        #expect(rows == expected)
    }

    @Test func `the constants are those of the code, with their values`() throws {
        let source = try Self.source("Sources/client/Foundation/Security/SecConstants.swift")
        let constants = source.matches(of: /public let (k\w+) = "([^"]*)"/).map { "\($0.1) = \($0.2)" }
        let attributes = try page.table(["constant", "value", "attribute"])
        let others = try page.table(["what", "constants"]).flatMap { row in
            row[1].matches(of: /`(\w+)` = `([^`]*)`/).map { "\($0.1) = \($0.2)" }
        }
        let documented = attributes.map { "\($0[0].quotedWords[0]) = \($0[1].quotedWords[0])" } + others
        #expect(documented.sorted() == constants.sorted())
        for row in attributes {
            let attribute = try #require(KeychainAttribute(rawValue: row[2].quotedWords[0]))
            #expect(attribute.secKey == row[1].quotedWords[0])
        }
        let covered = attributes.map { $0[2].quotedWords[0] }
        #expect(KeychainAttribute.allCases.filter { $0.secKey != nil }.map(\.rawValue).sorted() == covered.sorted())
    }

    @Test func `the members are those of the code`() throws {
        let files = [
            "CofferURL": ["Files/CofferURL"],
            "CofferFileManager": ["Files/CofferFileManager", "Files/CofferFileManager+Copying"],
            "CofferFileHandle": ["Files/CofferFileHandle"], "UIApplication": ["UIApplication"],
            "CofferDaemon": ["CofferDaemon"],
        ]
        let rows = try page.table(["here", "for", "what there is"])
        #expect(rows.map { $0[0].quotedWords[0] }.sorted() == files.keys.sorted())
        for row in rows {
            let name = row[0].quotedWords[0]
            let source = try #require(files[name]).map { try Self.source("Sources/client/Foundation/\($0).swift") }
                .joined()
            let member = /public (?:static |mutating |convenience )*(?:(?:func|var|let) `?(\w+)|(init)\()/
            let members = Set(source.matches(of: member).map { String($0.1 ?? $0.2 ?? "") })
            #expect(Set(row[2].quotedWords) == members, "\(name)")
        }
    }

    @Test func `every change of a sample is on the page, and no other`() throws {
        let rows = try page.table(["sample", "was", "now", "why"])
        let folder = "Tests/CofferFoundationTests/Samples"
        let files = try FileManager.default.contentsOfDirectory(atPath: Page.root.appending(path: folder).path).sorted()
        var changes: [[String]] = []
        for file in files {
            let lines = try Self.source("\(folder)/\(file)").split(separator: "\n").map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            for (index, line) in lines.enumerated() where line.hasPrefix("// was:") {
                let comment = lines[index...].prefix { $0.hasPrefix("//") }
                let was = comment.map { $0.dropFirst(2).trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
                    .dropFirst(4).trimmingCharacters(in: .whitespaces)
                let now = lines[comment.endIndex]
                changes.append(["`\(file.dropLast(6))`", was.isEmpty ? "nothing" : "`\(was)`", "`\(now)`"])
            }
        }
        #expect(rows.map { Array($0.prefix(3)) } == changes)
    }

    @Test func `the file that a program adds is that of the samples`() throws {
        let lines = try #require(page.blocks("swift").first).filter { $0.hasPrefix("typealias") }
        let source = try Self.source("Tests/CofferFoundationTests/Samples/Porting.swift")
        #expect(lines == source.split(separator: "\n").filter { $0.hasPrefix("typealias") })
        #expect(lines.count == 3)
    }
}
