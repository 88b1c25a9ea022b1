import CofferClient
import CofferSecretFormats
import CofferCore

/// A parcel, a description or a recipient that is accepted is written as it was read.
func checkParcel(_ input: [UInt8]) throws(FuzzFinding) {
    if let parcel = ifAccepted({ () throws(CofferError) in try Parcel(input, "it") }) {
        try require(parcel.bytes == input, "a parcel is not the one that was read")
        try require(input.count <= Parcel.greatestByteCount, "a parcel of \(input.count) bytes")
    }
    if let said = ifAccepted({ () throws(ByteReader.Malformed) in try ParcelDescription(decoding: input) }) {
        let again = ifAccepted { () throws(ByteReader.Malformed) in try ParcelDescription(decoding: said.encoded) }
        try require(again == said, "a description changes when it is written")
    }
    guard let text = String(validating: input, as: UTF8.self),
        let recipient = ifAccepted({ () throws(CofferError) in try Recipient(text) })
    else { return }
    let again = ifAccepted { () throws(CofferError) in try Recipient(try recipient.text()) }
    try require(again == recipient, "a recipient changes when it is written")
}
