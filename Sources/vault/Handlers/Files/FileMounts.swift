internal import CofferCore
internal import CofferFiles
internal import CofferSystem
package import CofferVault
package import CofferWire

// Mounts: a client makes one, and passes what the kernel has given it.

extension FileHandlers {
    package func mountServe(_ params: MountServeParameters, _ call: Call) throws -> Step {
        let group = try call.group(params.group)
        call.isFor("can't mount \(params.path.map(\.quoted) ?? "the vault")")
        guard let descriptor = try call.attachments.takeDescriptor(), descriptor.isKernelFiles else {
            throw CofferError(
                .param,
                "the passed descriptor is not an open /dev/fuse",
                hint: "'coffer mount' passes the one that fusermount3 opens"
            )
        }
        let files = try catalog.files
        let directory = try params.path.map { try files.requireEntry($0, in: group) }
        if let directory, !directory.isDirectory { throw CofferError.noDirectory(directory) }
        let mount = NewMount(
            at: params.place,
            of: group,
            directory: directory?.inode ?? FileStore.rootNumber,
            isReadOnly: params.isReadOnly,
            descriptor.trusted()
        )
        guard let observer else { throw CofferError(.unimplemented, "nothing here answers a kernel") }
        try observer.serveMount(mount, of: call.caller)
        return .done
    }
}
