internal import CofferClient
internal import CofferSecretFormats
internal import CofferMemory
internal import CofferProcesses
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// The secrets that a program gets, read and in the form in which it gets them.
struct ProvidedSecrets {
    /// Memory behind a descriptor, which a program inherits.
    final class Content {
        let descriptor: OwnedDescriptor

        /// Makes sealed memory, and fills it.
        fileprivate init(
            of reference: SecretReference,
            _ fill: (Int32) throws(CofferError) -> Void
        ) throws(CofferError) {
            let memory: AnonymousMemory
            do { memory = try AnonymousMemory("coffer") } catch { throw Self.failure(error, reference) }
            try fill(memory.number)
            do { descriptor = try memory.sealed() } catch { throw Self.failure(error, reference) }
        }

        private static func failure(_ error: SystemError, _ reference: SecretReference) -> CofferError {
            error.cofferError("can't make a file of \(reference.quoted)")
        }
    }

    private(set) var variables: [(name: String, value: Secret)] = []
    private(set) var files: [Content] = []
    private(set) var input: Content?
    /// The secrets that are masked in what the program prints; none unless that was asked for.
    private(set) var masked: [Secret] = []
    /// Those that are too short to be masked, as they were named.
    private var short: [String] = []

    /// Reads all of them, or fails.
    ///
    /// - Parameter isMasked: Whether they are to be masked; then a file has at most the size of a secret.
    init(_ provisions: Provisions, _ reader: SecretReader, isMasked: Bool) throws(CofferError) {
        var reader = reader
        for (name, source) in provisions.variables {
            let value = try Self.value(of: source, for: name, &reader)
            if isMasked, case .secret(let reference) = source { mask(value, reference) }
            variables.append((name, value))
        }
        func memory(_ reference: SecretReference) throws(CofferError) -> Content {
            guard isMasked else { return try reader.memory(reference) }
            let content = try reader.content(reference)
            mask(content, reference)
            return try Content(of: reference) { (number) throws(CofferError) in try content.write(to: number) }
        }
        for (variable, reference) in provisions.files {
            let file = try memory(reference)
            variables.append((variable, try Secret(exposed: "/proc/self/fd/\(file.descriptor.number)")))
            files.append(file)
        }
        if let reference = provisions.input { input = try memory(reference) }
    }

    private static func value(
        of source: VariableSource,
        for name: String,
        _ reader: inout SecretReader
    ) throws(CofferError) -> Secret {
        let value: Secret
        var words = "the value of \(quotedForDisplay(name))"
        switch source {
        case .value(let given): value = given
        case .secret(let reference):
            value = try reader.text(reference)
            words += ", which is \(reference.quoted),"
        }
        guard value.withBytes({ !$0.contains([0]) }) else {
            throw CofferError(
                .param,
                "\(words) has a NUL byte, and a variable can't have one",
                hint: "--file \(name)=… gives it as a file instead"
            )
        }
        return value
    }

    private mutating func mask(_ secret: Secret, _ reference: SecretReference) {
        masked.append(secret)
        if (1..<Limits.leastMaskedBytes).contains(secret.count) { short.append(reference.quoted) }
    }

    /// Says which secrets can't be masked, as they are too short.
    func warnOfShort() {
        Output.warn(short.map { "\($0) has fewer than \(Limits.leastMaskedBytes) bytes, and is not masked" })
    }

    /// Has the program inherit the contents.
    func inherit() throws(CofferError) {
        do throws(SystemError) {
            for file in files { try file.descriptor.inherit() }
            try input?.descriptor.replace(stream: STDIN_FILENO)
        } catch {
            throw error.cofferError("can't pass a secret on")
        }
    }

    /// Calls a closure with an environment: what this process was started with, and the variables.
    ///
    /// Their values are in locked memory only, and never in the environment of this process.
    func withEnvironment<Value: ~Copyable>(
        _ body: ([UnsafeMutablePointer<CChar>?]) -> Value
    ) throws(CofferError) -> Value {
        let names = variables.map { Array("\($0.name)=".utf8) }
        let sizes = zip(names, variables).map { $0.count + $1.value.count + 1 }
        var block: SecretBytes
        do { block = try SecretBytes(zeros: sizes.reduce(0, +)) } catch { throw .noSecretMemory }
        var place = 0
        for ((name, variable), size) in zip(zip(names, variables), sizes) {
            unsafe block.copy(name.span.bytes, to: place)
            variable.value.withBytes { block.copy($0, to: place + name.count) }
            place += size
        }
        let inherited = unsafe InheritedEnvironment.variables(except: Set(variables.map(\.name)))
        return unsafe block.withUnsafeMutableBytes { buffer in
            var (pointers, place) = unsafe (inherited, 0)
            for size in sizes {
                unsafe pointers.append(buffer.baseAddress?.advanced(by: place).assumingMemoryBound(to: CChar.self))
                place += size
            }
            return unsafe body(pointers + [nil])
        }
    }
}

extension SecretReader {
    /// The secret in sealed memory; without a field, it may have any size.
    fileprivate mutating func memory(_ reference: SecretReference) throws(CofferError) -> ProvidedSecrets.Content {
        guard reference.field == nil else {
            let value = try content(reference)
            return try ProvidedSecrets.Content(of: reference) { (number) throws(CofferError) in
                try value.write(to: number)
            }
        }
        let (session, group) = (session, group)
        return try ProvidedSecrets.Content(of: reference) { (number) throws(CofferError) in
            try session.fetch(reference.name, in: group, to: number)
        }
    }
}

extension Session {
    /// Writes the content of an item, of any size, to a descriptor.
    fileprivate func fetch(_ name: ItemName, in group: String?, to descriptor: Int32) throws(CofferError) {
        let returned = try satisfy { () throws(CofferError) in
            try client.call(ItemGetParameters(name: name, group: group), passing: descriptor)
        }
        if returned.value.delivery == .payload { try returned.payload.write(to: descriptor) }
        Output.warnOfExpiry(of: name, returned.value)
    }
}
