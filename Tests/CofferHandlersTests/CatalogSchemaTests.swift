import CofferDatabase
import CofferTestSupport
import CofferVault
import Foundation
import Testing

@Suite struct CatalogSchemaTests {
    @Test func `the schema of a new catalog is the one that is written down`() throws {
        let stepper = try Stepper()
        stepper.shared.close()
        let connection = try Connection(path: stepper.directory.appending("state/vault.sqlite"))
        let made = try KnownSchema(of: connection)
        if ProcessInfo.processInfo.environment["COFFER_WRITE_SCHEMA"] != nil {
            return try Data(Self.source(of: made).utf8).write(to: Self.sourceFile)
        }
        let isSame = made.rows.elementsEqual(KnownSchema.catalog.rows) { $0 == $1 }
        #expect(isSame, "COFFER_WRITE_SCHEMA=1 swift test --filter CatalogSchemaTests writes it down again")
    }

    private static let sourceFile = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/vault/Vault/CatalogSchema.generated.swift").standardizedFileURL

    private static func source(of schema: KnownSchema) -> String {
        let rows = schema.rows.map { row in
            let columns =
                [row.type, row.name, row.table].map(\.debugDescription) + [row.sql?.debugDescription ?? "nil"]
            return "        (\(columns.joined(separator: ", "))),\n"
        }
        return """
            // swift-format-ignore-file
            // Written by CatalogSchemaTests, which compares it: COFFER_WRITE_SCHEMA=1 swift test --filter CatalogSchemaTests
            package import CofferDatabase

            extension KnownSchema {
                /// The schema of a catalog after all migrations.
                package static let catalog = KnownSchema([
            \(rows.joined())    ])
            }

            """
    }
}
