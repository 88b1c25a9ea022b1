internal import CofferCore
internal import CofferCrypto
internal import CofferMemory

// The default classes of files, which can be read and changed in every state.

extension VaultKeys {
    /// Seals the default classes of files.
    package func seal(defaultClasses encoded: [UInt8]) -> [UInt8] {
        unsafe AEAD.seal(encoded.span.bytes, under: catalog.defaults, context: defaultsContext)
    }

    /// Opens the default classes of files.
    ///
    /// - Throws: `damaged`, `noMemory`.
    package func open(defaultClasses sealed: [UInt8]) throws(KeyError) -> [UInt8] {
        do throws(CryptoError) {
            let encoded = unsafe try AEAD.open(sealed.span.bytes, under: catalog.defaults, context: defaultsContext)
            return encoded.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
        } catch {
            throw KeyError(error)
        }
    }

    private var defaultsContext: [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: "coffer file defaults v1")
        writer.write(vaultID)
        return writer.bytes
    }
}
