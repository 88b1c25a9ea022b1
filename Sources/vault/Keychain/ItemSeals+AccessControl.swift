internal import CofferCore
internal import CofferCrypto
internal import CofferKeys
internal import CofferMemory

// The access control is checked here, whenever a secret is opened. An application password is also part of the key.

/// How the key of a content depends on an application password.
enum PasswordBinding {
    /// Not at all.
    case none
    /// It is derived from the item's key and the password.
    case required
    /// It is the item's key; a check value for the password is stored beside it.
    case alternative

    init(_ control: AccessControl?) {
        guard let control, control.flags.contains(.applicationPassword) else {
            self = .none
            return
        }
        self = control.isAlternative ? .alternative : .required
    }
}

extension ItemSeals {
    // MARK: Checking

    /// Refuses an operation that the access control does not allow with the presented factors.
    ///
    /// It does not check whether an application password is right.
    func authorize(
        _ item: KeychainItem,
        _ context: AuthenticationContext?,
        for operation: ItemOperation
    ) throws(CofferError) {
        guard let control = item.attributes.accessControl, let need = control.need(after: context?.factors ?? []) else {
            return
        }
        if keys.state == .noPasscode && need != .applicationPassword && need != .passcodeOrApplicationPassword {
            throw CofferError(
                .authFailed,
                "\(item.attributes.quoted) wants the passcode, and the vault has none",
                hint: "'coffer passcode set' gives it one",
                operation: operation
            )
        }
        throw .wantsAuthentication(item.attributes.quoted, need, for: operation)
    }

    /// Refuses the use of a private key that may only be read.
    func checkUsage(_ item: KeychainItem) throws(CofferError) {
        guard let control = item.attributes.accessControl, !control.flags.contains(.privateKeyUsage) else { return }
        throw CofferError(
            .missingEntitlement,
            "\(item.attributes.quoted) may not be used: its access control has no 'privateKeyUsage'",
            hint: "'coffer keychain update --access-control' changes that"
        )
    }

    /// Refuses an access control that could never be met.
    func checkControl(_ attributes: ItemAttributes) throws(CofferError) {
        guard let control = attributes.accessControl else { return }
        if control.factors.contains(.passcode) && keys.state == .noPasscode {
            throw CofferError(
                .authFailed,
                "can't store \(attributes.quoted): its access control wants the passcode, and the vault has none",
                hint: "'coffer passcode set' gives it one",
                operation: .write
            )
        }
        let isPrivateKey = attributes.itemClass == .key && attributes.text(.keyClass) == "private"
        if control.flags.contains(.privateKeyUsage) && !isPrivateKey {
            throw CofferError(.param, "access control: 'privateKeyUsage' is for private keys")
        }
        if isPrivateKey && attributes.values[.isExtractable] == .bool(false)
            && !control.flags.contains(.privateKeyUsage)
        {
            throw CofferError(
                .param,
                "access control: a private key that is not extractable needs 'privateKeyUsage'"
            )
        }
    }

    /// Refuses an access control of a deposit.
    ///
    /// A deposit can be replaced in every state: with one, a client that replaces it would decide who reads it.
    func checkDeposit(_ attributes: ItemAttributes, _ accessibility: Accessibility) throws(CofferError) {
        guard accessibility == .whenUnlockedDeposit, attributes.accessControl != nil else { return }
        throw CofferError(
            .param,
            "can't store \(attributes.quoted) as a deposit: it has an access control, and a deposit has none",
            hint: "choose another accessibility, or leave out the access control"
        )
    }

    // MARK: Application passwords

    /// Seals a content, and appends the check value of a password to the item's wrapped key.
    func sealBound(
        _ content: RawSpan,
        under itemKey: borrowing WrappedItemKey,
        of id: ItemID,
        _ binding: PasswordBinding,
        _ password: StretchedPassword?,
        _ subject: @autoclosure () -> String
    ) throws -> SealedSecret {
        let context = Self.secretContext(id)
        if binding == .none {
            return SealedSecret(
                wrappedKey: itemKey.wrapped,
                secret: AEAD.seal(content, under: itemKey.key, context: context)
            )
        }
        guard let password else { throw CofferError.wantsAuthentication(subject(), .applicationPassword, for: .write) }
        guard binding == .alternative else {
            let key = try Self.key(itemKey.key, bound: password)
            return SealedSecret(
                wrappedKey: itemKey.wrapped,
                secret: AEAD.seal(content, under: key, context: context)
            )
        }
        let kept = KeyWrap.wrap(
            password.key,
            under: try KeyDerivation.subkey(of: itemKey.key, for: "coffer application password check v1"),
            context: id.bytes
        )
        return SealedSecret(
            wrappedKey: itemKey.wrapped + kept,
            secret: AEAD.seal(content, under: itemKey.key, context: context)
        )
    }

    /// Opens a content with the item's key, after the access control is met.
    func unbind(
        _ itemKey: borrowing SymmetricKey,
        _ kept: RawSpan,
        of item: KeychainItem,
        _ context: AuthenticationContext?,
        open: (borrowing SymmetricKey) throws -> SecretBytes
    ) throws -> SecretBytes {
        let password = context?.password
        switch PasswordBinding(item.attributes.accessControl) {
        case .none: return try open(itemKey)
        case .required:
            guard let password else {
                throw CofferError.wantsAuthentication(item.attributes.quoted, .applicationPassword, for: .read)
            }
            do {
                return try open(try Self.key(itemKey, bound: password))
            } catch CryptoError.unauthentic {
                // The tag proves that the sealed bytes are the right ones, so the password is wrong.
                throw CofferError.wrongApplicationPassword(item)
            }
        case .alternative:
            if context?.factors.contains(.passcode) != true {
                guard let password, try Self.keptPassword(itemKey, kept, of: item).bytes.isEqual(to: password.key.bytes)
                else { throw CofferError.wrongApplicationPassword(item) }
            }
            return try open(itemKey)
        }
    }

    private static func key(
        _ itemKey: borrowing SymmetricKey,
        bound password: StretchedPassword
    ) throws(CryptoError) -> SymmetricKey {
        try KeyDerivation.subkey(of: itemKey, for: "coffer application password v1", mixing: password.key)
    }

    static func keptPassword(
        _ itemKey: borrowing SymmetricKey,
        _ kept: RawSpan,
        of item: KeychainItem
    ) throws(CryptoError) -> SymmetricKey {
        let key = try KeyDerivation.subkey(of: itemKey, for: "coffer application password check v1")
        return try KeyWrap.unwrap(kept, under: key, context: item.id.bytes)
    }
}

extension CofferError {
    fileprivate static func wrongApplicationPassword(_ item: KeychainItem) -> CofferError {
        CofferError(.authFailed, "wrong application password for \(item.attributes.quoted)")
    }
}
