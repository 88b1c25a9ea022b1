package import CofferCore
package import CofferFiles
internal import CofferKeychain

// What an item has beside its content is an extended attribute where the item is a file: `user.NAME` for an attribute that
// its owner defined, `user.coffer.NAME` for one of SecItem.

extension KeychainChange {
    /// The attributes of an item as those of a file.
    ///
    /// - Throws: `param` for an attribute that would have the name of another one.
    package func extendedAttributes() throws(CofferError) -> ExtendedAttributes {
        var all = ExtendedAttributes()
        for (attribute, value) in attributes where !KeychainAttribute.ofIdentity.contains(attribute) {
            all[ExtendedAttributes.name(of: attribute)] = value.extendedValue
        }
        for (name, value) in user {
            let extended = ExtendedAttributes.userPrefix + name.text
            guard !extended.utf8.starts(with: ExtendedAttributes.itemPrefix.utf8) else {
                throw CofferError(
                    .param,
                    "a file can't have the attribute \(quotedForDisplay(name.text)): what begins with 'coffer.' is a name that "
                        + "Coffer gives",
                    hint: "choose another name for it"
                )
            }
            all[extended] = Array(value.utf8)
        }
        return all
    }

    /// The attributes of a file as those of an item.
    ///
    /// - Parameter subject: The file, for errors.
    /// - Throws: `param` if an attribute is no text, which an item can't have.
    package init(_ extended: ExtendedAttributes, of subject: String) throws(CofferError) {
        self.init()
        for attribute in extended.all {
            if let (known, value) = attribute.ofItem {
                attributes[known] = value
            } else if let (name, value) = attribute.ofOwner {
                user[name] = value
            } else {
                throw CofferError(
                    .param,
                    "\(subject) has the attribute \(quotedForDisplay(attribute.name)), which is no text, and an item of the "
                        + "keychain can't have it",
                    hint: "remove it first with 'coffer file attribute remove'"
                )
            }
        }
    }
}

extension ExtendedAttributes {
    fileprivate static let userPrefix = "user."
    fileprivate static let itemPrefix = "user.coffer."

    fileprivate static func name(of attribute: KeychainAttribute) -> String { itemPrefix + attribute.rawValue }

    /// The attributes of SecItem.
    package var ofItem: [KeychainAttribute: AttributeValue] {
        Dictionary(all.compactMap(\.ofItem)) { first, _ in first }
    }

    /// The attributes that the owner defined, as far as they are texts: the first ones, in the order of their names.
    package func ofOwner(atMost count: Int = .max) -> [AttributeName: String] {
        Dictionary(all.lazy.compactMap(\.ofOwner).prefix(count)) { first, _ in first }
    }

    /// Whether listings leave the file out, as they do an item of the keychain.
    package var isInvisible: Bool {
        if all.isEmpty { return false }
        let attribute = KeychainAttribute.isInvisible
        return ofItem[attribute] == .bool(true) || ofOwner()[AttributeName(attribute.rawValue)] == "true"
    }

    /// The values that are texts.
    package var texts: [String] {
        if all.isEmpty { return [] }
        return ofItem.values.compactMap { if case .text(let text) = $0 { text } else { nil } } + ofOwner().values
    }

    /// The expiry date, in milliseconds since 1970.
    package var expiryDate: Int64? {
        let bytes = all.isEmpty ? nil : self[Self.name(of: .expiryDate)]
        guard let bytes, case .date(let date)? = AttributeValue(.date, extended: bytes) else { return nil }
        return date
    }
}

extension ExtendedAttributes.Attribute {
    fileprivate var ofItem: (KeychainAttribute, AttributeValue)? {
        guard let attribute = rest(after: ExtendedAttributes.itemPrefix).flatMap(KeychainAttribute.init),
            KeychainAttribute.attributes(of: .genericPassword).contains(attribute),
            !KeychainAttribute.ofIdentity.contains(attribute)
        else { return nil }
        return AttributeValue(attribute.form, extended: value).map { (attribute, $0) }
    }

    fileprivate var ofOwner: (AttributeName, String)? {
        guard ofItem == nil, let own = rest(after: ExtendedAttributes.userPrefix),
            let text = String(checking: value.span)
        else { return nil }
        return (AttributeName(own), text)
    }

    private func rest(after prefix: String) -> String? {
        name.utf8.starts(with: prefix.utf8) ? String(Substring(name.utf8.dropFirst(prefix.utf8.count))) : nil
    }
}

extension AttributeValue {
    /// The value as an extended attribute has it: a text, a number in decimal digits, `1` or `0`, or the bytes.
    fileprivate var extendedValue: [UInt8] {
        switch self {
        case .text(let text): Array(text.utf8)
        case .bytes(let bytes): bytes
        case .bool(let flag): Array((flag ? "1" : "0").utf8)
        case .integer(let number), .date(let number): Array(String(number).utf8)
        }
    }

    fileprivate init?(_ form: Form, extended bytes: [UInt8]) {
        if form == .bytes {
            self = .bytes(bytes)
            return
        }
        guard let text = String(checking: bytes.span) else { return nil }
        switch form {
        case .text: self = .text(text)
        case .bytes: self = .bytes(bytes)
        case .bool:
            guard text == "1" || text == "0" else { return nil }
            self = .bool(text == "1")
        case .integer, .date:
            guard let number = Int64(text) else { return nil }
            self = form == .date ? .date(number) : .integer(number)
        }
    }
}

extension Catalog {
    /// Notes when a file with these attributes expires, for clients that are notified of it.
    package func noteExpiry(of attributes: ExtendedAttributes) {
        if let date = attributes.expiryDate { keychain.noteExpiry(date) }
    }
}

extension FileItem {
    /// The expiry date, in milliseconds since 1970.
    package var expiryDate: Int64? { metadata.extended.expiryDate }
}
