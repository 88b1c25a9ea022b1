import CofferCore
import CofferKeychain
import CofferKeys
import CofferMemory
import CofferRouting
import CofferService

/// A certificate is whole: nothing may follow it, and nothing of it may be missing.
func checkCertificate(_ input: [UInt8]) throws(FuzzFinding) {
    func certificate(_ bytes: [UInt8]) -> Certificate? {
        ifAccepted { () throws(CofferError) in try Certificate(der: bytes.span.bytes) }
    }
    guard let found = certificate(input) else { return }
    try require(found.publicKeyHash.count == 32, "the hash of a public key has \(found.publicKeyHash.count) bytes")
    try require((1...3).contains(found.certificateType), "a certificate of version \(found.certificateType)")
    try require(found.keyType == nil || found.publicKey.count == 32, "a key of \(found.publicKey.count) bytes")
    for part in [found.issuer, found.subject, found.serialNumber] {
        try require(!part.isEmpty && part.count < input.count, "a part of a certificate is not in it")
    }
    try require(certificate(input + [0]) == nil, "a certificate is taken with a byte behind it")
    try require(certificate(Array(input.dropLast())) == nil, "a certificate is taken without its last byte")
}

/// Looking at a content says the same of the same, and of a beginning no more than of the whole.
func checkContent(_ input: [UInt8]) throws(FuzzFinding) {
    let bytes = input.span.bytes
    let whole = ContentSignature(of: bytes, isWhole: true)
    let beginning = ContentSignature(of: bytes, isWhole: false)
    try require(beginning == nil || beginning == whole, "a beginning shows \(String(describing: beginning))")
    try require(!looksStructured(bytes) || String(validating: input, as: UTF8.self) != nil, "no text is structured")
}

/// A pattern fits what a plain search through all its meanings finds.
func checkPattern(_ input: [UInt8]) throws(FuzzFinding) {
    let parts = input.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].count <= 64, parts[1].count <= 64,
        let text = String(validating: parts[0], as: UTF8.self), let name = String(validating: parts[1], as: UTF8.self)
    else { return }
    if let client = ifAccepted({ () throws(CofferError) in try ClientPattern(text) }) {
        let again = ifAccepted { () throws(CofferError) in try ClientPattern(client.description) }
        try require(again == client, "a pattern of clients is another one when it was written and read")
    }
    guard let pattern = ifAccepted({ () throws(CofferError) in try NamePattern(text) }) else { return }
    let expected = plainlyMatches(Array(text.unicodeScalars)[...], Array(name.unicodeScalars)[...])
    try require(pattern.matches(name) == expected, "'\(text)' and '\(name)'")
}

/// What is left of the pattern fits what is left of the name: by sets of places, one character of the pattern after the other.
private func plainlyMatches(_ pattern: ArraySlice<Unicode.Scalar>, _ name: ArraySlice<Unicode.Scalar>) -> Bool {
    let name = Array(name)
    var places: Set<Int> = [0]
    var rest = pattern
    while let scalar = rest.popFirst() {
        switch scalar {
        case "*":
            let stars = 1 + rest.prefix { $0 == "*" }.count
            rest = rest.dropFirst(stars - 1)
            for place in 0..<name.count where places.contains(place) && (stars > 1 || name[place] != "/") {
                places.insert(place + 1)
            }
        case "?": places = Set(places.filter { $0 < name.count && name[$0] != "/" }.map { $0 + 1 })
        default: places = Set(places.filter { $0 < name.count && name[$0] == scalar }.map { $0 + 1 })
        }
    }
    return places.contains(name.count)
}

/// A recovery key that is read is read the same from the text that it is printed as.
func checkRecoveryKey(_ input: [UInt8]) throws(FuzzFinding) {
    func text(of typed: [UInt8]) -> [UInt8]? {
        guard let secret = try? SecretBytes(copying: typed.span.bytes),
            let key = ifAccepted({ () throws(CofferError) in try RecoveryKey(secret) }),
            let text = try? key.text()
        else { return nil }
        return text.exposeBytes()
    }
    guard let printed = text(of: input) else { return }
    try require(text(of: printed) == printed, "a recovery key is another one when it was printed and typed")
}

/// A configuration file is taken apart without loss: what it says, written plainly, says the same.
func checkConfiguration(_ input: [UInt8]) throws(FuzzFinding) {
    guard input.count <= 4096, let text = String(validating: input, as: UTF8.self),
        let file = ifAccepted({ () throws(CofferError) in try ConfigurationFile(text, path: "f") })
    else { return }
    var lines: [String] = []
    for section in file.sections {
        lines.append("[\(section.name)]")
        lines += section.entries.map { "\($0.key)=\($0.value)" }
    }
    let plain = lines.joined(separator: "\n")
    guard let again = ifAccepted({ () throws(CofferError) in try ConfigurationFile(plain, path: "f") }) else {
        throw FuzzFinding(description: "a configuration can't be read when it was written")
    }
    let isSame = again.sections.elementsEqual(file.sections) { one, other in
        one.name == other.name
            && one.entries.elementsEqual(other.entries) { $0.key == $1.key && $0.value == $1.value }
    }
    try require(isSame, "a configuration is another one when it was written and read")
}
