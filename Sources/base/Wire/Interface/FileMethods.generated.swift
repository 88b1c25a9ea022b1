// packaging/tools/interface writes this file from proto-docs/openrpc.json.

public import CofferCore

/// The parameters of `file.allocate`.
///
/// Reserves space on the disk for a range of an open file.
///
/// - Throws: `dataTooLarge`, `decode`, `diskFull`, `interactionNotAllowed`, `internal`, `io`,
///   `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileAllocateParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = FileByteCount
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileAllocate) }
    /// The handle of an open file.
    public let handle: Int64
    /// Where the range begins, in bytes.
    public let offset: Int64
    /// How many bytes the range has.
    public let length: Int64
    /// Whether the file keeps its size, also if the range ends behind it.
    ///
    /// Absent means false.
    public let keepsSize: Bool

    /// Makes the parameters.
    public init(handle: Int64, offset: Int64, length: Int64, keepsSize: Bool = false) {
        self.handle = handle
        self.offset = offset
        self.length = length
        self.keepsSize = keepsSize
    }
}

extension FileAllocateParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        handle = try reader.integer("handle", in: 0...Int64(Int32.max))
        offset = try reader.integer("offset", in: 0...Int64(Limits.fileBytes))
        length = try reader.integer("length", in: 0...Int64(Limits.fileBytes))
        keepsSize = try reader.optionalBool("keepSize") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 4)
        object.append("handle", handle)
        object.append("offset", offset)
        object.append("length", length)
        if keepsSize { object.append("keepSize", true) }
        return object
    }
}

/// The parameters of `file.close`.
///
/// Syncs and closes a handle.
///
/// - Throws: `dataTooLarge`, `decode`, `diskFull`, `interactionNotAllowed`, `internal`, `io`,
///   `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileCloseParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = Empty
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileClose) }
    /// The handle of an open file.
    public let handle: Int64

    /// Makes the parameters.
    public init(handle: Int64) {
        self.handle = handle
    }
}

extension FileCloseParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        handle = try reader.integer("handle", in: 0...Int64(Int32.max))
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        object.append("handle", handle)
        return object
    }
}

/// The parameters of `file.extent`.
///
/// Finds how far an open file is data, or a hole, from an offset on. A hole takes no space, and reads
/// as zeros.
///
/// - Throws: `dataTooLarge`, `decode`, `interactionNotAllowed`, `internal`, `io`, `itemNotFound`,
///   `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileExtentParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = FileExtent
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileExtent) }
    /// The handle of an open file.
    public let handle: Int64
    /// Where the extent begins, in bytes.
    public let offset: Int64

    /// Makes the parameters.
    public init(handle: Int64, offset: Int64) {
        self.handle = handle
        self.offset = offset
    }
}

extension FileExtentParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        handle = try reader.integer("handle", in: 0...Int64(Int32.max))
        offset = try reader.integer("offset", in: 0...Int64(Limits.fileBytes))
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("handle", handle)
        object.append("offset", offset)
        return object
    }
}

/// A range of a file that is data as a whole, or a hole as a whole.
public struct FileExtent: Hashable, Sendable {
    /// How many bytes it has from the offset on: 0 at the end of the file.
    ///
    /// What follows may be of the same kind.
    public let byteCount: Int64
    /// Whether it is a hole.
    public let isHole: Bool

    package init(byteCount: Int64, isHole: Bool) {
        self.byteCount = byteCount
        self.isHole = isHole
    }
}

extension FileExtent: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        byteCount = try reader.integer("bytes", in: 0...Int64.max)
        isHole = try reader.optionalBool("isHole") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("bytes", byteCount)
        object.append("isHole", isHole)
        return object
    }
}

/// The parameters of `file.getExtendedAttribute`.
///
/// Returns an extended attribute of a file. Its value is the payload of the answer.
///
/// - Throws: `dataTooLarge`, `decode`, `interactionNotAllowed`, `internal`, `io`, `itemNotFound`,
///   `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileGetExtendedAttributeParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = FileByteCount
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileGetExtendedAttribute) }
    /// The path of the file or directory.
    ///
    /// Absent means: required, unless handle is given.
    public let name: ItemName?
    /// The handle of an open file, in place of its name.
    ///
    /// The file may have lost its name. Absent means: required, unless name is given.
    public let handle: Int64?
    /// The name of the attribute, which begins with user.
    public let attribute: String
    /// The access group of the file or directory.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(
        name: ItemName? = nil,
        handle: Int64? = nil,
        attribute: String,
        group: String? = nil
    ) {
        self.name = name
        self.handle = handle
        self.attribute = attribute
        self.group = group
    }
}

extension FileGetExtendedAttributeParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.optionalName("name")
        handle = try reader.optionalInteger("handle", in: 0...Int64(Int32.max))
        attribute = try reader.string("attribute")
        group = try reader.optionalString("group")
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 4)
        object.append("name", name)
        object.append("handle", handle)
        object.append("attribute", attribute)
        object.append("group", group)
        return object
    }
}

/// The parameters of `file.keepVersions`.
///
/// Changes how many former contents of a file are kept, or of the files in a directory. Those beyond
/// that are destroyed, the oldest first.
///
/// - Throws: `dataTooLarge`, `decode`, `diskFull`, `duplicateItem`, `interactionNotAllowed`,
///   `internal`, `io`, `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileKeepVersionsParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = CountResult
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileKeepVersions) }
    /// The path of the file or directory.
    public let name: ItemName
    /// How many former contents are kept.
    ///
    /// Absent means: as many as the directory above says.
    public let keepCount: Int?
    /// The access group of the file or directory.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(name: ItemName, keepCount: Int? = nil, group: String? = nil) {
        self.name = name
        self.keepCount = keepCount
        self.group = group
    }
}

extension FileKeepVersionsParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        keepCount = try reader.optionalInteger("keep", in: 0...Int64(Limits.historyValues)).map { Int($0) }
        group = try reader.optionalString("group")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        object.append("name", name)
        object.append("keep", keepCount)
        object.append("group", group)
        return object
    }
}

/// The parameters of `file.link`.
///
/// Gives a file, or a symbolic link, a further name. All names are equal: the content stays until the
/// last is removed.
///
/// - Throws: `dataTooLarge`, `decode`, `diskFull`, `duplicateItem`, `interactionNotAllowed`,
///   `internal`, `io`, `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileLinkParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = FileInfo
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileLink) }
    /// The path of the file.
    public let name: ItemName
    /// The further path.
    public let target: ItemName
    /// The access group of the file.
    ///
    /// Both names are in it. Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(name: ItemName, target: ItemName, group: String? = nil) {
        self.name = name
        self.target = target
        self.group = group
    }
}

extension FileLinkParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        target = try reader.name("to")
        group = try reader.optionalString("group")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        object.append("name", name)
        object.append("to", target)
        object.append("group", group)
        return object
    }
}

/// The parameters of `file.list`.
///
/// Lists a page of a directory.
///
/// - Throws: `dataTooLarge`, `decode`, `interactionNotAllowed`, `internal`, `io`, `itemNotFound`,
///   `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileListParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = FilePage
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileList) }
    /// The path of the directory.
    ///
    /// Absent means: the root.
    public let name: ItemName?
    /// Whether everything below the directory is listed.
    ///
    /// Absent means false.
    public let isRecursive: Bool
    /// How many entries the page has at most.
    ///
    /// Absent means 1000.
    public let limit: Int64?
    /// The cursor of the previous page.
    ///
    /// Absent means: from the beginning.
    public let cursor: String?
    /// The access group of the directory.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(
        name: ItemName? = nil,
        isRecursive: Bool = false,
        limit: Int64? = nil,
        cursor: String? = nil,
        group: String? = nil
    ) {
        self.name = name
        self.isRecursive = isRecursive
        self.limit = limit
        self.cursor = cursor
        self.group = group
    }
}

extension FileListParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.optionalName("name")
        isRecursive = try reader.optionalBool("recursive") ?? false
        limit = try reader.optionalInteger("limit", in: 1...Int64(Limits.pageItems))
        cursor = try reader.optionalString("cursor")
        group = try reader.optionalString("group")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 5)
        object.append("name", name)
        if isRecursive { object.append("recursive", true) }
        object.append("limit", limit)
        object.append("cursor", cursor)
        object.append("group", group)
        return object
    }
}

/// A page of a listing, in an order that does not depend on the names.
public struct FilePage: Hashable, Sendable {
    /// The files and directories.
    public let entries: [FileInfo]
    /// The cursor for the next page.
    ///
    /// It is absent after the last page; a page without entries is not always the last.
    public let cursor: String?
    /// How many entries of this page are damaged, so that their names can't be read.
    public let damagedCount: Int
    /// How many more rows were passed over because what they name can be read after the first unlock only.
    ///
    /// Absent means 0.
    public let sealedCount: Int

    package init(
        entries: [FileInfo],
        cursor: String? = nil,
        damagedCount: Int,
        sealedCount: Int = 0
    ) {
        self.entries = entries
        self.cursor = cursor
        self.damagedCount = damagedCount
        self.sealedCount = sealedCount
    }
}

extension FilePage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        entries = try reader.values("entries", of: FileInfo.self)
        cursor = try reader.optionalString("cursor")
        damagedCount = Int(try reader.integer("damagedCount", in: 0...Int64.max))
        sealedCount = try reader.optionalInteger("sealedCount", in: 0...Int64.max).map { Int($0) } ?? 0
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 4)
        object.append("entries", entries)
        object.append("cursor", cursor)
        object.append("damagedCount", damagedCount)
        if sealedCount != 0 { object.append("sealedCount", sealedCount) }
        return object
    }
}

/// The parameters of `file.listExtendedAttributes`.
///
/// Lists the extended attributes of a file.
///
/// - Throws: `dataTooLarge`, `decode`, `interactionNotAllowed`, `internal`, `io`, `itemNotFound`,
///   `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileListExtendedAttributesParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = ExtendedAttributeList
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileListExtendedAttributes) }
    /// The path of the file or directory.
    ///
    /// Absent means: required, unless handle is given.
    public let name: ItemName?
    /// The handle of an open file, in place of its name.
    ///
    /// The file may have lost its name. Absent means: required, unless name is given.
    public let handle: Int64?
    /// The access group of the file or directory.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(name: ItemName? = nil, handle: Int64? = nil, group: String? = nil) {
        self.name = name
        self.handle = handle
        self.group = group
    }
}

extension FileListExtendedAttributesParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.optionalName("name")
        handle = try reader.optionalInteger("handle", in: 0...Int64(Int32.max))
        group = try reader.optionalString("group")
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        object.append("name", name)
        object.append("handle", handle)
        object.append("group", group)
        return object
    }
}

/// The extended attributes of a file, in the order of their names.
public struct ExtendedAttributeList: Hashable, Sendable {
    /// The attributes.
    public let attributes: [ExtendedAttributeInfo]

    package init(attributes: [ExtendedAttributeInfo]) {
        self.attributes = attributes
    }
}

extension ExtendedAttributeList: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        attributes = try reader.values("attributes", of: ExtendedAttributeInfo.self)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        object.append("attributes", attributes)
        return object
    }
}

/// The parameters of `file.mkdir`.
///
/// Creates a directory.
///
/// - Throws: `dataTooLarge`, `decode`, `diskFull`, `duplicateItem`, `interactionNotAllowed`,
///   `internal`, `io`, `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileMkdirParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = FileInfo
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileMkdir) }
    /// The path of the directory.
    public let name: ItemName
    /// The class that new files in the directory get.
    ///
    /// Absent means: none.
    public let protectionClass: ProtectionClass?
    /// The default class of the directory of which it is a copy: new files in it get no weaker class,
    /// unless 'class' names one.
    ///
    /// Absent means: no copy.
    public let leastClass: ProtectionClass?
    /// Whether missing parent directories are created, and an existing directory is accepted.
    ///
    /// Absent means false.
    public let makesParents: Bool
    /// The permission bits of POSIX of the directory.
    ///
    /// Absent means: 0755.
    public let mode: Int64?
    /// The number of the owner of the directory.
    ///
    /// Absent means: none stated.
    public let uid: Int64?
    /// The number of the owner's group of the directory.
    ///
    /// Absent means: none stated.
    public let gid: Int64?
    /// How many former contents of each file in the directory are kept.
    ///
    /// Absent means: as many as the directory above says.
    public let keepCount: Int?
    /// The access group of the directory.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(
        name: ItemName,
        protectionClass: ProtectionClass? = nil,
        leastClass: ProtectionClass? = nil,
        makesParents: Bool = false,
        mode: Int64? = nil,
        uid: Int64? = nil,
        gid: Int64? = nil,
        keepCount: Int? = nil,
        group: String? = nil
    ) {
        self.name = name
        self.protectionClass = protectionClass
        self.leastClass = leastClass
        self.makesParents = makesParents
        self.mode = mode
        self.uid = uid
        self.gid = gid
        self.keepCount = keepCount
        self.group = group
    }
}

extension FileMkdirParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        protectionClass = try reader.value("class", as: ProtectionClass.self)
        leastClass = try reader.value("atLeast", as: ProtectionClass.self)
        makesParents = try reader.optionalBool("parents") ?? false
        mode = try reader.optionalInteger("mode", in: 0...4095)
        uid = try reader.optionalInteger("uid", in: 0...4294967294)
        gid = try reader.optionalInteger("gid", in: 0...4294967294)
        keepCount = try reader.optionalInteger("keep", in: 0...Int64(Limits.historyValues)).map { Int($0) }
        group = try reader.optionalString("group")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 8)
        object.append("name", name)
        object.append("class", protectionClass)
        object.append("atLeast", leastClass)
        if makesParents { object.append("parents", true) }
        object.append("mode", mode)
        object.append("uid", uid)
        object.append("gid", gid)
        object.append("keep", keepCount)
        object.append("group", group)
        return object
    }
}

/// The parameters of `file.open`.
///
/// Opens a file. The handle belongs to the connection and ends with it.
///
/// - Throws: `dataTooLarge`, `decode`, `diskFull`, `duplicateItem`, `interactionNotAllowed`,
///   `internal`, `io`, `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileOpenParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = FileOpenResult
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileOpen) }
    /// The path of the file.
    public let name: ItemName
    /// Whether the handle reads, writes, or both.
    ///
    /// Absent means read.
    public let access: FileAccess?
    /// Whether a missing file is created.
    ///
    /// Absent means false.
    public let creates: Bool
    /// Whether an existing file is refused.
    ///
    /// Absent means false.
    public let isExclusive: Bool
    /// Whether the file is emptied.
    ///
    /// Absent means false.
    public let truncates: Bool
    /// Whether every write goes to the end of the file.
    ///
    /// Absent means false.
    public let appends: Bool
    /// The class of a file that is created.
    ///
    /// Absent means: the directory's default.
    public let protectionClass: ProtectionClass?
    /// The class of the file of which a file that is created is a copy: it gets no weaker class, unless
    /// 'class' names one.
    ///
    /// Absent means: no copy.
    public let leastClass: ProtectionClass?
    /// Whether the request waits while another handle has the file open for writing.
    ///
    /// Absent means false.
    public let waits: Bool
    /// Whether other handles with 'shared' may have the file open for writing as well.
    ///
    /// Without it, the handle is the only one that writes. Absent means false.
    public let isShared: Bool
    /// The permission bits of POSIX of a file that is created.
    ///
    /// Absent means: 0644.
    public let mode: Int64?
    /// The number of the owner of a file that is created.
    ///
    /// Absent means: none stated.
    public let uid: Int64?
    /// The number of the owner's group of a file that is created.
    ///
    /// Absent means: none stated.
    public let gid: Int64?
    /// The number of the version that is read, in place of the present content.
    ///
    /// Absent means: the present content.
    public let version: Int64?
    /// The access group of the file.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(
        name: ItemName,
        access: FileAccess? = nil,
        creates: Bool = false,
        isExclusive: Bool = false,
        truncates: Bool = false,
        appends: Bool = false,
        protectionClass: ProtectionClass? = nil,
        leastClass: ProtectionClass? = nil,
        waits: Bool = false,
        isShared: Bool = false,
        mode: Int64? = nil,
        uid: Int64? = nil,
        gid: Int64? = nil,
        version: Int64? = nil,
        group: String? = nil
    ) {
        self.name = name
        self.access = access
        self.creates = creates
        self.isExclusive = isExclusive
        self.truncates = truncates
        self.appends = appends
        self.protectionClass = protectionClass
        self.leastClass = leastClass
        self.waits = waits
        self.isShared = isShared
        self.mode = mode
        self.uid = uid
        self.gid = gid
        self.version = version
        self.group = group
    }
}

extension FileOpenParameters: WireObject {
    package static var neverNull: [String] { ["exclusive"] }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        access = try reader.value("access", as: FileAccess.self)
        creates = try reader.optionalBool("create") ?? false
        isExclusive = try reader.optionalBool("exclusive") ?? false
        truncates = try reader.optionalBool("truncate") ?? false
        appends = try reader.optionalBool("append") ?? false
        protectionClass = try reader.value("class", as: ProtectionClass.self)
        leastClass = try reader.value("atLeast", as: ProtectionClass.self)
        waits = try reader.optionalBool("wait") ?? false
        isShared = try reader.optionalBool("shared") ?? false
        mode = try reader.optionalInteger("mode", in: 0...4095)
        uid = try reader.optionalInteger("uid", in: 0...4294967294)
        gid = try reader.optionalInteger("gid", in: 0...4294967294)
        version = try reader.optionalInteger("version")
        group = try reader.optionalString("group")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 8)
        object.append("name", name)
        object.append("access", access)
        if creates { object.append("create", true) }
        if isExclusive { object.append("exclusive", true) }
        if truncates { object.append("truncate", true) }
        if appends { object.append("append", true) }
        object.append("class", protectionClass)
        object.append("atLeast", leastClass)
        if waits { object.append("wait", true) }
        if isShared { object.append("shared", true) }
        object.append("mode", mode)
        object.append("uid", uid)
        object.append("gid", gid)
        object.append("version", version)
        object.append("group", group)
        return object
    }
}

/// An open file.
public struct FileOpenResult: Hashable, Sendable {
    /// The number of the handle.
    public let handle: Int64
    /// How many bytes the file has.
    public let byteCount: Int64
    /// The class of the file.
    public let protectionClass: ProtectionClass
    /// Whether the request created the file.
    public let isNew: Bool
    /// The file, as file.stat has it.
    ///
    /// It is absent if its attributes can't be read before the first unlock.
    public let file: FileInfo?

    package init(
        handle: Int64,
        byteCount: Int64,
        protectionClass: ProtectionClass,
        isNew: Bool,
        file: FileInfo? = nil
    ) {
        self.handle = handle
        self.byteCount = byteCount
        self.protectionClass = protectionClass
        self.isNew = isNew
        self.file = file
    }
}

extension FileOpenResult: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        handle = try reader.integer("handle", in: 0...Int64(Int32.max))
        byteCount = try reader.integer("bytes", in: 0...Int64.max)
        protectionClass = try reader.required("class", as: ProtectionClass.self)
        isNew = try reader.optionalBool("created") ?? false
        file = try reader.value("file", of: FileInfo.self)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 5)
        object.append("handle", handle)
        object.append("bytes", byteCount)
        object.append("class", protectionClass)
        object.append("created", isNew)
        object.append("file", file)
        return object
    }
}

/// The parameters of `file.protect`.
///
/// Changes the class of a file, or of everything in a directory.
///
/// - Throws: `dataTooLarge`, `decode`, `diskFull`, `duplicateItem`, `interactionNotAllowed`,
///   `internal`, `io`, `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileProtectParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = FileProtectionChange
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileProtect) }
    /// The path of the file or directory.
    ///
    /// Absent means: the root, with 'default'.
    public let name: ItemName?
    /// The class.
    public let protectionClass: ProtectionClass
    /// Whether everything that a directory contains gets the class.
    ///
    /// Absent means false.
    public let isRecursive: Bool
    /// Whether only new files in a directory get the class.
    ///
    /// Absent means false.
    public let isDefaultOnly: Bool
    /// Whether the client wants progress notifications during the request, which count entries.
    ///
    /// Absent means false.
    public let wantsProgress: Bool
    /// The access group of the file or directory.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(
        name: ItemName? = nil,
        protectionClass: ProtectionClass,
        isRecursive: Bool = false,
        isDefaultOnly: Bool = false,
        wantsProgress: Bool = false,
        group: String? = nil
    ) {
        self.name = name
        self.protectionClass = protectionClass
        self.isRecursive = isRecursive
        self.isDefaultOnly = isDefaultOnly
        self.wantsProgress = wantsProgress
        self.group = group
    }
}

extension FileProtectParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.optionalName("name")
        protectionClass = try reader.required("class", as: ProtectionClass.self)
        isRecursive = try reader.optionalBool("recursive") ?? false
        isDefaultOnly = try reader.optionalBool("default") ?? false
        wantsProgress = try reader.optionalBool("progress") ?? false
        group = try reader.optionalString("group")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 6)
        object.append("name", name)
        object.append("class", protectionClass)
        if isRecursive { object.append("recursive", true) }
        if isDefaultOnly { object.append("default", true) }
        if wantsProgress { object.append("progress", true) }
        object.append("group", group)
        return object
    }
}

/// Which files changed their class.
public struct FileProtectionChange: Hashable, Sendable {
    /// How many files and directories changed their class.
    ///
    /// Those that had the class already are not counted.
    public let changedCount: Int
    /// The files that kept their class, the first hundred of them.
    public let unchanged: [UnchangedFile]
    /// How many files the request failed to change.
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
        var object = JSONObject(capacity: 3)
        object.append("changed", changedCount)
        object.append("unchanged", unchanged)
        object.append("unchangedCount", unchangedCount)
        return object
    }
}

/// The parameters of `file.punch`.
///
/// Turns a range of an open file into zeros. Its size stays. If fewer bytes are turned than asked for,
/// the client repeats the request for the rest.
///
/// - Throws: `dataTooLarge`, `decode`, `diskFull`, `interactionNotAllowed`, `internal`, `io`,
///   `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FilePunchParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = FileByteCount
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.filePunch) }
    /// The handle of an open file.
    public let handle: Int64
    /// Where the range begins, in bytes.
    public let offset: Int64
    /// How many bytes the range has.
    public let length: Int64

    /// Makes the parameters.
    public init(handle: Int64, offset: Int64, length: Int64) {
        self.handle = handle
        self.offset = offset
        self.length = length
    }
}

extension FilePunchParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        handle = try reader.integer("handle", in: 0...Int64(Int32.max))
        offset = try reader.integer("offset", in: 0...Int64(Limits.fileBytes))
        length = try reader.integer("length", in: 0...Int64(Limits.fileBytes))
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        object.append("handle", handle)
        object.append("offset", offset)
        object.append("length", length)
        return object
    }
}

/// The parameters of `file.read`.
///
/// Reads a range of an open file. The bytes are the payload of the answer.
///
/// - Throws: `dataTooLarge`, `decode`, `interactionNotAllowed`, `internal`, `io`, `itemNotFound`,
///   `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileReadParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = FileByteCount
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileRead) }
    /// The handle of an open file.
    public let handle: Int64
    /// Where the range begins, in bytes.
    public let offset: Int64
    /// How many bytes are read.
    ///
    /// At the end of the file there are fewer.
    public let length: Int64

    /// Makes the parameters.
    public init(handle: Int64, offset: Int64, length: Int64) {
        self.handle = handle
        self.offset = offset
        self.length = length
    }
}

extension FileReadParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        handle = try reader.integer("handle", in: 0...Int64(Int32.max))
        offset = try reader.integer("offset", in: 0...Int64(Limits.fileBytes))
        length = try reader.integer("length", in: 0...Int64(Limits.framePayloadBytes))
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        object.append("handle", handle)
        object.append("offset", offset)
        object.append("length", length)
        return object
    }
}

/// The parameters of `file.remove`.
///
/// Removes a file or a directory.
///
/// - Throws: `dataTooLarge`, `decode`, `diskFull`, `interactionNotAllowed`, `internal`, `io`,
///   `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileRemoveParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = CountResult
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileRemove) }
    /// The path of the file or directory.
    public let name: ItemName
    /// Whether a directory is removed with everything that it contains.
    ///
    /// Absent means false.
    public let isRecursive: Bool
    /// Whether the client wants progress notifications during the request, which count entries.
    ///
    /// Absent means false.
    public let wantsProgress: Bool
    /// Whether a directory that was created implicitly stays, also if it becomes empty.
    ///
    /// Absent means false.
    public let keepsDirectories: Bool
    /// The access group of the file or directory.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(
        name: ItemName,
        isRecursive: Bool = false,
        wantsProgress: Bool = false,
        keepsDirectories: Bool = false,
        group: String? = nil
    ) {
        self.name = name
        self.isRecursive = isRecursive
        self.wantsProgress = wantsProgress
        self.keepsDirectories = keepsDirectories
        self.group = group
    }
}

extension FileRemoveParameters: WireObject {
    package static var neverNull: [String] { ["recursive", "keepDirectories", "group"] }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        isRecursive = try reader.optionalBool("recursive") ?? false
        wantsProgress = try reader.optionalBool("progress") ?? false
        keepsDirectories = try reader.optionalBool("keepDirectories") ?? false
        group = try reader.optionalString("group")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 5)
        object.append("name", name)
        if isRecursive { object.append("recursive", true) }
        if wantsProgress { object.append("progress", true) }
        if keepsDirectories { object.append("keepDirectories", true) }
        object.append("group", group)
        return object
    }
}

/// The parameters of `file.removeExtendedAttribute`.
///
/// Removes an extended attribute of a file.
///
/// - Throws: `dataTooLarge`, `decode`, `diskFull`, `duplicateItem`, `interactionNotAllowed`,
///   `internal`, `io`, `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileRemoveExtendedAttributeParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = Empty
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileRemoveExtendedAttribute) }
    /// The path of the file or directory.
    ///
    /// Absent means: required, unless handle is given.
    public let name: ItemName?
    /// The handle of an open file, in place of its name.
    ///
    /// The file may have lost its name. Absent means: required, unless name is given.
    public let handle: Int64?
    /// The name of the attribute, which begins with user.
    public let attribute: String
    /// The access group of the file or directory.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(
        name: ItemName? = nil,
        handle: Int64? = nil,
        attribute: String,
        group: String? = nil
    ) {
        self.name = name
        self.handle = handle
        self.attribute = attribute
        self.group = group
    }
}

extension FileRemoveExtendedAttributeParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.optionalName("name")
        handle = try reader.optionalInteger("handle", in: 0...Int64(Int32.max))
        attribute = try reader.string("attribute")
        group = try reader.optionalString("group")
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 4)
        object.append("name", name)
        object.append("handle", handle)
        object.append("attribute", attribute)
        object.append("group", group)
        return object
    }
}

/// The parameters of `file.removeVersions`.
///
/// Destroys former contents of a file.
///
/// - Throws: `dataTooLarge`, `decode`, `diskFull`, `duplicateItem`, `interactionNotAllowed`,
///   `internal`, `io`, `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileRemoveVersionsParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = CountResult
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileRemoveVersions) }
    /// The path of the file.
    public let name: ItemName
    /// The number of the version.
    ///
    /// Absent means: all.
    public let number: Int64?
    /// The access group of the file.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(name: ItemName, number: Int64? = nil, group: String? = nil) {
        self.name = name
        self.number = number
        self.group = group
    }
}

extension FileRemoveVersionsParameters: WireObject {
    package static var neverNull: [String] { ["version", "group"] }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        number = try reader.optionalInteger("version")
        group = try reader.optionalString("group")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        object.append("name", name)
        object.append("version", number)
        object.append("group", group)
        return object
    }
}

/// The parameters of `file.rename`.
///
/// Renames a file or a directory.
///
/// - Throws: `dataTooLarge`, `decode`, `diskFull`, `duplicateItem`, `interactionNotAllowed`,
///   `internal`, `io`, `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileRenameParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = FileInfo
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileRename) }
    /// The path of the file or directory.
    public let name: ItemName
    /// The new path.
    public let target: ItemName
    /// Whether an existing file at the new path is replaced: a directory replaces an empty directory,
    /// anything else anything but a directory.
    ///
    /// Absent means false.
    public let replaces: Bool
    /// Whether the file keeps its class.
    ///
    /// Otherwise it gets that of the file that it replaces, if that is stricter. Absent means false.
    public let keepsClass: Bool
    /// Whether what is at the new path gets the former one.
    ///
    /// It excludes 'replace'. Absent means false.
    public let exchanges: Bool
    /// Whether a directory that was created implicitly stays, also if it becomes empty.
    ///
    /// Absent means false.
    public let keepsDirectories: Bool
    /// The access group of the file or directory.
    ///
    /// It stays in it. Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(
        name: ItemName,
        target: ItemName,
        replaces: Bool = false,
        keepsClass: Bool = false,
        exchanges: Bool = false,
        keepsDirectories: Bool = false,
        group: String? = nil
    ) {
        self.name = name
        self.target = target
        self.replaces = replaces
        self.keepsClass = keepsClass
        self.exchanges = exchanges
        self.keepsDirectories = keepsDirectories
        self.group = group
    }
}

extension FileRenameParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        target = try reader.name("to")
        replaces = try reader.optionalBool("replace") ?? false
        keepsClass = try reader.optionalBool("keepClass") ?? false
        exchanges = try reader.optionalBool("exchange") ?? false
        keepsDirectories = try reader.optionalBool("keepDirectories") ?? false
        group = try reader.optionalString("group")
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 7)
        object.append("name", name)
        object.append("to", target)
        if replaces { object.append("replace", true) }
        if keepsClass { object.append("keepClass", true) }
        if exchanges { object.append("exchange", true) }
        if keepsDirectories { object.append("keepDirectories", true) }
        object.append("group", group)
        return object
    }
}

/// The parameters of `file.restore`.
///
/// Makes a former content of a file the present one. The present one becomes a version, and nothing is
/// copied.
///
/// - Throws: `dataTooLarge`, `decode`, `diskFull`, `duplicateItem`, `interactionNotAllowed`,
///   `internal`, `io`, `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileRestoreParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = FileInfo
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileRestore) }
    /// The path of the file.
    public let name: ItemName
    /// The number of the version.
    public let number: Int64
    /// The access group of the file.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(name: ItemName, number: Int64, group: String? = nil) {
        self.name = name
        self.number = number
        self.group = group
    }
}

extension FileRestoreParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        number = try reader.integer("version")
        group = try reader.optionalString("group")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        object.append("name", name)
        object.append("version", number)
        object.append("group", group)
        return object
    }
}

/// The parameters of `file.salvage`.
///
/// Delivers a damaged file as far as it can be read. The descriptor takes the content.
///
/// - Throws: `dataTooLarge`, `decode`, `diskFull`, `interactionNotAllowed`, `internal`, `io`,
///   `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileSalvageParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = Salvage
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileSalvage) }
    /// The path of the file.
    public let name: ItemName
    /// Whether the client wants progress notifications during the request.
    ///
    /// Absent means false.
    public let wantsProgress: Bool
    /// The access group of the file.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(name: ItemName, wantsProgress: Bool = false, group: String? = nil) {
        self.name = name
        self.wantsProgress = wantsProgress
        self.group = group
    }
}

extension FileSalvageParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        wantsProgress = try reader.optionalBool("progress") ?? false
        group = try reader.optionalString("group")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        object.append("name", name)
        if wantsProgress { object.append("progress", true) }
        object.append("group", group)
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
    /// Whether delivered parts may be earlier versions.
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
        var object = JSONObject(capacity: 4)
        object.append("bytes", byteCount)
        object.append("damagedBytes", damagedByteCount)
        object.append("damaged", damaged)
        object.append("mayBeOlder", mayBeOlder)
        return object
    }
}

/// The parameters of `file.setAttributes`.
///
/// Changes the mode, the owner and the times of a file or a directory.
///
/// - Throws: `dataTooLarge`, `decode`, `diskFull`, `duplicateItem`, `interactionNotAllowed`,
///   `internal`, `io`, `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileSetAttributesParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = FileInfo
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileSetAttributes) }
    /// The path of the file or directory.
    ///
    /// Absent means: required, unless handle is given.
    public let name: ItemName?
    /// The handle of an open file, in place of its name.
    ///
    /// The file may have lost its name. Absent means: required, unless name is given.
    public let handle: Int64?
    /// The permission bits of POSIX.
    ///
    /// Absent means: as it is.
    public let mode: Int64?
    /// The number of the owner.
    ///
    /// Absent means: as it is.
    public let uid: Int64?
    /// The number of the owner's group.
    ///
    /// Absent means: as it is.
    public let gid: Int64?
    /// When it was last read.
    ///
    /// Absent means: as it is.
    public let accessedNanoseconds: Int64?
    /// When its content last changed.
    ///
    /// Absent means: as it is.
    public let modifiedNanoseconds: Int64?
    /// The access group of the file or directory.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(
        name: ItemName? = nil,
        handle: Int64? = nil,
        mode: Int64? = nil,
        uid: Int64? = nil,
        gid: Int64? = nil,
        accessedNanoseconds: Int64? = nil,
        modifiedNanoseconds: Int64? = nil,
        group: String? = nil
    ) {
        self.name = name
        self.handle = handle
        self.mode = mode
        self.uid = uid
        self.gid = gid
        self.accessedNanoseconds = accessedNanoseconds
        self.modifiedNanoseconds = modifiedNanoseconds
        self.group = group
    }
}

extension FileSetAttributesParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.optionalName("name")
        handle = try reader.optionalInteger("handle", in: 0...Int64(Int32.max))
        mode = try reader.optionalInteger("mode", in: 0...4095)
        uid = try reader.optionalInteger("uid", in: 0...4294967294)
        gid = try reader.optionalInteger("gid", in: 0...4294967294)
        accessedNanoseconds = try reader.optionalInteger("accessedNanoseconds")
        modifiedNanoseconds = try reader.optionalInteger("modifiedNanoseconds")
        group = try reader.optionalString("group")
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 8)
        object.append("name", name)
        object.append("handle", handle)
        object.append("mode", mode)
        object.append("uid", uid)
        object.append("gid", gid)
        object.append("accessedNanoseconds", accessedNanoseconds)
        object.append("modifiedNanoseconds", modifiedNanoseconds)
        object.append("group", group)
        return object
    }
}

/// The parameters of `file.setExtendedAttribute`.
///
/// Sets an extended attribute of a file. The payload is its value.
///
/// - Throws: `dataTooLarge`, `decode`, `diskFull`, `duplicateItem`, `interactionNotAllowed`,
///   `internal`, `io`, `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileSetExtendedAttributeParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = Empty
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileSetExtendedAttribute) }
    /// The path of the file or directory.
    ///
    /// Absent means: required, unless handle is given.
    public let name: ItemName?
    /// The handle of an open file, in place of its name.
    ///
    /// The file may have lost its name. Absent means: required, unless name is given.
    public let handle: Int64?
    /// The name of the attribute, which begins with user.
    public let attribute: String
    /// Whether an attribute that exists is refused.
    ///
    /// Absent means false.
    public let creates: Bool
    /// Whether an attribute that does not exist is refused.
    ///
    /// Absent means false.
    public let replaces: Bool
    /// The access group of the file or directory.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(
        name: ItemName? = nil,
        handle: Int64? = nil,
        attribute: String,
        creates: Bool = false,
        replaces: Bool = false,
        group: String? = nil
    ) {
        self.name = name
        self.handle = handle
        self.attribute = attribute
        self.creates = creates
        self.replaces = replaces
        self.group = group
    }
}

extension FileSetExtendedAttributeParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.optionalName("name")
        handle = try reader.optionalInteger("handle", in: 0...Int64(Int32.max))
        attribute = try reader.string("attribute")
        creates = try reader.optionalBool("create") ?? false
        replaces = try reader.optionalBool("replace") ?? false
        group = try reader.optionalString("group")
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 6)
        object.append("name", name)
        object.append("handle", handle)
        object.append("attribute", attribute)
        if creates { object.append("create", true) }
        if replaces { object.append("replace", true) }
        object.append("group", group)
        return object
    }
}

/// The parameters of `file.space`.
///
/// Reports how much space the disk of the vault has.
///
/// - Throws: `dataTooLarge`, `decode`, `interactionNotAllowed`, `internal`, `io`, `itemNotFound`,
///   `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileSpaceParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = FileSpace
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileSpace) }

    /// Makes the parameters.
    public init() {
    }
}

extension FileSpaceParameters: WireObject {
    package init(reading reader: inout ParameterReader) {}

    package var json: JSONObject { [:] }
}

/// The space of the disk that the vault is on.
public struct FileSpace: Hashable, Sendable {
    /// How many bytes the disk has.
    public let totalByteCount: Int64
    /// How many of them are free.
    public let freeByteCount: Int64
    /// How many of them the daemon can still use.
    public let availableByteCount: Int64
    /// How many files the vault has, of all groups.
    public let fileCount: Int64

    package init(
        totalByteCount: Int64,
        freeByteCount: Int64,
        availableByteCount: Int64,
        fileCount: Int64
    ) {
        self.totalByteCount = totalByteCount
        self.freeByteCount = freeByteCount
        self.availableByteCount = availableByteCount
        self.fileCount = fileCount
    }
}

extension FileSpace: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        totalByteCount = try reader.integer("totalBytes", in: 0...Int64.max)
        freeByteCount = try reader.integer("freeBytes", in: 0...Int64.max)
        availableByteCount = try reader.integer("availableBytes", in: 0...Int64.max)
        fileCount = try reader.integer("files", in: 0...Int64.max)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 4)
        object.append("totalBytes", totalByteCount)
        object.append("freeBytes", freeByteCount)
        object.append("availableBytes", availableByteCount)
        object.append("files", fileCount)
        return object
    }
}

/// The parameters of `file.stat`.
///
/// Reports on a file or a directory.
///
/// - Throws: `dataTooLarge`, `decode`, `interactionNotAllowed`, `internal`, `io`, `itemNotFound`,
///   `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileStatParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = FileInfo
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileStat) }
    /// The path of the file or directory.
    ///
    /// Absent means: required, unless handle is given.
    public let name: ItemName?
    /// The handle of an open file, in place of its name.
    ///
    /// The file may have lost its name. Absent means: required, unless name is given.
    public let handle: Int64?
    /// The access group of the file or directory.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(name: ItemName? = nil, handle: Int64? = nil, group: String? = nil) {
        self.name = name
        self.handle = handle
        self.group = group
    }
}

extension FileStatParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.optionalName("name")
        handle = try reader.optionalInteger("handle", in: 0...Int64(Int32.max))
        group = try reader.optionalString("group")
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        object.append("name", name)
        object.append("handle", handle)
        object.append("group", group)
        return object
    }
}

/// The parameters of `file.symlink`.
///
/// Creates a symbolic link. The daemon keeps where it leads, and never follows it.
///
/// - Throws: `dataTooLarge`, `decode`, `diskFull`, `duplicateItem`, `interactionNotAllowed`,
///   `internal`, `io`, `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileSymlinkParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = FileInfo
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileSymlink) }
    /// The path of the symbolic link.
    public let name: ItemName
    /// Where it leads: any text without NUL.
    public let target: String
    /// The number of the owner.
    ///
    /// Absent means: none stated.
    public let uid: Int64?
    /// The number of the owner's group.
    ///
    /// Absent means: none stated.
    public let gid: Int64?
    /// The access group of the symbolic link.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(
        name: ItemName,
        target: String,
        uid: Int64? = nil,
        gid: Int64? = nil,
        group: String? = nil
    ) {
        self.name = name
        self.target = target
        self.uid = uid
        self.gid = gid
        self.group = group
    }
}

extension FileSymlinkParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        target = try reader.string("target")
        uid = try reader.optionalInteger("uid", in: 0...4294967294)
        gid = try reader.optionalInteger("gid", in: 0...4294967294)
        group = try reader.optionalString("group")
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 5)
        object.append("name", name)
        object.append("target", target)
        object.append("uid", uid)
        object.append("gid", gid)
        object.append("group", group)
        return object
    }
}

/// The parameters of `file.sync`.
///
/// Syncs what was written through a handle to the disk.
///
/// - Throws: `dataTooLarge`, `decode`, `diskFull`, `interactionNotAllowed`, `internal`, `io`,
///   `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileSyncParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = Empty
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileSync) }
    /// The handle of an open file.
    public let handle: Int64

    /// Makes the parameters.
    public init(handle: Int64) {
        self.handle = handle
    }
}

extension FileSyncParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        handle = try reader.integer("handle", in: 0...Int64(Int32.max))
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        object.append("handle", handle)
        return object
    }
}

/// The parameters of `file.syncTree`.
///
/// Syncs the changes of the tree that were answered before they were on the disk, of all connections.
///
/// - Throws: `dataTooLarge`, `decode`, `diskFull`, `interactionNotAllowed`, `internal`, `io`,
///   `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileSyncTreeParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = Empty
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileSyncTree) }
    /// Whether files that were closed, and whose sync was deferred, are synced as well.
    ///
    /// Absent means false.
    public let includesClosedFiles: Bool

    /// Makes the parameters.
    public init(includesClosedFiles: Bool = false) {
        self.includesClosedFiles = includesClosedFiles
    }
}

extension FileSyncTreeParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        includesClosedFiles = try reader.optionalBool("closedFiles") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        if includesClosedFiles { object.append("closedFiles", true) }
        return object
    }
}

/// The parameters of `file.truncate`.
///
/// Sets the length of an open file. Bytes that are added read as zeros.
///
/// - Throws: `dataTooLarge`, `decode`, `diskFull`, `interactionNotAllowed`, `internal`, `io`,
///   `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileTruncateParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = Empty
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileTruncate) }
    /// The handle of an open file.
    public let handle: Int64
    /// The new length in bytes.
    public let byteCount: Int64

    /// Makes the parameters.
    public init(handle: Int64, byteCount: Int64) {
        self.handle = handle
        self.byteCount = byteCount
    }
}

extension FileTruncateParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        handle = try reader.integer("handle", in: 0...Int64(Int32.max))
        byteCount = try reader.integer("bytes", in: 0...Int64(Limits.fileBytes))
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("handle", handle)
        object.append("bytes", byteCount)
        return object
    }
}

/// The parameters of `file.versions`.
///
/// Lists the former contents of a file, the newest first, and says how many are kept.
///
/// - Throws: `dataTooLarge`, `decode`, `interactionNotAllowed`, `internal`, `io`, `itemNotFound`,
///   `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileVersionsParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = FileVersions
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileVersions) }
    /// The path of the file or directory.
    public let name: ItemName
    /// The access group of the file or directory.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(name: ItemName, group: String? = nil) {
        self.name = name
        self.group = group
    }
}

extension FileVersionsParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        group = try reader.optionalString("group")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("name", name)
        object.append("group", group)
        return object
    }
}

/// The parameters of `file.write`.
///
/// Writes a range of an open file. The bytes are the payload.
///
/// - Throws: `dataTooLarge`, `decode`, `diskFull`, `interactionNotAllowed`, `internal`, `io`,
///   `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct FileWriteParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = FileWriteResult
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.fileWrite) }
    /// The handle of an open file.
    public let handle: Int64
    /// Where the range begins, in bytes.
    ///
    /// Absent means: the end of the file.
    public let offset: Int64?

    /// Makes the parameters.
    public init(handle: Int64, offset: Int64? = nil) {
        self.handle = handle
        self.offset = offset
    }
}

extension FileWriteParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        handle = try reader.integer("handle", in: 0...Int64(Int32.max))
        offset = try reader.optionalInteger("offset", in: 0...Int64(Limits.fileBytes))
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("handle", handle)
        object.append("offset", offset)
        return object
    }
}

/// The offset of the data, and the new length of the file.
public struct FileWriteResult: Hashable, Sendable {
    /// Where the range begins, in bytes.
    public let offset: Int64
    /// How many bytes the file has now.
    public let byteCount: Int64

    package init(offset: Int64, byteCount: Int64) {
        self.offset = offset
        self.byteCount = byteCount
    }
}

extension FileWriteResult: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        offset = try reader.integer("offset", in: 0...Int64.max)
        byteCount = try reader.integer("bytes", in: 0...Int64.max)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("offset", offset)
        object.append("bytes", byteCount)
        return object
    }
}

/// The parameters of `mount.serve`.
///
/// Answers a mount: the daemon reads the kernel's requests from the descriptor, and writes the answers
/// to it. It does so until the file system is unmounted, whether or not the connection ends, with the
/// rights of the client.
///
/// - Throws: `dataTooLarge`, `decode`, `interactionNotAllowed`, `internal`, `io`, `itemNotFound`,
///   `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct MountServeParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = Empty
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.mountServe) }
    /// The absolute path of the directory at which it is mounted.
    ///
    /// The daemon names the mount by it, as in 'unconfirmed' of 'vault.status'.
    public let place: String
    /// The path of the directory of the vault that is the root of the mount.
    ///
    /// Absent means: the root of the vault.
    public let path: ItemName?
    /// Whether every change is refused.
    ///
    /// Absent means false.
    public let isReadOnly: Bool
    /// The access group whose files the mount has.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(
        place: String,
        path: ItemName? = nil,
        isReadOnly: Bool = false,
        group: String? = nil
    ) {
        self.place = place
        self.path = path
        self.isReadOnly = isReadOnly
        self.group = group
    }
}

extension MountServeParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        place = try reader.string("place")
        path = try reader.optionalName("name")
        isReadOnly = try reader.optionalBool("readOnly") ?? false
        group = try reader.optionalString("group")
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 4)
        object.append("place", place)
        object.append("name", path)
        if isReadOnly { object.append("readOnly", true) }
        object.append("group", group)
        return object
    }
}
