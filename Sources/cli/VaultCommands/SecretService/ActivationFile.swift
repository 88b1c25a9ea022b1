internal import CofferClient
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// The file by which the session's bus starts the Secret Service of Coffer, before that of the desktop.
///
/// It is the user's own: the file of the machine with this name belongs to gnome-keyring or KWallet.
struct ActivationFile {
    private static let mark = "# Written by 'coffer secret-service enable'"
    private static let subfolder = "dbus-1/services"
    private static let name = "\(SecretServiceName.text).service"

    /// The directory that it is in.
    private let folder: String
    /// Its path.
    var path: String { "\(folder)/\(Self.name)" }

    init() throws(CofferError) {
        guard let home = dataHome else {
            throw CofferError(
                .param,
                "neither XDG_DATA_HOME nor HOME is set",
                hint: "set HOME to your home directory"
            )
        }
        folder = "\(home)/\(Self.subfolder)"
    }

    /// Whether this program wrote the file; `nil` if there is no file.
    func isOurs() throws(CofferError) -> Bool? {
        do throws(SystemError) {
            return try Self.text(of: path)?.hasPrefix(Self.mark)
        } catch {
            throw error.cofferError("can't read \(quotedForDisplay(path))")
        }
    }

    /// Writes the file.
    ///
    /// - Throws: `duplicateItem` if another program, or a person, wrote the file that is there.
    func write() throws(CofferError) {
        let program = try Self.installedProgram()
        let existing = try isOurs()
        if existing == false {
            throw CofferError(
                .duplicateItem,
                "\(quotedForDisplay(path)) exists already, and is not of Coffer",
                hint: "move it away if another program is not to be started by it"
            )
        }
        do throws(SystemError) {
            _ = try Directory(makingPath: folder)
        } catch {
            throw error.cofferError("can't make \(quotedForDisplay(folder))")
        }
        // A file that another program makes meanwhile stays.
        let file = try existing == nil ? OutputFile(new: path) : OutputFile(path)
        try file.write(
            """
            \(Self.mark); 'coffer secret-service disable' removes it.
            [D-BUS Service]
            Name=\(SecretServiceName.text)
            Exec=\(program)
            SystemdService=\(SecretServiceName.unit)

            """
        )
        // There is nothing secret in it, and a bus may run as another user.
        guard fchmod(file.number, 0o644) == 0 else {
            throw SystemError("fchmod").cofferError("can't write \(quotedForDisplay(path))")
        }
        try file.finish()
    }

    /// Removes the file if this program wrote it.
    ///
    /// - Returns: Whether it did.
    func remove() throws(CofferError) -> Bool {
        guard try isOurs() == true else { return false }
        guard unsafe unlink(path) == 0 || errno == ENOENT else {
            throw SystemError("unlink").cofferError("can't remove \(quotedForDisplay(path))")
        }
        return true
    }

    /// The program that the bus starts for the first caller while no program has the name; `nil` if it starts none.
    ///
    /// The directories are those of a session's bus, in its order.
    static func startedProgram() -> String? {
        let folders = [ServiceManager.ownDirectory, dataHome].compactMap(\.self) + dataDirectories
        for folder in folders.map({ "\($0)/\(subfolder)" }) {
            let files = (try? Directory(openingPath: folder).entries()) ?? []
            for file in files.sorted() where file.hasSuffix(".service") {
                guard let text = (try? text(of: "\(folder)/\(file)")) ?? nil else { continue }
                if value(of: "Name", in: text) == SecretServiceName.text {
                    return value(of: "Exec", in: text)?.split(separator: " ").first.map(String.init)
                }
            }
        }
        return nil
    }

    private static func value(of key: String, in text: String) -> String? {
        text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("\(key)=") }.map {
            String($0.dropFirst(key.count + 1))
        }
    }

    private static func text(of path: String) throws(SystemError) -> String? {
        try OwnedDescriptor.content(ofFile: path, upTo: Limits.configurationBytes).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    private static func installedProgram() throws(CofferError) -> String {
        guard let path = Program.path(InstalledProgram.path(of: SecretServiceName.program)), path.hasPrefix("/") else {
            throw CofferError(
                .notAvailable,
                "there is no program \(SecretServiceName.program)",
                hint: "install the package of this name"
            )
        }
        return path
    }
}
