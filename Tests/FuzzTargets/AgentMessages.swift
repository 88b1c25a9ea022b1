import CofferSecretFormats
import CofferCore
import CofferCrypto
import CofferMemory
import CofferSSHAgent

/// Each part of a message is refused, or is all of what it was read from.
func checkAgentMessage(_ input: [UInt8]) throws(FuzzFinding) {
    try checkConstraints(input)
    let destinations = ifAccepted { () throws(CofferError) in try AgentDestinations(input) }
    try require(destinations?.allow([], user: "root") ?? true, "a key is not for this machine")
    var fields = KeyCursor(0..<input.count)
    if let binding = ifAccepted({ () throws(CofferError) in try AgentBinding(&fields, in: input.span.bytes) }) {
        try require(fields.isAtEnd, "a binding ends before its message")
        _ = destinations?.allow([binding], user: nil)
        try require(ifAccepted { () throws(CofferError) in try binding.check(against: []) } != nil, "no first binding")
    }
    _ = SSHLogin(input.span.bytes, 0..<input.count, by: [])
    try checkAddition(input)
    try checkCertificateAddition(input)
}

private func checkConstraints(_ input: [UInt8]) throws(FuzzFinding) {
    var fields = KeyCursor(0..<input.count)
    let found = ifAccepted { () throws(CofferError) in try AgentConstraints(&fields, in: input.span.bytes) }
    guard let found else { return }
    try require(fields.isAtEnd, "constraints end before their message")
    try require((0...Int(UInt32.max)).contains(found.lifetime ?? 0), "a lifetime of \(found.lifetime ?? 0)")
}

/// A key that is added is refused, or read the same, from the form in which it is stored.
private func checkAddition(_ input: [UInt8]) throws(FuzzFinding) {
    var fields = KeyCursor(0..<input.count)
    let key = ifAccepted { () throws(CofferError) in try OpenSSHKey.key(&fields, in: input.span.bytes) }
    guard let key else { return }
    let bytes = key.bytes.exposeBytes()
    // A file of the bytes of a curve's key alone may also be a text.
    guard bytes.count > KeyType.keyBytes, let stored = storedKey(bytes) else { return }
    try require(stored == bytes, "a key is another one when it was added and read")
}

private func checkCertificateAddition(_ input: [UInt8]) throws(FuzzFinding) {
    var fields = KeyCursor(0..<input.count)
    let request = ifAccepted { () throws(CofferError) in
        let bytes = input.span.bytes
        guard SSHCertificate.isType(try fields.text(in: bytes)) else { throw CofferError(.param, "no certificate") }
        let certificate = try SSHCertificate(bytes.copy(try fields.string(in: bytes)))
        return try certificate.request(with: &fields, in: bytes)
    }
    guard let request else { return }
    try require(fields.isAtEnd, "a certificate ends before its message")
    try checkAddition(request.exposeBytes())
}
