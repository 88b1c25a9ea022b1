package import CofferCore

/// The parameters of `item.explain`, as they travel.
///
/// They name an item that is stored, or facts about one that is not. The first bytes of its content may be the payload.
package struct ExplainParameters: WireObject {
    /// The name: if an item is stored there, its protection counts.
    package let name: ItemName?
    /// The bytes of the content.
    package let byteCount: Int64?
    /// What the caller says about it.
    package let wishes: ItemWishes
    /// The state of the vault that is asked about; the present one if none is named.
    package let state: VaultState?
    /// The client that is asked about; the caller if none is named.
    package let client: ClientPattern?

    package init(
        name: ItemName?,
        byteCount: Int64?,
        wishes: ItemWishes,
        state: VaultState? = nil,
        client: ClientPattern? = nil
    ) {
        self.name = name
        self.byteCount = byteCount
        self.wishes = wishes
        self.state = state
        self.client = client
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.optionalString("name").map { (path) throws(CofferError) in try ItemName(path) }
        byteCount = try reader.optionalInteger("size", in: 0...Limits.fileBytes)
        state = try reader.value("state", as: VaultState.self)
        client = try reader.optionalString("as").map { (text) throws(CofferError) in try ClientPattern(text) }
        wishes = try ItemWishes(reading: &reader)
    }

    package var json: JSONObject {
        var object = wishes.json
        object.set("name", name?.path)
        object.set("size", byteCount)
        object.set("state", state?.rawValue)
        object.set("as", client?.description)
        return object
    }
}

extension Explanation: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let access = try reader.optionalObject("access") ?? [:]
        self.init(
            placement: try Placement(reading: &reader),
            stored: try reader.value("stored", of: ItemInfo.self),
            access: try ItemAccess(result: .object(access))
        )
    }

    package var json: JSONObject {
        var object = placement.json
        if let stored { object.set("stored", .object(stored.json)) }
        object.set("access", .object(access.json))
        return object
    }
}

extension ItemAccess: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            state: try reader.required("state", as: VaultState.self),
            read: try reader.optionalString("read").map { Answer(text: $0) },
            write: Answer(text: try reader.string("write")),
            remove: try reader.optionalString("remove").map { Answer(text: $0) },
            readable: try reader.string("readable")
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("state", state.rawValue)
        object.set("read", read?.text)
        object.set("write", write.text)
        object.set("remove", remove?.text)
        object.set("readable", readable)
        return object
    }
}
