import CofferTestSupport
import Foundation

/// A copy of a state directory, in a directory of its own.
func copyState(_ path: String) throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    try FileManager.default.copyItem(atPath: path, toPath: directory.appending("state"))
    return directory
}

/// The files of a directory, by their paths in it.
func filePaths(in path: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: path).filter { name in
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isDirectory)
            && !isDirectory.boolValue
    }.sorted()
}
