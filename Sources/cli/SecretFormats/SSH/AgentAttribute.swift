package import CofferCore

/// The attributes of the keychain by which the agent knows its keys.
package enum AgentAttribute {
    /// Marks a key that the agent offers.
    package static let format: (name: AttributeName, value: String) = ("format", "openssh")
    package static let comment: AttributeName = "comment"
    /// The public key, by which a key is listed while it is locked.
    package static let publicKey: AttributeName = "publicKey"
    package static let added: (name: AttributeName, value: String) = ("addedBy", "ssh-add")
    package static let confirmed: (name: AttributeName, value: String) = ("confirm", "yes")
    /// The certificate of the key that `ssh-add` has added, in base64.
    package static let certificate: AttributeName = "certificate"
    /// The destination constraints, in base64.
    package static let destinations: AttributeName = "destinations"
}
