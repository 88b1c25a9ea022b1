import CofferFoundation
import Foundation

// "iOS Data Protection", programmatic file protection: single files, directories, existing files in a directory.

func newFile(_ data: Data, fileURL: URL) throws {
    try data.write(to: fileURL, options: .completeFileProtection)
}

func newDirectory(directoryURL: URL) throws {
    try FileManager.default.createDirectory(
        at: directoryURL,
        withIntermediateDirectories: true,
        attributes: [.protectionKey: FileProtectionType.complete]
    )
}

func existingFiles(directoryURL: URL) {
    guard
        let directoryEnumerator = FileManager.default.enumerator(
            at: directoryURL,
            includingPropertiesForKeys: [.fileProtectionKey],
            options: [],
            errorHandler: { url, error -> Bool in
                print(error)
                return true
            }
        )
    else {
        print("Could not create directory enumerator at \(directoryURL.path)")
        return
    }

    for case let fileURL as URL in directoryEnumerator {
        do {
            try fileURL.setResourceValue(URLFileProtection.complete, forKey: .fileProtectionKey)
        } catch {
            print("Failed to set protection level for file \(fileURL.path): \(error)")
        }
    }
}
