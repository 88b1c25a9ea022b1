package import CofferCore

/// The parameters of `item.protect`, as they travel.
///
/// One of the two protections has to be there: either kind is taken for either store.
package struct ProtectParameters: WireObject {
    /// The name.
    package let name: ItemName
    /// The class it is to have, as a file.
    package let protectionClass: ProtectionClass?
    /// The accessibility it is to have, in the keychain.
    package let accessibility: Accessibility?

    package init(name: ItemName, protection: Protection) {
        self.name = name
        switch protection {
        case .file(let protectionClass): (self.protectionClass, accessibility) = (protectionClass, nil)
        case .keychain(let accessibility): (protectionClass, self.accessibility) = (nil, accessibility)
        }
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        protectionClass = try reader.value("class", as: ProtectionClass.self)
        accessibility = try reader.value("accessible", as: Accessibility.self)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("name", name.path)
        object.set("class", protectionClass?.rawValue)
        object.set("accessible", accessibility?.rawValue)
        return object
    }
}

extension ProtectionChange: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(item: try ItemInfo(reading: &reader), warnings: try reader.strings("warnings"))
    }

    package var json: JSONObject {
        var object = item.json
        object.set("warnings", .array(warnings.map { .string($0) }))
        return object
    }
}
