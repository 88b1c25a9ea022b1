package import CofferCore

/// The parameters of one method: they name the method and what it answers.
package protocol MethodParameters: WireObject {
    /// What the method answers.
    associatedtype Result: WireObject
    /// The method.
    static var method: Method { get }
}

package typealias Empty = Nothing
package typealias CountResult = KeychainCount
package typealias ItemGetResult = GetResult
package typealias LeaseGrantResult = LeaseNumber

extension HelloParameters: MethodParameters {
    package typealias Result = HelloResult
    package static let method = Method.hello
}

extension AuditListParameters: MethodParameters {
    package typealias Result = AuditPage
    package static let method = Method.auditList
}

extension AuditVerifyParameters: MethodParameters {
    package typealias Result = AuditVerification
    package static let method = Method.auditVerify
}

package typealias ContextAuthenticateParameters = ContextParameters

extension ContextParameters: MethodParameters {
    package typealias Result = Empty
    package static let method = Method.contextAuthenticate
}

package struct ContextEndParameters: MethodParameters {
    package typealias Result = Empty
    package static let method = Method.contextEnd
    private let shared: Nothing

    package init() { shared = Nothing() }
    package init(reading reader: inout ParameterReader) throws(CofferError) { shared = Nothing(reading: &reader) }
    package var json: JSONObject { shared.json }
}

extension EntitlementExplainParameters: MethodParameters {
    package typealias Result = AccessExplanation
    package static let method = Method.entitlementExplain
}

extension EntitlementListParameters: MethodParameters {
    package typealias Result = EntitlementPage
    package static let method = Method.entitlementList
}

package typealias VaultCheckParameters = CheckParameters

extension CheckParameters: MethodParameters {
    package typealias Result = CheckPage
    package static let method = Method.vaultCheck
}

package typealias VaultEraseParameters = EraseParameters

extension EraseParameters: MethodParameters {
    package typealias Result = Empty
    package static let method = Method.vaultErase
}

package typealias VaultInitParameters = InitParameters

extension InitParameters: MethodParameters {
    package typealias Result = VaultStatus
    package static let method = Method.vaultInit
}

package typealias VaultLockParameters = LockParameters

extension LockParameters: MethodParameters {
    package typealias Result = VaultStatus
    package static let method = Method.vaultLock
}

package typealias VaultQuarantineParameters = QuarantineParameters

extension QuarantineParameters: MethodParameters {
    package typealias Result = QuarantinePage
    package static let method = Method.vaultQuarantine
}

package struct VaultStatusParameters: MethodParameters {
    package typealias Result = VaultStatus
    package static let method = Method.vaultStatus
    private let shared: Nothing

    package init() { shared = Nothing() }
    package init(reading reader: inout ParameterReader) throws(CofferError) { shared = Nothing(reading: &reader) }
    package var json: JSONObject { shared.json }
}

package struct VaultUnlockParameters: MethodParameters {
    package typealias Result = VaultStatus
    package static let method = Method.vaultUnlock
    private let shared: CredentialParameters
    package var credential: Credential? { shared.credential }

    package init(credential: Credential? = nil) { shared = CredentialParameters(credential: credential) }
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        shared = try CredentialParameters(reading: &reader)
    }
    package var json: JSONObject { shared.json }
}

package typealias VaultWatchParameters = WatchParameters

extension WatchParameters: MethodParameters {
    package typealias Result = Empty
    package static let method = Method.vaultWatch
}

extension PasscodeChangeParameters: MethodParameters {
    package typealias Result = VaultStatus
    package static let method = Method.passcodeChange
}

extension PasscodeRemoveParameters: MethodParameters {
    package typealias Result = VaultStatus
    package static let method = Method.passcodeRemove
}

extension PasscodeSetParameters: MethodParameters {
    package typealias Result = VaultStatus
    package static let method = Method.passcodeSet
}

package typealias RequestCancelParameters = CancelParameters

extension CancelParameters: MethodParameters {
    package typealias Result = Empty
    package static let method = Method.requestCancel
}

package struct SlotAddParameters: MethodParameters {
    package typealias Result = SlotResult
    package static let method = Method.slotAdd
    private let shared: CredentialParameters
    package var credential: Credential? { shared.credential }

    package init(credential: Credential? = nil) { shared = CredentialParameters(credential: credential) }
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        shared = try CredentialParameters(reading: &reader)
    }
    package var json: JSONObject { shared.json }
}

package struct SlotListParameters: MethodParameters {
    package typealias Result = SlotList
    package static let method = Method.slotList
    private let shared: Nothing

    package init() { shared = Nothing() }
    package init(reading reader: inout ParameterReader) throws(CofferError) { shared = Nothing(reading: &reader) }
    package var json: JSONObject { shared.json }
}

extension SlotRemoveParameters: MethodParameters {
    package typealias Result = Empty
    package static let method = Method.slotRemove
}

package struct SlotTestParameters: MethodParameters {
    package typealias Result = SlotResult
    package static let method = Method.slotTest
    private let shared: CredentialParameters
    package var credential: Credential? { shared.credential }

    package init(credential: Credential? = nil) { shared = CredentialParameters(credential: credential) }
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        shared = try CredentialParameters(reading: &reader)
    }
    package var json: JSONObject { shared.json }
}

extension FileAllocateParameters: MethodParameters {
    package typealias Result = FileByteCount
    package static let method = Method.fileAllocate
}

package struct FileCloseParameters: MethodParameters {
    package typealias Result = Empty
    package static let method = Method.fileClose
    private let shared: FileHandleParameters
    package var handle: Int64 { shared.handle }

    package init(handle: Int64) { shared = FileHandleParameters(handle: handle) }
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        shared = try FileHandleParameters(reading: &reader)
    }
    package var json: JSONObject { shared.json }
}

extension FileListParameters: MethodParameters {
    package typealias Result = FilePage
    package static let method = Method.fileList
}

package typealias FileMkdirParameters = FileMakeDirectoryParameters

extension FileMakeDirectoryParameters: MethodParameters {
    package typealias Result = FileInfo
    package static let method = Method.fileMkdir
}

extension FileOpenParameters: MethodParameters {
    package typealias Result = FileOpenResult
    package static let method = Method.fileOpen
}

extension FileProtectParameters: MethodParameters {
    package typealias Result = FileProtectionChange
    package static let method = Method.fileProtect
}

extension FileReadParameters: MethodParameters {
    package typealias Result = FileByteCount
    package static let method = Method.fileRead
}

extension FileRemoveParameters: MethodParameters {
    package typealias Result = CountResult
    package static let method = Method.fileRemove
}

package struct FileRenameParameters: MethodParameters {
    package typealias Result = FileInfo
    package static let method = Method.fileRename
    private let shared: MoveParameters
    package var name: ItemName { shared.name }
    package var target: ItemName { shared.target }
    package var replaces: Bool { shared.replaces }

    package init(name: ItemName, target: ItemName, replaces: Bool = false) {
        shared = MoveParameters(name: name, target: target, replaces: replaces)
    }
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        shared = try MoveParameters(reading: &reader)
    }
    package var json: JSONObject { shared.json }
}

extension FileSalvageParameters: MethodParameters {
    package typealias Result = Salvage
    package static let method = Method.fileSalvage
}

extension FileStatParameters: MethodParameters {
    package typealias Result = FileInfo
    package static let method = Method.fileStat
}

package struct FileSyncParameters: MethodParameters {
    package typealias Result = Empty
    package static let method = Method.fileSync
    private let shared: FileHandleParameters
    package var handle: Int64 { shared.handle }

    package init(handle: Int64) { shared = FileHandleParameters(handle: handle) }
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        shared = try FileHandleParameters(reading: &reader)
    }
    package var json: JSONObject { shared.json }
}

extension FileTruncateParameters: MethodParameters {
    package typealias Result = Empty
    package static let method = Method.fileTruncate
}

extension FileWriteParameters: MethodParameters {
    package typealias Result = FileWriteResult
    package static let method = Method.fileWrite
}

package typealias ItemExplainParameters = ExplainParameters

extension ExplainParameters: MethodParameters {
    package typealias Result = Explanation
    package static let method = Method.itemExplain
}

package typealias ItemGetParameters = GetParameters

extension GetParameters: MethodParameters {
    package typealias Result = ItemGetResult
    package static let method = Method.itemGet
}

package typealias ItemListParameters = ListParameters

extension ListParameters: MethodParameters {
    package typealias Result = ItemPage
    package static let method = Method.itemList
}

package struct ItemMoveParameters: MethodParameters {
    package typealias Result = ItemInfo
    package static let method = Method.itemMove
    private let shared: MoveParameters
    package var name: ItemName { shared.name }
    package var target: ItemName { shared.target }
    package var replaces: Bool { shared.replaces }

    package init(name: ItemName, target: ItemName, replaces: Bool = false) {
        shared = MoveParameters(name: name, target: target, replaces: replaces)
    }
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        shared = try MoveParameters(reading: &reader)
    }
    package var json: JSONObject { shared.json }
}

package typealias ItemProtectParameters = ProtectParameters

extension ProtectParameters: MethodParameters {
    package typealias Result = ProtectionChange
    package static let method = Method.itemProtect
}

package typealias ItemPutParameters = PutParameters

extension PutParameters: MethodParameters {
    package typealias Result = Placement
    package static let method = Method.itemPut
}

package struct ItemRemoveParameters: MethodParameters {
    package typealias Result = Empty
    package static let method = Method.itemRemove
    private let shared: NameParameters
    package var name: ItemName { shared.name }

    package init(name: ItemName) { shared = NameParameters(name: name) }
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        shared = try NameParameters(reading: &reader)
    }
    package var json: JSONObject { shared.json }
}

package struct ItemShowParameters: MethodParameters {
    package typealias Result = ItemInfo
    package static let method = Method.itemShow
    private let shared: NameParameters
    package var name: ItemName { shared.name }

    package init(name: ItemName) { shared = NameParameters(name: name) }
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        shared = try NameParameters(reading: &reader)
    }
    package var json: JSONObject { shared.json }
}

extension KeychainAddParameters: MethodParameters {
    package typealias Result = KeychainAddResult
    package static let method = Method.keychainAdd
}

extension KeychainAgreeParameters: MethodParameters {
    package typealias Result = Empty
    package static let method = Method.keychainAgree
}

package struct KeychainDeleteParameters: MethodParameters {
    package typealias Result = CountResult
    package static let method = Method.keychainDelete
    private let shared: KeychainQuery
    package var query: KeychainQuery { shared }

    package init(_ query: KeychainQuery) { self.shared = query }
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        shared = try KeychainQuery(reading: &reader)
    }
    package var json: JSONObject { shared.json }
}

extension KeychainFindParameters: MethodParameters {
    package typealias Result = KeychainPage
    package static let method = Method.keychainFind
}

extension KeychainHistoryParameters: MethodParameters {
    package typealias Result = KeychainHistory
    package static let method = Method.keychainHistory
}

package struct KeychainPublicKeyParameters: MethodParameters {
    package typealias Result = KeychainPublicKey
    package static let method = Method.keychainPublicKey
    private let shared: KeychainQuery
    package var query: KeychainQuery { shared }

    package init(_ query: KeychainQuery) { self.shared = query }
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        shared = try KeychainQuery(reading: &reader)
    }
    package var json: JSONObject { shared.json }
}

extension KeychainRestoreParameters: MethodParameters {
    package typealias Result = Empty
    package static let method = Method.keychainRestore
}

package struct KeychainSignParameters: MethodParameters {
    package typealias Result = Empty
    package static let method = Method.keychainSign
    private let shared: KeychainQuery
    package var query: KeychainQuery { shared }

    package init(_ query: KeychainQuery) { self.shared = query }
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        shared = try KeychainQuery(reading: &reader)
    }
    package var json: JSONObject { shared.json }
}

extension KeychainUpdateParameters: MethodParameters {
    package typealias Result = KeychainUpdateResult
    package static let method = Method.keychainUpdate
}

extension LeaseGrantParameters: MethodParameters {
    package typealias Result = LeaseGrantResult
    package static let method = Method.leaseGrant
}

extension LeaseListParameters: MethodParameters {
    package typealias Result = LeasePage
    package static let method = Method.leaseList
}

package struct LeaseRevokeParameters: MethodParameters {
    package typealias Result = Empty
    package static let method = Method.leaseRevoke
    private let shared: LeaseNumber
    package var number: Int64 { shared.number }

    package init(number: Int64) { shared = LeaseNumber(number: number) }
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        shared = try LeaseNumber(reading: &reader)
    }
    package var json: JSONObject { shared.json }
}
