import CofferFoundation
import Foundation

// "iOS File Protection Reference", iCloud and file protection.

// ✅ CORRECT: Protection on iCloud file affects local copy only
func saveToICloud(data: Data, filename: String) throws {
    guard
        let iCloudURL = FileManager.default.url(
            forUbiquityContainerIdentifier: nil
        )
    else { return }

    let fileURL = iCloudURL.appendingPathComponent(filename)

    // This protection applies to local cached copy
    try data.write(to: fileURL, options: .completeFileProtection)

    // iCloud has separate encryption for cloud storage
}
