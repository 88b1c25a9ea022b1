public import CofferCore
public import CofferWire

extension CofferClient {
    /// Describes a file or a directory, in every state of the vault.
    ///
    /// - Parameter name: Its name.
    /// - Throws: `itemNotFound`; `decode`.
    public func fileInfo(_ name: ItemName) async throws(CofferError) -> FileInfo {
        try await call(.fileStat, FileStatParameters(name: name), returning: FileInfo.self).value
    }

    /// Lists a directory, in the order of the paths' bytes and in every state of the vault.
    ///
    /// - Parameters:
    ///   - name: The directory; the root if none is named.
    ///   - recursive: Whether what is in its directories is listed as well.
    /// - Returns: What is in it, asked for page by page when somebody goes through it; `itemNotFound` where it is not there,
    ///   `param` where it is a file.
    public nonisolated func listFiles(in name: ItemName? = nil, recursive: Bool = false) -> Pages<FileInfo> {
        Pages { (cursor) async throws(CofferError) in
            let params = FileListParameters(name: name, isRecursive: recursive, cursor: cursor)
            let page = try await self.call(.fileList, params, returning: FilePage.self).value
            return (page.entries, page.cursor)
        }
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
    ) async throws(CofferError) -> FileInfo {
        let params = FileMkdirParameters(name: name, protectionClass: protectionClass, makesParents: parents)
        return try await call(.fileMkdir, params, returning: FileInfo.self).value
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
    ) async throws(CofferError) -> FileInfo {
        let params = FileRenameParameters(name: name, target: target, replaces: replace)
        return try await call(.fileRename, params, returning: FileInfo.self).value
    }

    /// Removes a file or a directory, in every state of the vault.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - recursive: Whether a directory goes with all that is in it.
    ///   - progress: Told how many entries are gone, on the connection's thread, where nothing may wait.
    /// - Returns: How many files and directories are gone.
    /// - Throws: `itemNotFound`; `param` where something is in the directory.
    @discardableResult
    public func removeFile(
        _ name: ItemName,
        recursive: Bool = false,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(CofferError) -> Int {
        let params = FileRemoveParameters(name: name, isRecursive: recursive, wantsProgress: progress != nil)
        return Int(
            try await call(.fileRemove, params, returning: CountResult.self, progress: progress).value.count
        )
    }

    /// Changes the class of a file, or of what is in a directory; contents are not touched.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - protectionClass: The class it is to have.
    ///   - scope: What of a directory gets it.
    ///   - progress: Told how many entries were looked at, on the connection's thread, where nothing may wait.
    /// - Returns: What was changed, and what was not and why.
    /// - Throws: `itemNotFound`; `interactionNotAllowed` where a key is not there that the change of one file wants; `param`
    ///   where the scope does not fit.
    @discardableResult
    public func protectFile(
        _ name: ItemName,
        as protectionClass: ProtectionClass,
        _ scope: FileProtectionScope = .file,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(CofferError) -> FileProtectionChange {
        let params = FileProtectParameters(
            name: name,
            protectionClass: protectionClass,
            isRecursive: scope == .everything,
            isDefaultOnly: scope == .newFiles,
            wantsProgress: progress != nil
        )
        return try await call(.fileProtect, params, returning: FileProtectionChange.self, progress: progress).value
    }

    /// Saves what can be read of a damaged file, with zeros in the place of the rest.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - descriptor: The number of a descriptor that takes the content.
    ///   - progress: Told how far it has come, on the connection's thread, where nothing may wait.
    /// - Returns: What could not be read.
    /// - Throws: `itemNotFound`; `interactionNotAllowed`; `decode` where nothing of it can be read.
    public func salvage(
        _ name: ItemName,
        intoDescriptor descriptor: Int32,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(CofferError) -> Salvage {
        let params = FileSalvageParameters(name: name, wantsProgress: progress != nil)
        return try await call(
            .fileSalvage,
            params,
            passing: descriptor,
            returning: Salvage.self,
            progress: progress
        ).value
    }
}
