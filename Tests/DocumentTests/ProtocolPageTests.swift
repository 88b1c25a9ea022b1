import CofferCore
import CofferService
import CofferWire
import Foundation
import Testing

/// The tables of `proto-docs/PROTOCOL.md`.
@Suite struct ProtocolPageTests {
    private let page: Page

    init() throws { page = try Page("PROTOCOL.md") }

    @Test func `a locked item is worth another try after an unlock, anything else is not`() {
        let locked = CofferError.locked("'a'", in: .locked, for: .read)
        #expect(locked.code == .interactionNotAllowed)
        #expect(locked.retry == .afterUnlock)
        #expect(CofferError(.param, "").retry == .never)
    }

    @Test func `every limit is in the table with its value`() throws {
        let header = ["limit", "value", "of"]
        let rows = try [
            "PROTOCOL.md", "KEYCHAIN.md", "FILES.md", "ACCESS.md", "AUDIT.md", "RULES.md",
            "CREDENTIALS.md",
        ].flatMap {
            try Page($0).table(header)
        }
        let source = try String(
            contentsOf: Page.root.appending(path: "Sources/base/Core/Limits.swift"),
            encoding: .utf8
        )
        let declared = source.matches(of: /public static let (\w+)/).map { String($0.1) }
        #expect(rows.map { $0[0] } == declared.map { "`\($0)`" })
        #expect(Dictionary(uniqueKeysWithValues: rows.map { ($0[0].quotedWords.first ?? "", $0[1]) }) == Self.limits)
    }

    @Test func `the header of a frame has the limits of the frame`() throws {
        let rows = try page.table(["offset", "bytes", "what"], below: "## Frames")
        #expect(rows[0][2].contains("\(Limits.frameJSONBytes)"))
        #expect(rows[1][2].contains("\(Limits.framePayloadBytes)"))
    }

    @Test func `the page names the version of the protocol`() {
        #expect(page.text.contains("\nProtocol \(Version.protocolNumber). "))
    }

    @Test func `the codes of JSON-RPC's own are named`() {
        for code in [RPCCode.parseError, RPCCode.invalidRequest] { #expect(page.text.contains("\(code)")) }
    }

    static let limits = [
        "frameJSONBytes": "\(Limits.frameJSONBytes)",
        "framePayloadBytes": "\(Limits.framePayloadBytes)",
        "jsonDepth": "\(Limits.jsonDepth)",
        "nameBytes": "\(Limits.nameBytes)",
        "nameComponentBytes": "\(Limits.nameComponentBytes)",
        "nameComponents": "\(Limits.nameComponents)",
        "secretBytes": "\(Limits.secretBytes)",
        "metadataBytes": "\(Limits.metadataBytes)",
        "passcodeBytes": "\(Limits.passcodeBytes)",
        "passcodeAttempts": "\(Limits.passcodeAttempts)",
        "keyslots": "\(Limits.keyslots)",
        "structuredBytes": "\(Limits.structuredBytes)",
        "requestsPerTurn": "\(Limits.requestsPerTurn)",
        "requestsInFlight": "\(Limits.requestsInFlight)",
        "requestBytes": "\(Limits.requestBytes)",
        "slicedWorks": "\(Limits.slicedWorks)",
        "transfersPerConnection": "\(Limits.transfersPerConnection)",
        "toldChanges": "\(Limits.toldChanges)",
        "eventBytes": "\(Limits.eventBytes)",
        "pageJSONBytes": "\(Limits.pageJSONBytes)",
        "pageItems": "\(Limits.pageItems)",
        "diskReserveBytes": "\(Limits.diskReserveBytes)",
        "columnBytes": "\(Limits.columnBytes)",
        "stagedPlaces": "\(Limits.stagedPlaces)",
        "logFrames": "\(Limits.logFrames)",
        "logDelayMilliseconds": "\(Limits.logDelayMilliseconds)",
        "keptLogs": "\(Limits.keptLogs)",
        "chunkBytes": "\(Limits.chunkBytes)",
        "fileBytes": "\(Limits.fileBytes)",
        "transitSecretBytes": "\(Limits.transitSecretBytes)",
        "transitBytes": "\(Limits.transitBytes)",
        "stallSeconds": "\(Limits.stallSeconds)",
        "connections": "\(Limits.connections)",
        "workerThreads": "\(Limits.workerThreads)",
        "outboxBytes": "\(Limits.outboxBytes)",
        "outboxSecretBytes": "\(Limits.outboxSecretBytes)",
        "openFiles": "\(Limits.openFiles)",
        "answerSeconds": "\(Limits.answerSeconds)",
        "defaultGraceSeconds": "\(Limits.defaultGraceSeconds)",
        "defaultIdleLockSeconds": "\(Limits.defaultIdleLockSeconds)",
        "maximumGraceSeconds": "\(Limits.maximumGraceSeconds)",
        "defaultInactiveSeconds": "\(Limits.defaultInactiveSeconds)",
        "defaultForgetSeconds": "\(Limits.defaultForgetSeconds)",
        "maximumLockDelaySeconds": "\(Limits.maximumLockDelaySeconds)",
        "userAttributes": "\(Limits.userAttributes)",
        "historyValues": "\(Limits.historyValues)",
        "defaultHistoryValues": "\(Limits.defaultHistoryValues)",
        "queryItems": "\(Limits.queryItems)",
        "queryBatch": "\(Limits.queryBatch)",
        "namedReferences": "\(Limits.namedReferences)",
        "contextSeconds": "\(Limits.contextSeconds)",
        "cursorBytes": "\(Limits.cursorBytes)",
        "leastRSABits": "\(Limits.leastRSABits)",
        "rsaBits": "\(Limits.rsaBits)",
        "links": "\(Limits.links)",
        "linkTargetBytes": "\(Limits.linkTargetBytes)",
        "extendedAttributeNameBytes": "\(Limits.extendedAttributeNameBytes)",
        "extendedAttributeBytes": "\(Limits.extendedAttributeBytes)",
        "extendedAttributes": "\(Limits.extendedAttributes)",
        "extendedAttributesBytes": "\(Limits.extendedAttributesBytes)",
        "handles": "\(Limits.handles)",
        "configurationBytes": "\(Limits.configurationBytes)",
        "groupBytes": "\(Limits.groupBytes)",
        "groups": "\(Limits.groups)",
        "requestsPerSecond": "\(Limits.requestsPerSecond)",
        "refusalsPerSecond": "\(Limits.refusalsPerSecond)",
        "refusals": "\(Limits.refusals)",
        "auditBytes": "\(Limits.auditBytes)",
        "auditBlockRecords": "\(Limits.auditBlockRecords)",
        "auditBlockBytes": "\(Limits.auditBlockBytes)",
        "auditWaitingRecords": "\(Limits.auditWaitingRecords)",
        "auditDelayMilliseconds": "\(Limits.auditDelayMilliseconds)",
        "auditPageBlocks": "\(Limits.auditPageBlocks)",
        "auditedItems": "\(Limits.auditedItems)",
        "auditedTextBytes": "\(Limits.auditedTextBytes)",
        "auditTallies": "\(Limits.auditTallies)",
        "auditReaders": "\(Limits.auditReaders)",
        "auditReadingMilliseconds": "\(Limits.auditReadingMilliseconds)",
        "auditReadingBytes": "\(Limits.auditReadingBytes)",
        "accessRules": "\(Limits.accessRules)",
        "sharesOfUser": "\(Limits.sharesOfUser)",
        "accessRuleSeconds": "\(Limits.accessRuleSeconds)",
        "accessRuleUses": "\(Limits.accessRuleUses)",
        "accessRuleReasonBytes": "\(Limits.accessRuleReasonBytes)",
        "credentialBytes": "\(Limits.credentialBytes)",
        "credentialConnections": "\(Limits.credentialConnections)",
        "maximumCredentialWaitSeconds": "\(Limits.maximumCredentialWaitSeconds)",
    ]
}
