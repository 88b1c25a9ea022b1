public import CofferCore
public import CofferWire

extension BlockingClient {
    /// Describes a file or a directory, in every state of the vault.
    ///
    /// - Parameter name: Its name.
    /// - Throws: `itemNotFound`; `decode`.
    public func fileInfo(_ name: ItemName) throws(CofferError) -> FileInfo {
        try call(.fileStat, FileStatParameters(name: name), returning: FileInfo.self).value
    }

    /// Lists a directory, in the order of the paths' bytes and in every state of the vault.
    ///
    /// - Parameters:
    ///   - name: The directory; the root if none is named.
    ///   - recursive: Whether what is in its directories is listed as well.
    ///   - limit: The most entries; at most ``Limits/pageItems``, which it is by default.
    ///   - cursor: The `cursor` of the page before.
    /// - Returns: A page; where it has a cursor, there is more.
    /// - Throws: `itemNotFound`; `param` where it is a file.
    public func listFiles(
        in name: ItemName? = nil,
        recursive: Bool = false,
        limit: Int? = nil,
        cursor: String? = nil
    ) throws(CofferError) -> FilePage {
        let params = FileListParameters(
            name: name,
            isRecursive: recursive,
            limit: limit.map { Int64($0) },
            cursor: cursor
        )
        return try call(.fileList, params, returning: FilePage.self).value
    }

    /// Makes a directory that stays when nothing is in it, in every state of the vault.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - protectionClass: The class of new files in it; if none is named, that of the directories around it.
    ///   - parents: Whether the directories that it lies in are made as well, and one that is there will do.
    /// - Returns: The directory.
    /// - Throws: `duplicateItem` where there is something; `itemNotFound` where a directory on its way is missing.
    @discardableResult
    public func makeDirectory(
        _ name: ItemName,
        class protectionClass: ProtectionClass? = nil,
        parents: Bool = false
    ) throws(CofferError) -> FileInfo {
        let params = FileMkdirParameters(name: name, protectionClass: protectionClass, makesParents: parents)
        return try call(.fileMkdir, params, returning: FileInfo.self).value
    }

    /// Gives a file, or a directory with all that is in it, another name at one stroke and in every state of the vault.
    ///
    /// What is moved keeps its class. Directories that the new name needs are made by the way.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - target: The name it is to have.
    ///   - replace: Whether a file there is replaced, or an empty directory by a directory.
    /// - Returns: What was moved.
    /// - Throws: `itemNotFound`; `duplicateItem` where there is something that is not to be replaced; `param` where a directory
    ///   would come to lie in itself, or a path would become too long.
    @discardableResult
    public func moveFile(
        _ name: ItemName,
        to target: ItemName,
        replace: Bool = false
    ) throws(CofferError) -> FileInfo {
        let params = FileRenameParameters(name: name, target: target, replaces: replace)
        return try call(.fileRename, params, returning: FileInfo.self).value
    }

    /// Removes a file or a directory, in every state of the vault.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - recursive: Whether a directory goes with all that is in it.
    ///   - progress: Told how many entries are gone.
    /// - Returns: How many files and directories are gone.
    /// - Throws: `itemNotFound`; `param` where something is in the directory.
    @discardableResult
    public func removeFile(
        _ name: ItemName,
        recursive: Bool = false,
        progress: ((Int64, Int64?) -> Void)? = nil
    ) throws(CofferError) -> Int {
        let params = FileRemoveParameters(name: name, isRecursive: recursive, wantsProgress: progress != nil)
        return Int(try call(.fileRemove, params, returning: CountResult.self, progress: progress).value.count)
    }

    /// What of a directory gets another class.
    public typealias FileProtectionScope = CofferCore.FileProtectionScope

    /// Changes the class of a file, or of what is in a directory; contents are not touched.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - protectionClass: The class it is to have.
    ///   - scope: What of a directory gets it.
    ///   - progress: Told how many entries were looked at.
    /// - Returns: What was changed, and what was not and why.
    /// - Throws: `itemNotFound`; `interactionNotAllowed` where a key is not there that the change of one file wants; `param`
    ///   where the scope does not fit.
    @discardableResult
    public func protectFile(
        _ name: ItemName,
        as protectionClass: ProtectionClass,
        _ scope: FileProtectionScope = .file,
        progress: ((Int64, Int64?) -> Void)? = nil
    ) throws(CofferError) -> FileProtectionChange {
        let params = FileProtectParameters(
            name: name,
            protectionClass: protectionClass,
            isRecursive: scope == .everything,
            isDefaultOnly: scope == .newFiles,
            wantsProgress: progress != nil
        )
        return try call(.fileProtect, params, returning: FileProtectionChange.self, progress: progress).value
    }
}
