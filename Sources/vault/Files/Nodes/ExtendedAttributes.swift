internal import CofferCore

/// The extended attributes of a node: values by their names, sorted by the names' bytes.
package struct ExtendedAttributes: Equatable, Sendable {
    /// An attribute.
    package struct Attribute: Equatable, Sendable {
        package let name: String
        package var value: [UInt8]
    }

    /// The attributes, in the order of their names.
    package private(set) var all: [Attribute] = []

    package init() {}

    /// The bytes of all names and values.
    package var byteCount: Int { all.reduce(0) { $0 + $1.name.utf8.count + $1.value.count } }

    /// The value of an attribute; `nil` if there is none of that name.
    package subscript(name: String) -> [UInt8]? {
        get { index(of: name).map { all[$0].value } }
        set {
            switch (index(of: name), newValue) {
            case (let index?, let value?): all[index].value = value
            case (let index?, nil): all.remove(at: index)
            case (nil, let value?):
                let place = all.firstIndex { name.utf8.lexicographicallyPrecedes($0.name.utf8) } ?? all.endIndex
                all.insert(Attribute(name: name, value: value), at: place)
            case (nil, nil): break
            }
        }
    }

    private func index(of name: String) -> Int? { all.firstIndex { $0.name.utf8.elementsEqual(name.utf8) } }

    /// Refuses more attributes than a node may have, and longer names.
    func check(of subject: String) throws(CofferError) {
        if let long = all.first(where: { $0.name.utf8.count > Limits.extendedAttributeNameBytes }) {
            throw CofferError(
                .dataTooLarge,
                "\(subject) can't have the extended attribute \(quotedForDisplay(long.name)): a name has at most"
                    + " \(Limits.extendedAttributeNameBytes) bytes",
                hint: "choose a shorter name for it",
                operation: .write,
                reason: .nameTooLong
            )
        }
        if all.count <= Limits.extendedAttributes && byteCount <= Limits.extendedAttributesBytes { return }
        throw CofferError(
            .dataTooLarge,
            "\(subject) would have more than \(Limits.extendedAttributes) extended attributes, or more than"
                + " \(Limits.extendedAttributesBytes) bytes of them",
            hint: "remove some",
            operation: .write,
            reason: .attributesFull
        )
    }

    // MARK: On disk

    func write(to writer: inout ByteWriter) {
        writer.write(UInt16(all.count))
        for attribute in all {
            writer.write(counted: attribute.name.utf8)
            writer.write(UInt32(attribute.value.count))
            writer.write(raw: attribute.value)
        }
    }

    init(from reader: inout ByteReader) throws(ByteReader.Malformed) {
        let count = try reader.read(UInt16.self)
        for _ in 0..<count {
            let name = try reader.readText()
            let value = Array(try reader.readRaw(Int(try reader.read(UInt32.self))))
            if let last = all.last, !last.name.utf8.lexicographicallyPrecedes(name.utf8) {
                throw ByteReader.Malformed()
            }
            all.append(Attribute(name: name, value: value))
        }
    }
}
