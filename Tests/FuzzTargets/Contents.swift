import CofferClient
import CofferSecretFormats
import CofferCore
import CofferMemory

// The formats that the client reads: keys, templates, variables, fields and one-time codes.

/// A key or a certificate that is read is read the same from the form in which it is stored.
func checkKeyFile(_ input: [UInt8]) throws(FuzzFinding) {
    if let stored = storedKey(input) {
        try require(storedKey(stored) == stored, "a key is another one when it was stored and read")
    }
    if let der = certificate(input) {
        try require(certificate(der) == der, "a certificate is another one when it was converted and read")
    }
}

/// The stored form of a key; `nil` if it is refused, or encrypted.
func storedKey(_ input: [UInt8]) -> [UInt8]? {
    do {
        let key = try KeyInput(from: SecretBytes(copying: input.span.bytes)) { () throws(CofferError) in
            throw CofferError(.authFailed, "there is no passphrase")
        }
        return key.bytes.exposeBytes()
    } catch {
        return nil
    }
}

/// The DER of a certificate; `nil` if it is refused, or what the PEM contains is no DER.
private func certificate(_ input: [UInt8]) -> [UInt8]? {
    do {
        let der = try CertificateInput.der(from: SecretBytes(copying: input.span.bytes))
        let bytes = der.exposeBytes()
        return bytes.first == 0x30 ? bytes : nil
    } catch {
        return nil
    }
}

/// A template that is filled has each secret once, and all else as it was.
func checkTemplate(_ input: [UInt8]) throws(FuzzFinding) {
    guard let content = secret(input),
        let template = ifAccepted({ () throws(CofferError) in try Template(content, named: "t") }),
        let none = secret([]), let one = secret([0])
    else { return }
    let places = template.places
    func filled(_ value: Secret) -> [UInt8]? {
        ifAccepted { () throws(CofferError) in try template.text(with: places.map { _ in value }) }?.exposeBytes()
    }
    guard let bare = filled(none), let marked = filled(one) else { return }
    try require(bare.count <= input.count, "a template is longer without its places")
    try require(
        marked.count == bare.count + places.count,
        "\(places.count) secrets became \(marked.count - bare.count)"
    )
    if places.isEmpty { try require(bare == marked, "a template without a place changes with its secrets") }
    let lines = places.map(\.line)
    try require(lines == lines.sorted() && lines.allSatisfy { $0 >= 1 }, "the lines of places are \(lines)")
}

/// Variables have names that a program can be given, in the order of their lines.
func checkEnvironment(_ input: [UInt8]) throws(FuzzFinding) {
    let found = ifAccepted { () throws(CofferError) in
        try EnvironmentFile.variables(in: input.span.bytes, of: "f")
    }
    guard let found else { return }
    for variable in found { try require(variable.name.isVariableName, "a variable '\(variable.name)'") }
    let lines = found.map(\.line)
    let lineCount = input.count { $0 == 10 } + 1
    try require(zip(lines, lines.dropFirst()).allSatisfy(<), "the lines of variables are \(lines)")
    try require(lines.allSatisfy { (1...lineCount).contains($0) }, "a variable behind the last line")
}

/// A field that is changed has its new value, and no other field has.
func checkFields(_ input: [UInt8]) throws(FuzzFinding) {
    guard input.count <= 2048, let content = secret(input), let fields = SecretFields(content),
        let value = secret(Array("new value".utf8))
    else { return }
    for name in fields.names.prefix(8) {
        let changed = ifAccepted { () throws(CofferError) in try fields.setting(name, to: value) }
        guard let changed, let again = SecretFields(changed) else { continue }
        try require(again.names == fields.names, "other names after a change of '\(name)'")
        try require(bytes(of: name, in: again) == value.exposeBytes(), "'\(name)' has not the value that it was given")
        for other in fields.names.prefix(8) where other != name {
            try require(
                bytes(of: other, in: again) == bytes(of: other, in: fields),
                "a change of '\(name)' changes '\(other)'"
            )
        }
    }
}

private func bytes(of name: String, in fields: SecretFields) -> [UInt8]? {
    (try? fields.value(of: name))?.exposeBytes()
}

/// A one-time code has the digits that the address says, at every time.
func checkOneTimeKey(_ input: [UInt8]) throws(FuzzFinding) {
    guard let uri = secret(input), let key = ifAccepted({ () throws(CofferError) in try OneTimeKey(uri: uri) }) else {
        return
    }
    try require((1...3600).contains(key.period), "a period of \(key.period) seconds")
    for seconds in [Int64.min, 0, key.period - 1, 20_000_000_000] {
        guard let code = try? key.code(at: seconds).exposeBytes() else {
            throw FuzzFinding(description: "no code at \(seconds)")
        }
        let isNumber = code.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let isSteam = code.count == 5 && code.allSatisfy { "23456789BCDFGHJKMNPQRTVWXY".utf8.contains($0) }
        try require((6...8).contains(code.count) && isNumber || isSteam, "a code of \(code.count) characters")
    }
    let (first, last) = (try? key.code(at: 0).exposeBytes(), try? key.code(at: key.period - 1).exposeBytes())
    try require(first == last, "two codes in one period")
}

private func secret(_ bytes: [UInt8]) -> Secret? {
    if bytes.isEmpty { return Secret(nil) }
    return ifAccepted { () throws(CofferError) in try Secret(copying: bytes.span.bytes) }
}
