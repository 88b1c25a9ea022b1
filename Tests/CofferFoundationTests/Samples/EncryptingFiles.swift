import CofferFoundation
import Foundation

// "Encrypting Your App's Files": listing 1, and listing 2.

func encryptOnFirstWrite(_ data: Data, fileURL: URL) {
    do {
        try data.write(to: fileURL, options: .completeFileProtection)
    } catch {
        // Handle errors.
        // was:
        print(error)
    }
}

func encryptExistingFile(fileURL: URL) {
    do {
        // was: try (fileURL as NSURL).setResourceValue(
        try fileURL.setResourceValue(
            URLFileProtection.complete,
            forKey: .fileProtectionKey
        )
    } catch {
        // Handle errors.
        // was:
        print(error)
    }
}
