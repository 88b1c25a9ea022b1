import CofferFoundation
import Foundation

// "iOS File Protection Reference", setting file protection: at file creation, on existing files, for a directory; checking it.

struct UserData {
    let text: String
    func jsonData() -> Data { Data(text.utf8) }
}

func atFileCreation(userData: UserData, fileURL: URL) throws {
    // ✅ RECOMMENDED: Set protection when writing
    let sensitiveData = userData.jsonData()
    try sensitiveData.write(
        to: fileURL,
        options: .completeFileProtection
    )
}

func onExistingFile(fileURL: URL) throws {
    // ✅ CORRECT: Change protection on existing file
    try FileManager.default.setAttributes(
        [.protectionKey: FileProtectionType.complete],
        ofItemAtPath: fileURL.path
    )
}

func defaultForDirectory(directoryURL: URL) throws {
    // ✅ CORRECT: Set default protection for directory
    // New files inherit this protection
    try FileManager.default.setAttributes(
        [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
        ofItemAtPath: directoryURL.path
    )
}

// ✅ Check file's current protection level
func checkFileProtection(at url: URL) throws -> FileProtectionType? {
    let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
    return attributes[.protectionKey] as? FileProtectionType
}

func usage(fileURL: URL) {
    // Usage
    if let protection = try? checkFileProtection(at: fileURL) {
        switch protection {
        case .complete:
            print("Maximum protection")
        case .completeUntilFirstUserAuthentication:
            print("Standard protection")
        default:
            print("Other protection")
        }
    }
}
