internal import CofferCore
internal import CofferSystem
public import Foundation

// The protection of files in a mounted vault, which Foundation opens by their paths like any other.

extension Foundation.FileManager {
    /// The protection of a file in a mounted vault, or of the new files in a directory of it.
    ///
    /// - Parameter path: The path of the file in the file system, below the directory at which the vault is mounted.
    /// - Returns: `nil` for a directory that inherits that of its parents.
    /// - Throws: `CocoaError`: `featureUnsupported` if it is not in a mounted vault.
    public func fileProtection(ofMountedItemAtPath path: String) throws -> FileProtectionType? {
        guard MountTable.isInVault(path) else {
            throw CocoaError(unsupported: "read the protection of a file that has none", at: path)
        }
        do throws(SystemError) {
            let bytes = try ExtendedAttribute.value(
                of: MountedFiles.attribute,
                at: path,
                limit: Limits.protectionWordBytes
            )
            return ProtectionClass(rawValue: String(decoding: bytes, as: UTF8.self)).map { FileProtectionType($0) }
        } catch {
            if error.code == ENODATA { return nil }
            throw MountedFiles.error(error.code, at: path)
        }
    }

    /// Sets the protection of a file in a mounted vault, or of the new files in a directory of it.
    ///
    /// - Parameters:
    ///   - type: The protection.
    ///   - path: The path of the file in the file system, below the directory at which the vault is mounted.
    /// - Throws: `CocoaError`: `featureUnsupported` if it is not in a mounted vault; `fileWriteNoPermission` if the key of
    ///   its class is not in memory.
    public func setFileProtection(_ type: FileProtectionType, ofMountedItemAtPath path: String) throws {
        let word: String
        do { word = try type.protectionClass.rawValue } catch { throw CocoaError(unsupported: error.message, at: path) }
        // Another file system would store the word, and protect nothing.
        guard MountTable.isInVault(path) else { throw CocoaError(unsupported: "protect a file that is not", at: path) }
        do throws(SystemError) { try ExtendedAttribute.set(MountedFiles.attribute, at: path, to: word) } catch {
            throw MountedFiles.error(error.code, at: path)
        }
    }
}

/// The attribute by which a mount shows the protection of its files.
private enum MountedFiles {
    static let attribute = "user.coffer.class"

    static func error(_ code: Int32, at path: String) -> any Error {
        switch code {
        case EACCES: CocoaError(.fileWriteNoPermission, userInfo: [NSFilePathErrorKey: path])
        case ENOENT: CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: path])
        default: POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO, userInfo: [NSFilePathErrorKey: path])
        }
    }
}
