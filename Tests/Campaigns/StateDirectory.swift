import CofferTestSupport
import Foundation

/// A copy of a state directory in a temporary directory.
func copyState(_ path: String) throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    try FileManager.default.copyItem(atPath: path, toPath: directory.appending("state"))
    return directory
}

/// The relative paths of the files in a directory.
func filePaths(in path: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: path).filter { name in
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isDirectory)
            && !isDirectory.boolValue
    }.sorted()
}
