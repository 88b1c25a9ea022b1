import CofferCore
import CofferSystem

/// A directory with a copy of a vault, which is removed when the daemon ends.
struct ServedScratch {
    private let parent: Directory
    private let name: String

    /// Takes a directory of the user's own.
    ///
    /// - Parameters:
    ///   - path: Its path.
    ///   - statePath: The state directory.
    /// - Throws: `param` if the state directory is not in it.
    init(_ path: String, of statePath: String) throws {
        guard let slash = path.lastIndex(of: "/"), path.hasPrefix("/"), statePath.hasPrefix(path + "/") else {
            throw CofferError(.param, "--scratch \(quotedForDisplay(path)): the state directory is not in it")
        }
        do throws(SystemError) {
            try Directory(openingPath: path).requireOwn()
            parent = try Directory(openingPath: slash == path.startIndex ? "/" : String(path[..<slash]))
        } catch {
            throw error.cofferError("can't use \(quotedForDisplay(path))")
        }
        name = String(path[path.index(after: slash)...])
    }

    func remove() { try? parent.removeTree(name) }
}
