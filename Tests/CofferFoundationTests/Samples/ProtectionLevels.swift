import CofferFoundation
import Foundation

// "iOS File Protection Reference", protection levels: the examples of .complete, .completeUnlessOpen,
// .completeUntilFirstUserAuthentication and .none.

// ✅ CORRECT: Maximum security for sensitive data
func saveSensitiveData(_ data: Data, to url: URL) throws {
    try data.write(to: url, options: .completeFileProtection)
}

// ✅ CORRECT: Download in background, but encrypted when closed
// was: func startBackgroundDownload(url: URL, destination: URL) throws {
func startBackgroundDownload(url: URL, destination: URL, download: (FileHandle) throws -> Void) throws {
    try Data().write(to: destination, options: .completeFileProtectionUnlessOpen)

    // Open file handle for writing
    let fileHandle = try FileHandle(forWritingTo: destination)

    // Download continues in background
    // File remains accessible because it's open
    // When closed, file becomes encrypted
    // was:
    try download(fileHandle)

    // Later, when download complete:
    try fileHandle.close()  // Now encrypted until next unlock
}

// ✅ CORRECT: Balanced security for most app data
func saveAppData(_ data: Data, to url: URL) throws {
    try data.write(
        to: url,
        options: .completeFileProtectionUntilFirstUserAuthentication
    )
}

// ✅ This file can be accessed in background after first unlock
// was: func backgroundTaskCanAccessFile() {
func backgroundTaskCanAccessFile(url: URL) -> Data? {
    // This works even if device is locked (after first unlock)
    let data = try? Data(contentsOf: url)
    // was:
    return data
}

// ⚠️ USE SPARINGLY: Only for truly non-sensitive data
func cachePublicThumbnail(_ data: Data, to url: URL) throws {
    try data.write(to: url, options: .noFileProtection)
}
