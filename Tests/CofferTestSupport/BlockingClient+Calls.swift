package import CofferClient
package import CofferCore
package import CofferMemory
package import CofferWire

// Calls with arguments, for the tests; the programs pass the parameters of the methods.

extension BlockingClient {
    /// Makes a call with unchecked parameters.
    @discardableResult
    package func call<Value: WireObject>(
        _ method: Method,
        _ params: some WireObject,
        payload: borrowing SecretBytes? = nil,
        passing descriptor: Int32? = nil,
        returning: Value.Type = Value.self,
        progress: ((Int64, Int64?) -> Void)? = nil
    ) throws(CofferError) -> Returned<Value> {
        let answer = try exchange(
            method,
            params.json,
            payload: try Secret(copying: payload),
            passing: descriptor,
            progress: reports(progress)
        )
        return Returned(value: try Value(result: answer.json), payload: answer.payload, epoch: answer.epoch)
    }

    /// Passes the progress on as two numbers.
    package func reports(_ body: ((Int64, Int64?) -> Void)?) -> ((TransferProgress) -> Void)? {
        body.map { body in { body($0.done, $0.total) } }
    }
}

extension Secret {
    /// Copies a secret.
    package convenience init(copying bytes: borrowing SecretBytes?) throws(CofferError) {
        switch bytes {
        case .none: self.init(nil)
        case .some(let bytes): try self.init(duplicating: bytes)
        }
    }

    fileprivate convenience init(duplicating bytes: borrowing SecretBytes) throws(CofferError) {
        let copy: SecretBytes
        do { copy = try bytes.duplicate() } catch { throw .noSecretMemory }
        self.init(copy)
    }
}

extension Returned {
    /// A copy of the payload; `nil` if it is empty.
    package func takePayload() -> SecretBytes? {
        guard payload.count > 0 else { return nil }
        return payload.withBytes { try? SecretBytes(copying: $0) }
    }
}

extension Returned<KeychainPage> {
    /// The items.
    package var page: KeychainPage { value }
}

extension MethodCaller {
    package func auditRecords(
        _ query: AuditQuery = AuditQuery(),
        after number: Int64 = 0
    ) throws(CofferError) -> AuditPage {
        try call(AuditListParameters(after: number, query)).value
    }

    package func verifyAudit(after number: Int64 = 0) throws(CofferError) -> AuditVerification {
        try call(AuditVerifyParameters(after: number)).value
    }
}

extension MethodCaller {
    package func authenticate(
        _ factor: AuthenticationFactor,
        _ secret: borrowing SecretBytes?,
        reuseSeconds: Int = 0
    ) throws(CofferError) {
        let params = ContextAuthenticateParameters(factor: factor, reuseSeconds: Int64(reuseSeconds))
        try call(params, payload: secret)
    }

    package func endContext() throws(CofferError) {
        try call(ContextEndParameters())
    }
}

extension MethodCaller {
    package func checkVault(repairs: Bool = false, cursor: String? = nil) throws(CofferError) -> CheckPage {
        let params = VaultCheckParameters(repairs: repairs, cursor: cursor)
        return try call(params).value
    }

    package func quarantine(cursor: String? = nil) throws(CofferError) -> QuarantinePage {
        try call(VaultQuarantineParameters(cursor: cursor)).value
    }

    package func restoreQuarantined(cursor: String? = nil) throws(CofferError) -> QuarantinePage {
        let params = VaultQuarantineParameters(.restore, cursor: cursor)
        return try call(params).value
    }

    package func discardQuarantined(_ entry: QuarantineEntry) throws(CofferError) {
        let params = VaultQuarantineParameters(.discard, store: entry.store, number: entry.number)
        try call(params)
    }

    package func acknowledgeFaults() throws(CofferError) {
        try call(VaultQuarantineParameters(.acknowledge))
    }
}

extension MethodCaller {
    package func entitlements(after count: Int = 0) throws(CofferError) -> EntitlementPage {
        try call(EntitlementListParameters(after: count)).value
    }

    package func explainAccess(
        of subject: AccessSubject = .caller,
        credential: String? = nil
    ) throws(CofferError) -> AccessExplanation {
        let params = EntitlementExplainParameters(subject, credential: credential)
        return try call(params).value
    }
}

extension MethodCaller {
    package func fileInfo(_ name: ItemName) throws(CofferError) -> FileInfo {
        try call(FileStatParameters(name: name)).value
    }

    package func listFiles(
        in name: ItemName? = nil,
        recursive: Bool = false,
        limit: Int? = nil,
        cursor: String? = nil
    ) throws(CofferError) -> FilePage {
        let params = FileListParameters(
            name: name,
            isRecursive: recursive,
            limit: limit.map { Int64($0) },
            cursor: cursor
        )
        return try call(params).value
    }

    @discardableResult
    package func makeDirectory(
        _ name: ItemName,
        class protectionClass: ProtectionClass? = nil,
        parents: Bool = false
    ) throws(CofferError) -> FileInfo {
        let params = FileMkdirParameters(name: name, protectionClass: protectionClass, makesParents: parents)
        return try call(params).value
    }

    @discardableResult
    package func moveFile(
        _ name: ItemName,
        to target: ItemName,
        replace: Bool = false
    ) throws(CofferError) -> FileInfo {
        let params = FileRenameParameters(name: name, target: target, replaces: replace)
        return try call(params).value
    }
}

extension MethodCaller {
    @discardableResult
    package func removeFile(_ name: ItemName, recursive: Bool = false) throws(CofferError) -> Int {
        Int(try call(FileRemoveParameters(name: name, isRecursive: recursive)).value.count)
    }

    @discardableResult
    package func protectFile(
        _ name: ItemName,
        as protectionClass: ProtectionClass,
        _ scope: FileProtectionScope = .file
    ) throws(CofferError) -> FileProtectionChange {
        try call(FileProtectParameters(name, protectionClass, scope)).value
    }
}

extension BlockingClient {
    @discardableResult
    package func removeFile(
        _ name: ItemName,
        recursive: Bool = false,
        progress: @escaping (Int64, Int64?) -> Void
    ) throws(CofferError) -> Int {
        let params = FileRemoveParameters(name: name, isRecursive: recursive, wantsProgress: true)
        return Int(try call(params, progress: reports(progress)).value.count)
    }

    @discardableResult
    package func protectFile(
        _ name: ItemName,
        as protectionClass: ProtectionClass,
        _ scope: FileProtectionScope = .file,
        progress: @escaping (Int64, Int64?) -> Void
    ) throws(CofferError) -> FileProtectionChange {
        let params = FileProtectParameters(name, protectionClass, scope, wantsProgress: true)
        return try call(params, progress: reports(progress)).value
    }
}

extension BlockingClient {
    package func changePasscode(
        with secret: borrowing SecretBytes,
        as credential: Credential = .passcode,
        to passcode: borrowing SecretBytes,
        kdf: PasscodeCost? = nil,
        erasesData: Bool? = nil
    ) throws(CofferError) -> VaultStatus {
        let params = PasscodeChangeParameters(credential: credential, kdf: kdf, erasesData: erasesData)
        let payload = try Secret(given: Secret(duplicating: secret), new: Secret(duplicating: passcode))
        return try call(params, payload: payload).value
    }
}

extension BlockingClient {
    package func salvage(
        _ name: ItemName,
        into descriptor: Int32,
        progress: ((Int64, Int64?) -> Void)? = nil
    ) throws(CofferError) -> Salvage {
        let params = FileSalvageParameters(name: name, wantsProgress: progress != nil)
        return try call(params, passing: descriptor, progress: reports(progress)).value
    }
}

extension MethodCaller {
    package func protect(_ name: ItemName, as protection: Protection) throws(CofferError) -> ProtectionChange {
        let params = ItemProtectParameters(name: name, protection: protection)
        return try call(params).value
    }

    package func explain(
        _ params: ItemExplainParameters,
        sample: borrowing SecretBytes? = nil
    ) throws(CofferError) -> Explanation {
        try call(params, payload: sample).value
    }
}

extension MethodCaller {
    package func findKeychainItems(
        _ params: KeychainFindParameters
    ) throws(CofferError) -> Returned<KeychainPage> {
        let found = try call(params)
        _ = try found.secrets()
        return found
    }

    package func keychainItems(
        _ query: KeychainQuery,
        limit: KeychainLimit = .all,
        order: KeychainOrder? = nil,
        cursor: String? = nil
    ) throws(CofferError) -> KeychainPage {
        let params = KeychainFindParameters(query, limit: limit, cursor: cursor, order: order, returns: [.attributes])
        return try call(params).value
    }

    package func addKeychainItem(
        _ params: KeychainAddParameters,
        secret: borrowing SecretBytes?
    ) throws(CofferError) -> Returned<KeychainAddResult> {
        try call(params, payload: secret)
    }

    package func makeKeychainKey(
        _ type: KeyType,
        _ attributes: [KeychainAttribute: AttributeValue] = [:],
        user: [AttributeName: String] = [:],
        accessibility: Accessibility? = nil
    ) throws(CofferError) -> ItemID {
        let params = KeychainAddParameters(
            .key,
            attributes,
            user: user,
            accessibility: accessibility,
            generates: type
        )
        return try addKeychainItem(params, secret: nil).value.reference
    }

    package func updateKeychainItems(
        _ query: KeychainQuery,
        _ change: KeychainChange
    ) throws(CofferError) -> Int { Int(try updateKeychainItems(query, change, secret: nil).count) }
    package func updateKeychainItems(
        _ query: KeychainQuery,
        _ change: KeychainChange,
        secret: borrowing SecretBytes?
    ) throws(CofferError) -> KeychainUpdateResult {
        let params = KeychainUpdateParameters(query, change, isForAll: !query.hasCondition)
        return try call(params, payload: secret).value
    }

    package func deleteKeychainItems(_ query: KeychainQuery) throws(CofferError) -> Int {
        Int(try call(KeychainDeleteParameters(query, isForAll: !query.hasCondition)).value.count)
    }

    package func sign(_ message: [UInt8], with query: KeychainQuery) throws(CofferError) -> [UInt8] {
        let payload: SecretBytes?
        do { payload = try SecretBytes(copying: message.span.bytes) } catch { throw .noSecretMemory }
        return try sign(payload, with: query)
    }

    package func sign(
        _ message: borrowing SecretBytes?,
        with query: KeychainQuery,
        _ digest: SignatureDigest? = nil
    ) throws(CofferError) -> [UInt8] {
        let returned = try call(KeychainSignParameters(query, digest: digest), payload: message)
        return try returned.payload.ofSignatureSize().exposeBytes()
    }

    package func agree(with peer: [UInt8], by query: KeychainQuery) throws(CofferError) -> Secret {
        let params = KeychainAgreeParameters(query, peer: peer)
        let returned = try call(params)
        return try returned.payload.ofSize(32, "shared secret")
    }

    package func publicKey(of query: KeychainQuery) throws(CofferError) -> KeychainPublicKey {
        try call(KeychainPublicKeyParameters(query)).value
    }

    package func keychainHistory(of query: KeychainQuery) throws(CofferError) -> [KeychainFormerValue] {
        try call(KeychainHistoryParameters(query)).value.values
    }

    package func formerValue(_ number: Int, of query: KeychainQuery) throws(CofferError) -> SecretBytes? {
        let params = KeychainHistoryParameters(query, number: Int64(number), returns: [.data])
        return try call(params).takePayload()
    }

    package func restoreFormerValue(_ number: Int, of query: KeychainQuery) throws(CofferError) {
        let params = KeychainRestoreParameters(query, number: Int64(number))
        try call(params)
    }
}

extension MethodCaller {
    package func setPasscode(
        _ passcode: borrowing SecretBytes?,
        kdf: PasscodeCost? = nil,
        erasesData: Bool? = nil
    ) throws(CofferError) -> VaultStatus {
        let params = PasscodeSetParameters(kdf: kdf, erasesData: erasesData)
        return try call(params, payload: passcode).value
    }

    package func removePasscode(
        with secret: borrowing SecretBytes?,
        as credential: Credential = .passcode,
        destroying destroyedCount: Int
    ) throws(CofferError) -> VaultStatus {
        let params = PasscodeRemoveParameters(credential: credential, destroyedCount: Int64(destroyedCount))
        return try call(params, payload: secret).value
    }

    package func keyslots() throws(CofferError) -> [KeyslotInfo] {
        try call(SlotListParameters()).value.slots
    }

    package func addKeyslot(
        with secret: borrowing SecretBytes?,
        as credential: Credential = .passcode
    ) throws(CofferError) -> Returned<SlotResult> {
        let params = SlotAddParameters(credential: secret == nil ? nil : credential)
        return try call(params, payload: secret)
    }

    package func removeKeyslot(
        _ number: Int,
        with secret: borrowing SecretBytes?,
        as credential: Credential = .passcode
    ) throws(CofferError) {
        let params = SlotRemoveParameters(number: Int64(number), credential: secret == nil ? nil : credential)
        try call(params, payload: secret)
    }

    package func testKeyslot(
        with secret: borrowing SecretBytes?,
        as credential: Credential = .recoveryKey
    ) throws(CofferError) -> Int {
        let params = SlotTestParameters(credential: credential)
        return Int(try call(params, payload: secret).value.number)
    }
}

extension MethodCaller {
    @discardableResult
    package func grant(
        _ name: ItemName,
        to client: ClientPattern,
        seconds: Int,
        uses: Int? = nil,
        reason: String? = nil
    ) throws(CofferError) -> Int64 {
        let params = AccessAllowParameters(
            client: client,
            verbs: [.read],
            name: name,
            seconds: Int64(seconds),
            uses: uses.map(Int64.init),
            reason: reason
        )
        return try call(params).value.number
    }
}

extension MethodCaller {
    package func initialize(
        passcode: borrowing SecretBytes?,
        kdf: PasscodeCost?,
        hasNoRecoveryKey: Bool = false,
        erasesData: Bool = false
    ) throws(CofferError) -> Returned<VaultStatus> {
        let params = VaultInitParameters(
            kdf: kdf,
            hasNoPasscode: passcode == nil,
            hasNoRecoveryKey: hasNoRecoveryKey,
            erasesData: erasesData
        )
        return try call(params, payload: passcode)
    }

    package func unlock(passcode: borrowing SecretBytes?) throws(CofferError) -> VaultStatus {
        try unlock(with: passcode)
    }

    package func unlock(recoveryKey: borrowing SecretBytes?) throws(CofferError) -> VaultStatus {
        try unlock(with: recoveryKey, as: .recoveryKey)
    }

    package func erase(vaultID: ItemID) throws(CofferError) {
        try call(VaultEraseParameters(vaultID: vaultID))
    }

    package func eraseWhateverIsThere() throws(CofferError) {
        try call(VaultEraseParameters(isWhatever: true))
    }
}
