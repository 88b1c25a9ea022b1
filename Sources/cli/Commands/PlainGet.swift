internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal
internal import Glibc

/// `coffer get NAME`, as scripts call it: a path, at most a socket, and a pipe or a file as standard output.
///
/// The argument parser takes several times as long as the connection, the request and its answer. What is not as plain,
/// and what fails, is left to it and to ``Get``, so that there is one way to prompt, to explain and to report.
struct PlainGet {
    private let name: ItemName
    private var socketPath: String?

    /// Recognizes the arguments; `nil` if the argument parser is needed.
    init?(_ words: ArraySlice<String>) {
        var rest = words
        guard rest.popFirst() == "get", let word = rest.popFirst(), !word.hasPrefix("-"),
            let name = try? ItemName(argument: word), !name.mayBeKey, !Output.standardOutput.isTerminal
        else { return nil }
        self.name = name
        while let option = rest.popFirst() {
            switch option {
            case "--no-start": continue
            case "--socket":
                guard let path = rest.popFirst(), !path.hasPrefix("-") else { return nil }
                socketPath = path
            default: return nil
            }
        }
    }

    /// Writes the content to standard output.
    ///
    /// - Returns: What ``Get`` is to continue with; `nil` if all is done.
    func run() -> Attempt? {
        guard let path = socketPath ?? SocketPath.candidates(environment).first,
            let client = try? BlockingClient(socketPath: path)
        else { return Attempt(client: nil, failure: nil) }
        do throws(CofferError) {
            try Get.fetch(Get.parameters(of: name), from: client, to: STDOUT_FILENO)
            return nil
        } catch {
            return Attempt(client: client, failure: error)
        }
    }

    /// A request that was made before the arguments were parsed, and failed.
    final class Attempt {
        /// The connection; `nil` if there is none.
        let client: BlockingClient?
        private var failure: CofferError?

        init(client: BlockingClient?, failure: CofferError?) {
            self.client = client
            self.failure = failure
        }

        /// Throws why it failed, the first time.
        ///
        /// The request is not repeated for that: the audit has it once.
        func rethrow() throws(CofferError) { if let failure = failure.take() { throw failure } }
    }
}
