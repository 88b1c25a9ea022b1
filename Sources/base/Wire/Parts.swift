package import CofferCore

// Values that are a part of the members of an object: `x-swift.parts` of proto-docs/openrpc.json names them.

extension Protection: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        switch try reader.required("store", as: StoreName.self) {
        case .keychain: self = .keychain(try reader.required("accessible", as: Accessibility.self))
        case .file: self = .file(try reader.required("protection", as: ProtectionClass.self))
        }
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("store", store)
        switch self {
        case .keychain(let accessibility): object.append("accessible", accessibility)
        case .file(let protectionClass): object.append("protection", protectionClass.rawValue)
        }
        return object
    }
}

extension AccessSubject: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let process = try reader.optionalInteger("pid", in: 1...Int64(Int32.max))
        let unit = try reader.optionalString("unit")
        let userUnit = try reader.optionalString("userUnit")
        switch (process, unit, userUnit) {
        case (nil, nil, nil): self = .caller
        case (let process?, nil, nil): self = .process(Int32(process))
        case (nil, let unit?, nil): self = .unit(unit)
        case (nil, nil, let userUnit?): self = .userUnit(userUnit)
        default: throw CofferError(.param, "parameters 'pid', 'unit' and 'userUnit': expected one of them at most")
        }
    }

    package var json: JSONObject {
        switch self {
        case .caller: [:]
        case .process(let number): ["pid": .integer(Int64(number))]
        case .unit(let name): ["unit": .string(name)]
        case .userUnit(let name): ["userUnit": .string(name)]
        }
    }
}

extension EventSelection: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self = []
        if try reader.optionalBool("items") ?? false { insert(.items) }
        if try reader.optionalBool("attempts") ?? false { insert(.attempts) }
        if try reader.optionalBool("audit") ?? false { insert(.audit) }
    }

    package var json: JSONObject {
        var object = JSONObject()
        if contains(.items) { object.append("items", true) }
        if contains(.attempts) { object.append("attempts", true) }
        if contains(.audit) { object.append("audit", true) }
        return object
    }
}
