import CofferFoundation
import Foundation

// "iOS File Protection Reference", common patterns and debugging.

// ✅ RECOMMENDED: Set default protection at app launch
func configureDefaultFileProtection() {
    let fileManager = FileManager.default

    let directories: [FileManager.SearchPathDirectory] = [
        .documentDirectory,
        .applicationSupportDirectory,
    ]

    for directory in directories {
        guard
            let url = fileManager.urls(
                for: directory,
                in: .userDomainMask
            ).first
        else { continue }

        try? fileManager.setAttributes(
            [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
            ofItemAtPath: url.path
        )
    }
}

func encryptDatabase() throws -> URL {
    // ✅ CORRECT: Protect SwiftData/SQLite database
    let appSupportURL = FileManager.default.urls(
        for: .applicationSupportDirectory,
        in: .userDomainMask
    )[0]

    let databaseURL = appSupportURL.appendingPathComponent("app.sqlite")

    // Set protection before creating database
    try? FileManager.default.setAttributes(
        [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
        ofItemAtPath: appSupportURL.path
    )

    // Now create database - it inherits protection
    // was: let container = try ModelContainer(
    //     for: MyModel.self,
    //     configurations: ModelConfiguration(url: databaseURL)
    // )
    try Data("SQLite format 3\0".utf8).write(to: databaseURL)
    // was:
    return databaseURL
}

// ⚠️ SOMETIMES NECESSARY: Lower protection for background access
func enableBackgroundAccess(for url: URL) throws {
    try FileManager.default.setAttributes(
        [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
        ofItemAtPath: url.path
    )
}

func debugAccess(url: URL) {
    // Debug: Check current protection
    if let protection = try? FileManager.default.attributesOfItem(
        atPath: url.path
    )[.protectionKey] as? FileProtectionType {
        print("Protection: \(protection)")
        if protection == .complete {
            print("❌ Can't access in background when locked")
        }
    }
}
