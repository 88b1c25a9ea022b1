internal import CofferCore

// Which paths an item can get.

extension ItemName {
    /// Refuses a name that means an item by its class: under it as a path, an item would hide that one.
    ///
    /// A file of the tree may have such a name.
    ///
    /// - Throws: `param`.
    func checkIsPath() throws(CofferError) {
        guard let meaning = QualifiedName(self) else { return }
        throw CofferError(
            .param,
            "no item gets the path \(quoted): this is the name of \(meaning.kindInWords)",
            hint: "choose a name that does not begin so, or make the item with 'coffer keychain add'"
        )
    }
}

extension QualifiedName {
    /// What it names, with an article.
    fileprivate var kindInWords: String {
        switch self {
        case .login: "a login at a server"
        case .labelled(.certificate, _): "a certificate"
        case .labelled(.key, _): "a key"
        case .labelled: "a password with a label"
        case .reference: "the item with this reference"
        }
    }
}
