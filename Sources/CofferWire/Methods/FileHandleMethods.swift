package import CofferCore

/// The parameters of `file.open`, as they travel.
package struct FileOpenParameters: WireObject {
    /// The name.
    package let name: ItemName
    /// What the handle is for; reading if nothing is said.
    package let access: FileAccess?
    /// Whether a file that does not exist is made.
    package let creates: Bool
    /// Whether a file that exists is refused.
    package let isExclusive: Bool
    /// Whether the file is to be empty to begin with.
    package let truncates: Bool
    /// Whether everything is written at the end.
    package let appends: Bool
    /// The class of a file that is made; its directory's default, else the standard, if nothing is said.
    package let protectionClass: ProtectionClass?
    /// Whether to wait until nobody else writes.
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
        object.set("name", name.path)
        object.set("access", access?.rawValue)
        if creates { object.set("create", true) }
        if isExclusive { object.set("exclusive", true) }
        if truncates { object.set("truncate", true) }
        if appends { object.set("append", true) }
        object.set("class", protectionClass?.rawValue)
        if waits { object.set("wait", true) }
        return object
    }
}

/// The result of `file.open`, as it travels.
package struct FileOpenResult: WireObject {
    /// The number of the handle: it is the connection's, and ends with it.
    package let handle: Int64
    /// The bytes that the file has.
    package let byteCount: Int64
    /// The class that it has.
    package let protectionClass: ProtectionClass
    /// Whether the file was made.
    package let isNew: Bool

    package init(handle: Int64, byteCount: Int64, protectionClass: ProtectionClass, isNew: Bool) {
        self.handle = handle
        self.byteCount = byteCount
        self.protectionClass = protectionClass
        self.isNew = isNew
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        handle = try reader.handle()
        byteCount = try reader.integer("bytes")
        protectionClass = try reader.required("class", as: ProtectionClass.self)
        isNew = try reader.optionalBool("created") ?? false
    }

    package var json: JSONObject {
        [
            "handle": .integer(handle), "bytes": .integer(byteCount), "class": .string(protectionClass.rawValue),
            "created": .bool(isNew),
        ]
    }
}

/// The parameters of `file.read`, as they travel.
package struct FileReadParameters: WireObject {
    /// The handle.
    package let handle: Int64
    /// Where to begin, in bytes.
    package let offset: Int64
    /// How many bytes; fewer come at the end of the file.
    package let length: Int64

    package init(handle: Int64, offset: Int64, length: Int64) {
        self.handle = handle
        self.offset = offset
        self.length = length
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        handle = try reader.handle()
        offset = try reader.integer("offset", in: 0...Limits.fileBytes)
        length = try reader.integer("length", in: 0...Int64(Limits.framePayloadBytes))
    }

    package var json: JSONObject {
        ["handle": .integer(handle), "offset": .integer(offset), "length": .integer(length)]
    }
}

/// The result of `file.read` and of `file.allocate`, as it travels.
///
/// What was read is the payload.
package struct FileByteCount: WireObject {
    /// How many bytes were read, or how many the file has.
    package let byteCount: Int64

    package init(byteCount: Int64) { self.byteCount = byteCount }

    package init(reading reader: inout ParameterReader) throws(CofferError) { byteCount = try reader.integer("bytes") }

    package var json: JSONObject { ["bytes": .integer(byteCount)] }
}

/// The parameters of `file.write`, as they travel.
///
/// What is written is the payload.
package struct FileWriteParameters: WireObject {
    /// The handle.
    package let handle: Int64
    /// Where to begin, in bytes; at the end if nothing is said.
    package let offset: Int64?

    package init(handle: Int64, offset: Int64? = nil) {
        self.handle = handle
        self.offset = offset
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        handle = try reader.handle()
        offset = try reader.optionalInteger("offset", in: 0...Limits.fileBytes)
    }

    package var json: JSONObject {
        var object: JSONObject = ["handle": .integer(handle)]
        object.set("offset", offset)
        return object
    }
}

/// The result of `file.write`, as it travels.
package struct FileWriteResult: WireObject {
    /// Where it was written, in bytes.
    package let offset: Int64
    /// The bytes that the file has now.
    package let byteCount: Int64

    package init(offset: Int64, byteCount: Int64) {
        self.offset = offset
        self.byteCount = byteCount
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        offset = try reader.integer("offset")
        byteCount = try reader.integer("bytes")
    }

    package var json: JSONObject { ["offset": .integer(offset), "bytes": .integer(byteCount)] }
}

/// The parameters of `file.truncate`, as they travel.
package struct FileTruncateParameters: WireObject {
    /// The handle.
    package let handle: Int64
    /// How many bytes the file is to have: what is added reads as zeros.
    package let byteCount: Int64

    package init(handle: Int64, byteCount: Int64) {
        self.handle = handle
        self.byteCount = byteCount
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        handle = try reader.handle()
        byteCount = try reader.integer("bytes", in: 0...Limits.fileBytes)
    }

    package var json: JSONObject { ["handle": .integer(handle), "bytes": .integer(byteCount)] }
}

/// The parameters of `file.allocate`, as they travel.
package struct FileAllocateParameters: WireObject {
    /// The handle.
    package let handle: Int64
    /// Where the room begins, in bytes.
    package let offset: Int64
    /// How many bytes it is for.
    package let length: Int64

    package init(handle: Int64, offset: Int64, length: Int64) {
        self.handle = handle
        self.offset = offset
        self.length = length
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        handle = try reader.handle()
        offset = try reader.integer("offset", in: 0...Limits.fileBytes)
        length = try reader.integer("length", in: 0...Limits.fileBytes)
    }

    package var json: JSONObject {
        ["handle": .integer(handle), "offset": .integer(offset), "length": .integer(length)]
    }
}

/// The parameters of `file.sync` and `file.close`, as they travel.
package struct FileHandleParameters: WireObject {
    /// The handle.
    package let handle: Int64

    package init(handle: Int64) { self.handle = handle }

    package init(reading reader: inout ParameterReader) throws(CofferError) { handle = try reader.handle() }

    package var json: JSONObject { ["handle": .integer(handle)] }
}

/// The parameters of `file.salvage`, as they travel.
///
/// A descriptor is passed that takes the content.
package struct FileSalvageParameters: WireObject {
    /// The name.
    package let name: ItemName
    /// Whether notifications are wanted while it lasts.
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
        var object: JSONObject = ["name": .string(name.path)]
        if wantsProgress { object.set("progress", true) }
        return object
    }
}

extension DamagedRange: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(offset: try reader.integer("offset"), byteCount: try reader.integer("bytes"))
    }

    package var json: JSONObject { ["offset": .integer(offset), "bytes": .integer(byteCount)] }
}

extension Salvage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            byteCount: try reader.integer("bytes"),
            damagedByteCount: try reader.integer("damagedBytes"),
            damaged: try reader.values("damaged", of: DamagedRange.self),
            mayBeOlder: try reader.optionalBool("mayBeOlder") ?? false
        )
    }

    package var json: JSONObject {
        [
            "bytes": .integer(byteCount), "damagedBytes": .integer(damagedByteCount),
            "damaged": .array(damaged.map { .object($0.json) }), "mayBeOlder": .bool(mayBeOlder),
        ]
    }
}

extension ParameterReader {
    /// Reads the number of a handle: small, and never below zero.
    fileprivate mutating func handle() throws(CofferError) -> Int64 {
        try integer("handle", in: 0...Int64(Int32.max))
    }
}
