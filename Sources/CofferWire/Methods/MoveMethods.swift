package import CofferCore

/// The parameters of `item.move` and of `file.rename`, as they travel.
package struct MoveParameters: WireObject {
    /// The name.
    package let name: ItemName
    /// The name it is to have.
    package let target: ItemName
    /// Whether what is there is replaced.
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
        var object: JSONObject = ["name": .string(name.path), "to": .string(target.path)]
        if replaces { object.set("replace", true) }
        return object
    }
}
