// packaging/interface writes this file from proto-docs/openrpc.json.

package import CofferCore

/// The parameters of `file.allocate`.
///
/// Reserves space on the disk for a range of an open file.
package struct FileAllocateParameters: MethodParameters {
    package typealias Result = FileByteCount
    package static var method: Method { .fileAllocate }
    /// The handle of an open file.
    package let handle: Int64
    /// Where the range begins, in bytes.
    package let offset: Int64
    /// How many bytes the range has.
    package let length: Int64

    package init(handle: Int64, offset: Int64, length: Int64) {
        self.handle = handle
        self.offset = offset
        self.length = length
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        handle = try reader.integer("handle", in: 0...Int64(Int32.max))
        offset = try reader.integer("offset", in: 0...Int64(Limits.fileBytes))
        length = try reader.integer("length", in: 0...Int64(Limits.fileBytes))
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("handle", handle)
        object.append("offset", offset)
        object.append("length", length)
        return object
    }
}

/// The parameters of `file.close`.
///
/// Syncs and closes a handle.
package struct FileCloseParameters: MethodParameters {
    package typealias Result = Empty
    package static var method: Method { .fileClose }
    /// The handle of an open file.
    package let handle: Int64

    package init(handle: Int64) {
        self.handle = handle
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        handle = try reader.integer("handle", in: 0...Int64(Int32.max))
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("handle", handle)
        return object
    }
}

/// The parameters of `file.list`.
///
/// Lists a page of a directory.
package struct FileListParameters: MethodParameters {
    package typealias Result = FilePage
    package static var method: Method { .fileList }
    /// The path of the directory.
    ///
    /// Absent means: the root.
    package let name: ItemName?
    /// Whether what the directories in it contain is listed as well.
    ///
    /// Absent means false.
    package let isRecursive: Bool
    /// How many entries the page has at most.
    ///
    /// Absent means 1000.
    package let limit: Int64?
    /// The cursor of the page before.
    ///
    /// Absent means: from the beginning.
    package let cursor: String?

    package init(
        name: ItemName? = nil,
        isRecursive: Bool = false,
        limit: Int64? = nil,
        cursor: String? = nil
    ) {
        self.name = name
        self.isRecursive = isRecursive
        self.limit = limit
        self.cursor = cursor
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.optionalName("name")
        isRecursive = try reader.optionalBool("recursive") ?? false
        limit = try reader.optionalInteger("limit", in: 1...Int64(Limits.pageItems))
        cursor = try reader.optionalString("cursor")
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("name", name)
        if isRecursive { object.append("recursive", true) }
        object.append("limit", limit)
        object.append("cursor", cursor)
        return object
    }
}

/// A page of a listing, in an order that says nothing of the names.
public struct FilePage: Hashable, Sendable {
    /// The files and directories.
    public let entries: [FileInfo]
    /// What the next page is called with.
    ///
    /// It is absent after the last page.
    public let cursor: String?
    /// How many entries of this page are damaged, so that they have no name to list.
    public let damagedCount: Int

    package init(entries: [FileInfo], cursor: String? = nil, damagedCount: Int) {
        self.entries = entries
        self.cursor = cursor
        self.damagedCount = damagedCount
    }
}

extension FilePage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        entries = try reader.values("entries", of: FileInfo.self)
        cursor = try reader.optionalString("cursor")
        damagedCount = Int(try reader.integer("damagedCount", in: 0...Int64.max))
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("entries", entries)
        object.append("cursor", cursor)
        object.append("damagedCount", damagedCount)
        return object
    }
}

/// The parameters of `file.mkdir`.
///
/// Makes a directory.
package struct FileMkdirParameters: MethodParameters {
    package typealias Result = FileInfo
    package static var method: Method { .fileMkdir }
    /// The path of the directory.
    package let name: ItemName
    /// The class that new files in the directory get.
    ///
    /// Absent means: none.
    package let protectionClass: ProtectionClass?
    /// Whether missing directories above it are made as well, and an existing directory is accepted.
    ///
    /// Absent means false.
    package let makesParents: Bool

    package init(
        name: ItemName,
        protectionClass: ProtectionClass? = nil,
        makesParents: Bool = false
    ) {
        self.name = name
        self.protectionClass = protectionClass
        self.makesParents = makesParents
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        protectionClass = try reader.value("class", as: ProtectionClass.self)
        makesParents = try reader.optionalBool("parents") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("name", name)
        object.append("class", protectionClass)
        if makesParents { object.append("parents", true) }
        return object
    }
}

/// The parameters of `file.open`.
///
/// Opens a file. The handle belongs to the connection and ends with it.
package struct FileOpenParameters: MethodParameters {
    package typealias Result = FileOpenResult
    package static var method: Method { .fileOpen }
    /// The path of the file.
    package let name: ItemName
    /// What the handle is for.
    ///
    /// Absent means read.
    package let access: FileAccess?
    /// Whether a missing file is made.
    ///
    /// Absent means false.
    package let creates: Bool
    /// Whether an existing file is refused.
    ///
    /// Absent means false.
    package let isExclusive: Bool
    /// Whether the file is emptied.
    ///
    /// Absent means false.
    package let truncates: Bool
    /// Whether every write goes to the end of the file.
    ///
    /// Absent means false.
    package let appends: Bool
    /// The class of a file that is made.
    ///
    /// Absent means: the directory's default.
    package let protectionClass: ProtectionClass?
    /// Whether the request waits while another handle has the file open for writing.
    ///
    /// Absent means false.
    package let waits: Bool

    package init(
        name: ItemName,
        access: FileAccess? = nil,
        creates: Bool = false,
        isExclusive: Bool = false,
        truncates: Bool = false,
        appends: Bool = false,
        protectionClass: ProtectionClass? = nil,
        waits: Bool = false
    ) {
        self.name = name
        self.access = access
        self.creates = creates
        self.isExclusive = isExclusive
        self.truncates = truncates
        self.appends = appends
        self.protectionClass = protectionClass
        self.waits = waits
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        access = try reader.value("access", as: FileAccess.self)
        creates = try reader.optionalBool("create") ?? false
        isExclusive = try reader.optionalBool("exclusive") ?? false
        truncates = try reader.optionalBool("truncate") ?? false
        appends = try reader.optionalBool("append") ?? false
        protectionClass = try reader.value("class", as: ProtectionClass.self)
        waits = try reader.optionalBool("wait") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("name", name)
        object.append("access", access)
        if creates { object.append("create", true) }
        if isExclusive { object.append("exclusive", true) }
        if truncates { object.append("truncate", true) }
        if appends { object.append("append", true) }
        object.append("class", protectionClass)
        if waits { object.append("wait", true) }
        return object
    }
}

/// An open file.
package struct FileOpenResult: Hashable, WireObject {
    /// The number of the handle.
    package let handle: Int64
    /// How many bytes the file has.
    package let byteCount: Int64
    /// The class of the file.
    package let protectionClass: ProtectionClass
    /// Whether the request made the file.
    package let isNew: Bool

    package init(
        handle: Int64,
        byteCount: Int64,
        protectionClass: ProtectionClass,
        isNew: Bool
    ) {
        self.handle = handle
        self.byteCount = byteCount
        self.protectionClass = protectionClass
        self.isNew = isNew
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        handle = try reader.integer("handle", in: 0...Int64(Int32.max))
        byteCount = try reader.integer("bytes", in: 0...Int64.max)
        protectionClass = try reader.required("class", as: ProtectionClass.self)
        isNew = try reader.optionalBool("created") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("handle", handle)
        object.append("bytes", byteCount)
        object.append("class", protectionClass)
        object.append("created", isNew)
        return object
    }
}

/// The parameters of `file.protect`.
///
/// Gives a file, or what a directory contains, another class.
package struct FileProtectParameters: MethodParameters {
    package typealias Result = FileProtectionChange
    package static var method: Method { .fileProtect }
    /// The path of the file or directory.
    package let name: ItemName
    /// The class.
    package let protectionClass: ProtectionClass
    /// Whether everything that a directory contains gets the class.
    ///
    /// Absent means false.
    package let isRecursive: Bool
    /// Whether only new files in a directory get the class.
    ///
    /// Absent means false.
    package let isDefaultOnly: Bool
    /// Whether the client wants progress notifications during the request.
    ///
    /// Absent means false.
    package let wantsProgress: Bool

    package init(
        name: ItemName,
        protectionClass: ProtectionClass,
        isRecursive: Bool = false,
        isDefaultOnly: Bool = false,
        wantsProgress: Bool = false
    ) {
        self.name = name
        self.protectionClass = protectionClass
        self.isRecursive = isRecursive
        self.isDefaultOnly = isDefaultOnly
        self.wantsProgress = wantsProgress
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        protectionClass = try reader.required("class", as: ProtectionClass.self)
        isRecursive = try reader.optionalBool("recursive") ?? false
        isDefaultOnly = try reader.optionalBool("default") ?? false
        wantsProgress = try reader.optionalBool("progress") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("name", name)
        object.append("class", protectionClass)
        if isRecursive { object.append("recursive", true) }
        if isDefaultOnly { object.append("default", true) }
        if wantsProgress { object.append("progress", true) }
        return object
    }
}

/// Which files have another class now.
public struct FileProtectionChange: Hashable, Sendable {
    /// How many files and directories have another class now.
    ///
    /// Those that had it already are not counted.
    public let changedCount: Int
    /// The files that kept their class, the first hundred of them.
    public let unchanged: [UnchangedFile]
    /// How many files kept their class although they were to get another one.
    public let unchangedCount: Int

    package init(changedCount: Int, unchanged: [UnchangedFile], unchangedCount: Int) {
        self.changedCount = changedCount
        self.unchanged = unchanged
        self.unchangedCount = unchangedCount
    }
}

extension FileProtectionChange: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        changedCount = Int(try reader.integer("changed", in: 0...Int64.max))
        unchanged = try reader.values("unchanged", of: UnchangedFile.self)
        unchangedCount = Int(try reader.integer("unchangedCount", in: 0...Int64.max))
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("changed", changedCount)
        object.append("unchanged", unchanged)
        object.append("unchangedCount", unchangedCount)
        return object
    }
}

/// The parameters of `file.read`.
///
/// Reads a range of an open file. The bytes are the payload of the answer.
package struct FileReadParameters: MethodParameters {
    package typealias Result = FileByteCount
    package static var method: Method { .fileRead }
    /// The handle of an open file.
    package let handle: Int64
    /// Where the range begins, in bytes.
    package let offset: Int64
    /// How many bytes are read.
    ///
    /// At the end of the file there are fewer.
    package let length: Int64

    package init(handle: Int64, offset: Int64, length: Int64) {
        self.handle = handle
        self.offset = offset
        self.length = length
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        handle = try reader.integer("handle", in: 0...Int64(Int32.max))
        offset = try reader.integer("offset", in: 0...Int64(Limits.fileBytes))
        length = try reader.integer("length", in: 0...Int64(Limits.framePayloadBytes))
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("handle", handle)
        object.append("offset", offset)
        object.append("length", length)
        return object
    }
}

/// The parameters of `file.remove`.
///
/// Removes a file or a directory.
package struct FileRemoveParameters: MethodParameters {
    package typealias Result = CountResult
    package static var method: Method { .fileRemove }
    /// The path of the file or directory.
    package let name: ItemName
    /// Whether a directory is removed with everything that it contains.
    ///
    /// Absent means false.
    package let isRecursive: Bool
    /// Whether the client wants progress notifications during the request.
    ///
    /// Absent means false.
    package let wantsProgress: Bool

    package init(name: ItemName, isRecursive: Bool = false, wantsProgress: Bool = false) {
        self.name = name
        self.isRecursive = isRecursive
        self.wantsProgress = wantsProgress
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        isRecursive = try reader.optionalBool("recursive") ?? false
        wantsProgress = try reader.optionalBool("progress") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("name", name)
        if isRecursive { object.append("recursive", true) }
        if wantsProgress { object.append("progress", true) }
        return object
    }
}

/// The parameters of `file.rename`.
///
/// Moves a file or a directory.
package struct FileRenameParameters: MethodParameters {
    package typealias Result = FileInfo
    package static var method: Method { .fileRename }
    /// The path of the file or directory.
    package let name: ItemName
    /// The new path.
    package let target: ItemName
    /// Whether an existing file at the new path is replaced.
    ///
    /// Absent means false.
    package let replaces: Bool

    package init(name: ItemName, target: ItemName, replaces: Bool = false) {
        self.name = name
        self.target = target
        self.replaces = replaces
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        target = try reader.name("to")
        replaces = try reader.optionalBool("replace") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("name", name)
        object.append("to", target)
        if replaces { object.append("replace", true) }
        return object
    }
}

/// The parameters of `file.salvage`.
///
/// Delivers a damaged file as far as it can be read. The descriptor takes the content.
package struct FileSalvageParameters: MethodParameters {
    package typealias Result = Salvage
    package static var method: Method { .fileSalvage }
    /// The path of the file.
    package let name: ItemName
    /// Whether the client wants progress notifications during the request.
    ///
    /// Absent means false.
    package let wantsProgress: Bool

    package init(name: ItemName, wantsProgress: Bool = false) {
        self.name = name
        self.wantsProgress = wantsProgress
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        wantsProgress = try reader.optionalBool("progress") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("name", name)
        if wantsProgress { object.append("progress", true) }
        return object
    }
}

/// What of a damaged file could be read.
public struct Salvage: Hashable, Sendable {
    /// How many bytes were delivered.
    ///
    /// It is the length of the file; bytes that could not be read are zeros.
    public let byteCount: Int64
    /// How many bytes could not be read.
    public let damagedByteCount: Int64
    /// The parts that could not be read, in their order, at most 1000 of them.
    public let damaged: [DamagedRange]
    /// Whether parts that were delivered may be earlier versions of themselves.
    public let mayBeOlder: Bool

    package init(
        byteCount: Int64,
        damagedByteCount: Int64,
        damaged: [DamagedRange],
        mayBeOlder: Bool = false
    ) {
        self.byteCount = byteCount
        self.damagedByteCount = damagedByteCount
        self.damaged = damaged
        self.mayBeOlder = mayBeOlder
    }
}

extension Salvage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        byteCount = try reader.integer("bytes", in: 0...Int64.max)
        damagedByteCount = try reader.integer("damagedBytes", in: 0...Int64.max)
        damaged = try reader.values("damaged", of: DamagedRange.self)
        mayBeOlder = try reader.optionalBool("mayBeOlder") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("bytes", byteCount)
        object.append("damagedBytes", damagedByteCount)
        object.append("damaged", damaged)
        object.append("mayBeOlder", mayBeOlder)
        return object
    }
}

/// The parameters of `file.stat`.
///
/// Reports on a file or a directory.
package struct FileStatParameters: MethodParameters {
    package typealias Result = FileInfo
    package static var method: Method { .fileStat }
    /// The path of the file or directory.
    package let name: ItemName

    package init(name: ItemName) {
        self.name = name
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("name", name)
        return object
    }
}

/// The parameters of `file.sync`.
///
/// Syncs what was written through a handle to the disk.
package struct FileSyncParameters: MethodParameters {
    package typealias Result = Empty
    package static var method: Method { .fileSync }
    /// The handle of an open file.
    package let handle: Int64

    package init(handle: Int64) {
        self.handle = handle
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        handle = try reader.integer("handle", in: 0...Int64(Int32.max))
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("handle", handle)
        return object
    }
}

/// The parameters of `file.truncate`.
///
/// Sets the length of an open file. Bytes that are added read as zeros.
package struct FileTruncateParameters: MethodParameters {
    package typealias Result = Empty
    package static var method: Method { .fileTruncate }
    /// The handle of an open file.
    package let handle: Int64
    /// How many bytes the file is to have.
    package let byteCount: Int64

    package init(handle: Int64, byteCount: Int64) {
        self.handle = handle
        self.byteCount = byteCount
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        handle = try reader.integer("handle", in: 0...Int64(Int32.max))
        byteCount = try reader.integer("bytes", in: 0...Int64(Limits.fileBytes))
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("handle", handle)
        object.append("bytes", byteCount)
        return object
    }
}

/// The parameters of `file.write`.
///
/// Writes a range of an open file. The bytes are the payload.
package struct FileWriteParameters: MethodParameters {
    package typealias Result = FileWriteResult
    package static var method: Method { .fileWrite }
    /// The handle of an open file.
    package let handle: Int64
    /// Where the range begins, in bytes.
    ///
    /// Absent means: the end of the file.
    package let offset: Int64?

    package init(handle: Int64, offset: Int64? = nil) {
        self.handle = handle
        self.offset = offset
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        handle = try reader.integer("handle", in: 0...Int64(Int32.max))
        offset = try reader.optionalInteger("offset", in: 0...Int64(Limits.fileBytes))
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("handle", handle)
        object.append("offset", offset)
        return object
    }
}

/// Where the daemon wrote, and how long the file is.
package struct FileWriteResult: Hashable, WireObject {
    /// Where the range begins, in bytes.
    package let offset: Int64
    /// How many bytes the file has now.
    package let byteCount: Int64

    package init(offset: Int64, byteCount: Int64) {
        self.offset = offset
        self.byteCount = byteCount
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        offset = try reader.integer("offset", in: 0...Int64.max)
        byteCount = try reader.integer("bytes", in: 0...Int64.max)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("offset", offset)
        object.append("bytes", byteCount)
        return object
    }
}
