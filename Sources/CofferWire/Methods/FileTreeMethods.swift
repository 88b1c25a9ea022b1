package import CofferCore

/// The parameters of `file.stat`, as they travel.
package struct FileStatParameters: WireObject {
    /// The name.
    package let name: ItemName

    package init(name: ItemName) { self.name = name }

    package init(reading reader: inout ParameterReader) throws(CofferError) { name = try reader.name("name") }

    package var json: JSONObject { ["name": .string(name.path)] }
}

/// The parameters of `file.list`, as they travel.
package struct FileListParameters: WireObject {
    /// The directory; the root if none is named.
    package let name: ItemName?
    /// Whether what is in its directories is listed as well.
    package let isRecursive: Bool
    /// The most entries.
    package let limit: Int64?
    /// The `cursor` of the page before.
    package let cursor: String?

    package init(name: ItemName? = nil, isRecursive: Bool = false, limit: Int64? = nil, cursor: String? = nil) {
        self.name = name
        self.isRecursive = isRecursive
        self.limit = limit
        self.cursor = cursor
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.optionalString("name").map { (path) throws(CofferError) in try ItemName(path) }
        isRecursive = try reader.optionalBool("recursive") ?? false
        limit = try reader.optionalInteger("limit", in: 1...Int64(Limits.pageItems))
        cursor = try reader.optionalString("cursor")
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("name", name?.path)
        if isRecursive { object.set("recursive", true) }
        object.set("limit", limit)
        object.set("cursor", cursor)
        return object
    }
}

/// The parameters of `file.mkdir`, as they travel.
package struct FileMakeDirectoryParameters: WireObject {
    /// The name.
    package let name: ItemName
    /// The class of new files in it; if none is named, that of the directories around it.
    package let protectionClass: ProtectionClass?
    /// Whether the directories that it lies in are made as well, and one that is there will do.
    package let makesParents: Bool

    package init(name: ItemName, protectionClass: ProtectionClass? = nil, makesParents: Bool = false) {
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
        var object: JSONObject = ["name": .string(name.path)]
        object.set("class", protectionClass?.rawValue)
        if makesParents { object.set("parents", true) }
        return object
    }
}

/// The parameters of `file.remove`, as they travel.
package struct FileRemoveParameters: WireObject {
    /// The name.
    package let name: ItemName
    /// Whether a directory goes with all that is in it.
    package let isRecursive: Bool
    /// Whether notifications are wanted while it lasts.
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
        var object: JSONObject = ["name": .string(name.path)]
        if isRecursive { object.set("recursive", true) }
        if wantsProgress { object.set("progress", true) }
        return object
    }
}

/// The parameters of `file.protect`, as they travel.
package struct FileProtectParameters: WireObject {
    /// The name.
    package let name: ItemName
    /// The class.
    package let protectionClass: ProtectionClass
    /// Whether all that is in a directory gets it.
    package let isRecursive: Bool
    /// Whether only new files in a directory get it.
    package let isDefaultOnly: Bool
    /// Whether notifications are wanted while it lasts.
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
        var object: JSONObject = ["name": .string(name.path), "class": .string(protectionClass.rawValue)]
        if isRecursive { object.set("recursive", true) }
        if isDefaultOnly { object.set("default", true) }
        if wantsProgress { object.set("progress", true) }
        return object
    }
}

/// The result of `file.remove`, as it travels.
package struct FileRemoveResult: WireObject {
    /// The files and directories that are gone.
    package let count: Int64

    package init(count: Int64) { self.count = count }

    package init(reading reader: inout ParameterReader) throws(CofferError) { count = try reader.integer("count") }

    package var json: JSONObject { ["count": .integer(count)] }
}

extension FileInfo: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            name: try reader.string("name"),
            isDirectory: try reader.optionalBool("isDirectory") ?? false,
            protectionClass: try reader.value("class", as: ProtectionClass.self),
            byteCount: try reader.integer("bytes"),
            kind: try reader.value("kind", as: ItemKind.self),
            created: try reader.integer("created"),
            modified: try reader.integer("modified"),
            isReadable: try reader.optionalBool("isReadable") ?? false,
            isOpenForWriting: try reader.optionalBool("isOpenForWriting") ?? false,
            childCount: try reader.optionalInteger("children", in: 0...Int64(Int32.max)).map { Int($0) }
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("name", name)
        object.set("isDirectory", isDirectory)
        object.set("class", protectionClass?.rawValue)
        object.set("bytes", byteCount)
        object.set("kind", kind?.rawValue)
        object.set("created", created)
        object.set("modified", modified)
        object.set("isReadable", isReadable)
        object.set("isOpenForWriting", isOpenForWriting)
        object.set("children", childCount)
        return object
    }
}

extension FilePage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            entries: try reader.values("entries", of: FileInfo.self),
            cursor: try reader.optionalString("cursor"),
            damagedCount: Int(try reader.integer("damagedCount", in: 0...Int64(Int32.max)))
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("entries", .array(entries.map { .object($0.json) }))
        object.set("cursor", cursor)
        object.set("damagedCount", damagedCount)
        return object
    }
}

extension FileProtectionChange.Unchanged: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            name: try reader.string("name"),
            code: ErrorCode(rawValue: try reader.string("code")),
            message: try reader.string("message")
        )
    }

    package var json: JSONObject {
        ["name": .string(name), "code": .string(code.rawValue), "message": .string(message)]
    }
}

extension FileProtectionChange: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            changedCount: Int(try reader.integer("changed", in: 0...Int64(Int32.max))),
            unchanged: try reader.values("unchanged", of: Unchanged.self),
            unchangedCount: Int(try reader.integer("unchangedCount", in: 0...Int64(Int32.max)))
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("changed", changedCount)
        object.set("unchanged", .array(unchanged.map { .object($0.json) }))
        object.set("unchangedCount", unchangedCount)
        return object
    }
}
