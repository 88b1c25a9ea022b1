import CofferAudit
import CofferRights
package import CofferCore
import CofferFiles
package import CofferHandlers
import CofferKeys
import CofferMemory
import CofferRouting
import CofferSystem
package import CofferVault
package import CofferWire
import Foundation

/// A vault without a daemon, whose requests are carried out a step at a time: it has no loop, no socket and no other thread.
package final class Stepper {
    package let directory: TemporaryDirectory
    package let handlers: Handlers
    package let owner: Caller
    private var nextNumber = 1

    /// Makes a vault, unlocked.
    package init(passcode: String? = DaemonProcess.passcode) throws {
        directory = try TemporaryDirectory()
        let identity = ClientIdentity(userID: geteuid(), groupID: getegid())
        let settings = VaultSettings(
            statePath: directory.appending("state"),
            credentialsPath: nil,
            clock: ManualClock().clock,
            fileSystem: .real,
            identify: { _, _ in identity },
            reportFault: { _ in }
        )
        handlers = Handlers(
            of: CofferVault.Vault(
                settings,
                access: AccessPolicy(daemon: identity, entitlements: []),
                routing: .standard
            )
        )
        owner = Caller(identity, try handlers.shared.vault.rights(of: identity), of: 1)
        let params: JSONObject = ["kdf": "interactive", "noPasscode": .bool(passcode == nil)]
        let made = try begin(.vaultInit, params, passcode.map { Array($0.utf8) })
        made.finish()
        if let failure = made.failure { throw failure }
    }

    deinit { shared.close() }

    package var shared: HandlerState { handlers.shared }
    package var vault: CofferVault.Vault { shared.vault }

    /// Begins a request, and carries out its first step.
    package func begin(_ method: Method, _ params: JSONObject = [:], _ payload: [UInt8]? = nil) throws -> Begun {
        defer { nextNumber += 1 }
        let bytes = try payload.map { try SecretBytes($0) }
        return Begun(nextNumber, shared, makeCall(Attachments(payload: bytes, descriptor: nil))) { [handlers] call in
            try handlers.begin(method, params, call)
        }
    }

    /// Begins the next piece of work that belongs to no request; `nil` if there is none.
    package func beginChore() -> Begun? {
        guard !shared.chores.isEmpty else { return nil }
        defer { nextNumber += 1 }
        let chore = shared.chores.removeFirst()
        return Begun(nextNumber, shared, makeCall(Attachments(payload: nil, descriptor: nil)), chore.begin)
    }

    private func makeCall(_ attachments: Attachments) -> Call {
        let call = Call(from: owner, attachments)
        // Each slice ends with its first entry.
        call.quantum = Quantum(.zero, of: vault.settings.clock) { false }
        return call
    }

    /// Carries out a request to its end.
    package func perform(_ method: Method, _ params: JSONObject = [:], _ payload: [UInt8]? = nil) throws -> Begun {
        let begun = try begin(method, params, payload)
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
}

/// A request that has begun, and stands still until it is told to go on.
package final class Begun {
    /// What has to happen before it goes on.
    package enum Wait: Equatable {
        case work, claim(Claim), commit, turn
    }

    package let number: Int
    package let call: Call
    private let shared: HandlerState
    private var next: Step.Next?
    private var item: (any WorkItem)?
    /// What it waits for; `nil` where it is answered.
    package private(set) var wait: Wait?
    package private(set) var result: JSONObject?
    package private(set) var payload: [UInt8] = []
    package private(set) var failure: CofferError?

    package init(_ number: Int, _ shared: HandlerState, _ call: Call, _ begin: @escaping (Call) throws -> Step) {
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
