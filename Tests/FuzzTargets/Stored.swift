import CofferFileContent
import CofferCore
import CofferCrypto
import CofferFiles
import CofferKeys
import CofferMemory

/// A keybag that is read is the same bytes when it is written, and is authentic only as its device key closed it.
func checkKeybag(_ input: [UInt8]) throws(FuzzFinding) {
    guard let deviceKey = fixedDeviceKey(),
        let stored = ifAccepted({ () throws(CofferError) in try StoredKeybag(input) })
    else { return }
    let keybag = stored.keybag
    // Written again, one of version 1 is one of the present version.
    if input[9] == 1 { return }
    let encoded = keybag.encoded(deviceKey: deviceKey)
    try require(encoded.count == input.count, "a keybag has another size when it was written")
    try require(encoded.dropLast(Keybag.tagBytes) == input.dropLast(Keybag.tagBytes), "a keybag has two spellings")
    let isVerified = ifAccepted({ () throws(CofferError) in try stored.verified(with: deviceKey) }) != nil
    try require(isVerified == (encoded == input), "a keybag with a wrong tag is taken for an authentic one")
    guard let again = ifAccepted({ () throws(CofferError) in try StoredKeybag(encoded) }),
        let verified = ifAccepted({ () throws(CofferError) in try again.verified(with: deviceKey) })
    else { throw FuzzFinding(description: "a keybag can't be read when it was written") }
    try require(verified == keybag, "a keybag is another one when it was written and read")
}

/// A device key that is the same in every run.
private func fixedDeviceKey() -> DeviceKey? {
    let bytes = [UInt8](repeating: 0x6B, count: SymmetricKey.byteCount)
    guard let secret = try? SecretBytes(copying: bytes.span.bytes), let key = SymmetricKey(secret) else { return nil }
    return DeviceKey(key)
}

/// A header is that of its content or refused, and the arithmetic of sizes holds; a node's attributes come back the same.
func checkHeader(_ input: [UInt8]) throws(FuzzFinding) {
    let id = ItemID(Array(repeating: 0x11, count: ItemID.byteCount)[...])
    guard let id else { return }
    for part in [ContentFormat.Part.base, .overlay] {
        guard case .success(let format) = ContentFormat.read(input, part, expecting: id) else { continue }
        try require(format.header == input, "a header is taken for another one")
    }
    try checkSizes(input)
    guard let node = ifAccepted({ () throws(ByteReader.Malformed) in try NodeMetadata(decoding: input) }) else {
        return
    }
    let encoded = node.encoded
    guard let again = ifAccepted({ () throws(ByteReader.Malformed) in try NodeMetadata(decoding: encoded) }) else {
        throw FuzzFinding(description: "the attributes of a node can't be read when they were written")
    }
    try require(again == node, "the attributes of a node are others when they were written and read")
}

/// The first eight bytes as a size: its chunks are as many bytes, and lie behind one another to the end.
private func checkSizes(_ input: [UInt8]) throws(FuzzFinding) {
    guard input.count >= 8 else { return }
    let word = input.prefix(8).reduce(into: UInt64(0)) { $0 = $0 << 8 | UInt64($1) }
    let count = Int64(word % UInt64(Limits.fileBytes + 1))
    let last = ContentFormat.chunkCount(ofPlaintext: count) - 1
    let lastCount = ContentFormat.plaintextByteCount(ofChunk: last, in: count)
    try require((0...Limits.chunkBytes).contains(lastCount), "the last chunk of \(count) bytes has \(lastCount)")
    try require(last * Int64(Limits.chunkBytes) + Int64(lastCount) == count, "the chunks of \(count) bytes have others")
    let stored = ContentFormat.storedByteCount(ofPlaintext: count)
    let end = ContentFormat.offset(ofChunk: last) + Int64(lastCount + CipherSuite.tagBytes)
    try require(end == stored, "the chunks of \(count) bytes end at \(end) of \(stored)")
}
