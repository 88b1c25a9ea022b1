package import CofferCore

extension KeyInput {
    /// Adds the attributes that the format of a key records, and refuses a key that contradicts those that are given.
    package borrowing func describe(
        _ attributes: inout [KeychainAttribute: AttributeValue],
        _ user: inout [AttributeName: String]
    ) throws(CofferError) {
        guard let kind else { return }
        let said: [(KeychainAttribute, String)] = [(.keyType, kind.type.rawValue), (.keyClass, kind.keyClass)]
        for (attribute, text) in said {
            guard attributes[attribute] == nil || attributes[attribute] == .text(text) else {
                throw CofferError(
                    .param,
                    "the key has '\(attribute.rawValue)' \(quotedForDisplay(text)), and another one is asked for",
                    hint: "leave '\(attribute.rawValue)' out"
                )
            }
            attributes[attribute] = .text(text)
        }
        guard let comment else { return }
        var marks = [AgentAttribute.format.name: AgentAttribute.format.value, AgentAttribute.comment: comment]
        if kind.isPrivate { marks[AgentAttribute.publicKey] = try sshPublicKey().text }
        for (name, text) in marks where !text.isEmpty { user[name] = user[name] ?? text }
    }
}
