import CofferFoundation
import Foundation

// "iOS File Protection Reference", background access considerations: background modes, and handling protection errors.

// ❌ WRONG: .complete files can't be accessed in background
class BackgroundTask {
    // was:
    let sensitiveFileURL: URL
    // was:
    init(sensitiveFileURL: URL) { self.sensitiveFileURL = sensitiveFileURL }

    // was: func performBackgroundSync() {
    func performBackgroundSync() -> Data? {
        // This FAILS if file has .complete protection and device is locked
        let data = try? Data(contentsOf: sensitiveFileURL)
        // data will be nil if device locked
        // was:
        return data
    }
}

func writeForBackground(_ data: Data, fileURL: URL) throws {
    // ✅ CORRECT: Use .completeUntilFirstUserAuthentication
    // Files accessible in background after first unlock
    try data.write(
        to: fileURL,
        options: .completeFileProtectionUntilFirstUserAuthentication
    )
}

// ✅ CORRECT: Handle protection errors gracefully
// was: func readFile(at url: URL) -> Data? {
func readFile(at url: URL) throws -> Data? {
    do {
        return try Data(contentsOf: url)
    } catch let error as NSError {
        if error.domain == NSCocoaErrorDomain && error.code == NSFileReadNoPermissionError {
            // File is protected and device is locked
            print("File protected, device locked")
            return nil
        }
        throw error
    }
}
