internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal

struct Mount: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mount",
        abstract: "Let every program open the files of the vault, in a directory.",
        discussion: """
            It returns when the files are there; the daemon serves them until 'coffer umount' ends the mount. A file's class \
            is its attribute user.coffer.class. While the vault is locked, files of class complete can't be opened or read. \
            It says when new files can be read.
            """
    )

    @Argument(help: "An empty directory of yours.", completion: .directory)
    var directory: String

    @Option(help: ArgumentHelp("Mount this directory of the vault only.", valueName: "prefix"), completion: .itemName)
    var path: String?

    @Flag(help: "Refuse every change.")
    var readOnly = false

    @Flag(help: "Permit other users as well, by the modes of the files.")
    var allowOther = false

    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        let name = try path.map { try ItemName(argument: $0) }
        let client = try connection.connect()
        try client.status().requireVault()
        // A dead mount is of no use, even if nothing can be mounted in its place.
        MountPoint.removeDead(directory)
        try mount(name, client)
        if !readOnly { try reportClass(name, client) }
    }

    private func mount(_ name: ItemName?, _ client: BlockingClient) throws(CofferError) {
        let mountPoint = try MountPoint(directory)
        let device = try mountPoint.mount(.init(isReadOnly: readOnly, allowsOthers: allowOther))
        let params = MountServeParameters(
            place: mountPoint.path,
            path: name,
            isReadOnly: readOnly,
            group: access.group
        )
        do throws(CofferError) { try client.call(params, passing: device.number) } catch {
            MountPoint.unmount(mountPoint.path)
            throw error
        }
    }

    /// Reports when new files can be read: a file whose program says nothing may stay readable while the vault is locked.
    private func reportClass(_ name: ItemName?, _ client: BlockingClient) throws {
        var wishes = PlacementOptions()
        (wishes.group, wishes.store) = (access.group, .file)
        let inside = try name.map { try ItemName("\($0.path)/new") }
        let params = ItemExplainParameters(name: inside, byteCount: Limits.fileBytes, wishes: wishes)
        guard let placement = try? client.call(params).value.placement else { return }
        let words = placement.protection.words
        Output.standardError.line("new files are readable \(words), unless their directory says otherwise")
    }
}
