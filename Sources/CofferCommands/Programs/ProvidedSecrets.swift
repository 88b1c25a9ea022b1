internal import CofferClient
internal import CofferMemory
internal import CofferSystem
internal import Glibc

/// The secrets that a program gets, read and in the form in which it gets them.
struct ProvidedSecrets {
    /// Memory behind a descriptor, which a program inherits.
    final class Content {
        let descriptor: OwnedDescriptor
        init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }
    }

    private(set) var variables: [(name: String, value: Secret)] = []
    private(set) var files: [Content] = []
    private(set) var input: Content?

    /// Reads all of them, or fails.
    init(_ provisions: Provisions, _ reader: SecretReader) throws(CofferError) {
        var reader = reader
        for (name, source) in provisions.variables {
            variables.append((name, try Self.value(of: source, for: name, &reader)))
        }
        for (variable, reference) in provisions.files {
            let file = try reader.memory(reference)
            variables.append((variable, try Secret(exposed: "/proc/self/fd/\(file.descriptor.number)")))
            files.append(file)
        }
        if let reference = provisions.input { input = try reader.memory(reference) }
    }

    private static func value(
        of source: Provisions.Source,
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
    func withEnvironment<Result>(
        _ body: ([UnsafeMutablePointer<CChar>?]) throws(CofferError) -> Result
    ) throws(CofferError) -> Result {
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
        return try unsafe block.withUnsafeMutableBytes { (buffer) throws(CofferError) in
            var (pointers, place) = unsafe (inherited, 0)
            for size in sizes {
                unsafe pointers.append(buffer.baseAddress?.advanced(by: place).assumingMemoryBound(to: CChar.self))
                place += size
            }
            return unsafe try body(pointers + [nil])
        }
    }
}

extension SecretReader {
    /// The secret in sealed memory; without a field, it may have any size.
    fileprivate mutating func memory(_ reference: SecretReference) throws(CofferError) -> ProvidedSecrets.Content {
        let memory: AnonymousMemory
        do { memory = try AnonymousMemory("coffer") } catch { throw error.cofferError(Self.failure(reference)) }
        if reference.field == nil {
            try session.fetch(reference.name, in: group, to: memory.number)
        } else {
            try content(reference).write(to: memory.number)
        }
        do { return ProvidedSecrets.Content(try memory.sealed()) } catch {
            throw error.cofferError(Self.failure(reference))
        }
    }

    private static func failure(_ reference: SecretReference) -> String { "can't make a file of \(reference.quoted)" }
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
