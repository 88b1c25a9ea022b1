package import CofferCore
import CofferVault
import Foundation

extension [Entitlement] {
    /// All verbs of the user of the tests in one group: without an entitlement it reaches every group.
    package static func own(in group: String = "default") throws -> [Entitlement] {
        let verbs = Verb.allCases.map(\.rawValue).joined(separator: " ")
        let text = "[Client]\nUID=\(geteuid())\nGroups=\(group)\nVerbs=\(verbs)\n"
        return try Entitlement.all(in: [("own", [UInt8](text.utf8))]) { (_) throws(CofferError) in
            0
        } groupID: { (_) throws(CofferError) in
            0
        }
    }
}
