import CofferAudit
package import CofferClient
import CofferRights
package import CofferCore
import CofferFiles
package import CofferHandlers
import CofferKeys
package import CofferMemory
import CofferRouting
import CofferSystem
package import CofferVault
package import CofferWire
import Foundation

/// A vault without a daemon, whose requests are carried out a step at a time: it has no loop, no socket and no other thread.
package final class Stepper {
    package let directory: TemporaryDirectory
    package private(set) var handlers: Handlers
    package private(set) var owner: Caller
    package let clock = ManualClock()
    private let entitlements: [Entitlement]
    private var nextNumber = 1

    /// Makes a vault, unlocked.
    package init(passcode: String? = DaemonProcess.passcode, entitlements: [Entitlement] = []) throws {
        directory = try TemporaryDirectory()
        self.entitlements = entitlements
        (handlers, owner) = try Self.start(in: directory, clock, entitlements)
        let params: JSONObject = ["kdf": "interactive", "noPasscode": .bool(passcode == nil)]
        let made = try perform(.vaultInit, params, passcode.map { Array($0.utf8) })
        if let failure = made.failure { throw failure }
        try commit()
    }

    private static func start(
        in directory: TemporaryDirectory,
        _ clock: ManualClock,
        _ entitlements: [Entitlement]
    ) throws -> (Handlers, Caller) {
        let identity = ClientIdentity(userID: geteuid(), groupID: getegid())
        let settings = VaultSettings(
            statePath: directory.appending("state"),
            credentialsPath: nil,
            clock: clock.clock,
            fileSystem: .real,
            identify: { _, _ in identity },
            reportFault: { _ in }
        )
        let policy = AccessPolicy(daemon: identity, entitlements: entitlements)
        let handlers = Handlers(of: CofferVault.Vault(settings, access: policy, routing: .standard))
        return (handlers, Caller(identity, try handlers.shared.vault.rights(of: identity), of: 1))
    }

    deinit { shared.close() }

    package var shared: HandlerState { handlers.shared }
    package var vault: CofferVault.Vault { shared.vault }

    /// Begins a request, and carries out its first step.
    package func begin(
        _ method: Method,
        _ params: JSONObject = [:],
        _ payload: [UInt8]? = nil,
        passing descriptor: Int32? = nil
    ) throws -> Begun {
        defer { nextNumber += 1 }
        let bytes = try payload.map { try SecretBytes($0) }
        let passed = descriptor.map { PeerDescriptor(owning: dup($0)) }
        let call = makeCall(Attachments(payload: bytes, descriptor: passed))
        return Begun(nextNumber, shared, call) { [handlers] (call: CofferVault.Call) in
            try Gate.check(method, params, for: call.caller.rights, and: .nothing) { () throws(CofferError) in
                try handlers.state(for: method)
            }
            return try handlers.begin(method, params, call)
        }
    }

    /// Begins the next piece of work that belongs to no request; `nil` if there is none.
    package func beginChore() -> Begun? {
        guard !shared.chores.isEmpty else { return nil }
        defer { nextNumber += 1 }
        let chore = shared.chores.removeFirst()
        return Begun(nextNumber, shared, makeCall(Attachments(payload: nil, descriptor: nil)), chore.begin)
    }

    private func makeCall(_ attachments: Attachments) -> CofferVault.Call {
        let call = CofferVault.Call(from: owner, attachments)
        // Each slice ends with its first entry.
        call.quantum = Quantum(.zero, of: vault.settings.clock) { false }
        return call
    }

    /// Carries out a request to its end.
    package func perform(
        _ method: Method,
        _ params: JSONObject = [:],
        _ payload: [UInt8]? = nil,
        passing descriptor: Int32? = nil
    ) throws -> Begun {
        let begun = try begin(method, params, payload, passing: descriptor)
        begun.finish()
        return begun
    }

    /// Makes what was changed stay, as a turn does at its end.
    package func commit() throws { try vault.openCatalog?.commit() }

    /// Takes the keys as a lock does when its grace is over.
    package func lock() {
        guard let keys = vault.openKeys else { return }
        keys.lock()
        vault.openCatalog?.files.openContents.revoke(in: keys.state)
    }

    /// Brings the vault, which is unlocked or has no passcode, into a state.
    package func reach(_ state: TestState) throws {
        switch state {
        case .noPasscode, .unlocked: break
        case .beforeFirstUnlock:
            shared.close()
            (handlers, owner) = try Self.start(in: directory, clock, entitlements)
        case .locking: try vault.keys.beginLocking()
        case .locked: lock()
        case .lockedExpired:
            lock()
            try vault.keys.expireInactive()
            vault.openCatalog?.files.openContents.revoke(in: state.name)
        }
        guard try vault.state() == state.name else { throw CofferError(.internal, "the vault is not \(state)") }
    }
}

extension Stepper: MethodCaller {
    package func status() throws(CofferError) -> VaultStatus { try call(VaultStatusParameters()).value }

    /// Opens a file.
    ///
    /// - Returns: The handle.
    package func handle(_ params: FileOpenParameters) throws(CofferError) -> Int64 { try call(params).value.handle }

    /// Calls a method.
    ///
    /// - Returns: The payload of its answer.
    package func bytes(_ params: some MethodParameters) throws(CofferError) -> [UInt8] {
        try call(params).payload.exposeBytes()
    }

    /// Carries out a request to its end as a turn does: what it has changed stays, and its answer is what the document of the
    /// protocol says.
    @discardableResult
    package func call<Parameters: MethodParameters>(
        _ params: Parameters,
        payload: borrowing SecretBytes?,
        passing descriptor: Int32?
    ) throws(CofferError) -> Returned<Parameters.Result> {
        let method = Parameters.method
        let bytes = try Secret(copying: payload).exposeBytes()
        let begun: Begun
        do {
            let json = Parameters.coding.params(params)
            begun = try perform(method, json, bytes.isEmpty ? nil : bytes, passing: descriptor)
            try commit()
        } catch { throw CofferError(mapping: error, "can't carry out the request") }
        if let failure = begun.failure {
            try AnswerCheck.check(.failure(failure), to: method)
            throw failure
        }
        let result = JSONValue.object(begun.result ?? [:])
        try AnswerCheck.check(.success(result), to: method)
        let answer: SecretBytes?
        do { answer = try SecretBytes(begun.payload) } catch { throw .noSecretMemory }
        return Returned(value: try Parameters.coding.result(result), payload: try Secret(copying: answer), epoch: 0)
    }
}

/// A request that has begun, and stands still until it is told to go on.
package final class Begun {
    /// What has to happen before it goes on.
    package enum Wait: Equatable {
        case work, claim(Claim), commit, turn
    }

    package let number: Int
    package let call: CofferVault.Call
    private let shared: HandlerState
    private var next: Step.Next?
    private var item: (any WorkItem)?
    /// What it waits for; `nil` where it is answered.
    package private(set) var wait: Wait?
    package private(set) var result: JSONObject?
    package private(set) var payload: [UInt8] = []
    package private(set) var failure: CofferError?

    package init(
        _ number: Int,
        _ shared: HandlerState,
        _ call: CofferVault.Call,
        _ begin: @escaping (CofferVault.Call) throws -> Step
    ) {
        self.number = number
        self.shared = shared
        self.call = call
        take { try begin(call) }
    }

    /// Does what it waits for, and carries out its next step; nothing where another one has what it claims.
    package func resume() {
        guard let step = next, let awaited = wait else { return }
        switch awaited {
        case .work: item?.run()
        case .claim(let claim):
            guard shared.claims.held(by: number).contains(claim) || shared.claims.take(claim, for: number, of: 1) else {
                return
            }
        case .commit:
            do throws(CofferError) { try shared.vault.openCatalog?.commit() } catch { return end(with: error) }
        case .turn: break
        }
        take(step)
    }

    /// Goes on to its end.
    package func finish() {
        while wait != nil { resume() }
    }

    private func take(_ body: Step.Next) {
        next = nil
        do {
            switch try body() {
            case .done(let reply):
                result = reply.result
                payload = reply.takePayload()?.exposeBytes() ?? []
                end()
            case .work(let work, _, let then):
                item = work
                (wait, next) = (.work, then)
            case .claim(let claim, let then): (wait, next) = (.claim(claim), then)
            case .committed(let then): (wait, next) = (.commit, then)
            case .again(let then): (wait, next) = (.turn, then)
            }
        } catch {
            end(with: CofferError(mapping: error, call.subject))
        }
    }

    private func end(with error: CofferError? = nil) {
        failure = error
        (wait, next) = (nil, nil)
        call.end()
        for claim in call.kept { shared.claims.keep(claim) }
        for claim in shared.claims.held(by: number) + shared.claims.freed { _ = shared.claims.release(claim) }
        shared.claims.freed = []
    }
}
