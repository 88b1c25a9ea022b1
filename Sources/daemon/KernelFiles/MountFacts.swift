package import CofferCore

/// The user and the group of a mount: of what states no others.
package struct MountOwner: Hashable, Sendable {
    package let userID: UInt32
    package let groupID: UInt32

    package init(userID: UInt32, groupID: UInt32) { (self.userID, self.groupID) = (userID, groupID) }
}

/// What a mount is, and whose: it stays as long as the mount, whichever daemon answers.
package struct MountFacts: Equatable, Sendable {
    /// The absolute path at which its client says that it is.
    package let place: String
    package let group: String
    /// The number of the directory of the vault that is its root; 0 for all of it.
    package let directory: Int64
    package let isReadOnly: Bool
    /// When it was made, in nanoseconds since 1970: what the root shows.
    package let time: Int64
    package let owner: MountOwner
    /// Whether the kernel's numbers of users are those of the daemon, so that another user's request has that user's rights.
    package let namesUsers: Bool

    package init(
        at place: String,
        of group: String,
        directory: Int64,
        isReadOnly: Bool,
        time: Int64,
        owner: MountOwner,
        namesUsers: Bool
    ) {
        (self.place, self.group, self.directory) = (place, group, directory)
        (self.isReadOnly, self.time, self.owner) = (isReadOnly, time, owner)
        self.namesUsers = namesUsers
    }
}

/// What the next daemon has to know of a mount to go on with it.
package struct KeptMount: Equatable, Sendable {
    private static let version: UInt8 = 1

    /// The vault whose files it shows.
    package let vaultID: ItemID
    package let facts: MountFacts
    /// The client that has made it.
    package let client: ClientIdentity
    package let abilities: KernelAbilities

    package init(of vaultID: ItemID, _ facts: MountFacts, of client: ClientIdentity, _ abilities: KernelAbilities) {
        (self.vaultID, self.facts, self.abilities) = (vaultID, facts, abilities)
        // Its process may have ended, and its number may be another one's.
        self.client = client.kept
    }

    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.version)
        writer.write(vaultID)
        writer.write(counted: facts.place.utf8)
        writer.write(counted: facts.group.utf8)
        writer.write(facts.directory)
        writer.write(UInt8(facts.isReadOnly ? 1 : 0))
        writer.write(facts.time)
        writer.write(facts.owner.userID)
        writer.write(facts.owner.groupID)
        writer.write(UInt8(facts.namesUsers ? 1 : 0))
        writer.write(abilities.version)
        writer.write(client.userID)
        writer.write(client.groupID)
        let groups = client.supplementaryGroupIDs.sorted()
        writer.write(UInt32(groups.count))
        for group in groups { writer.write(group) }
        for text in [client.unit, client.userUnit, client.executablePath, client.machine] {
            writer.write(UInt8(text == nil ? 0 : 1))
            writer.write(counted: (text ?? "").utf8)
        }
        writer.write(UInt8(client.isContained ? 1 : 0))
        writer.write(client.loginUserID ?? .max)
        return writer.bytes
    }

    /// - Throws: `Malformed` if an earlier daemon can't have written them.
    package init(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.version,
            let vaultID = ItemID(Array(try reader.readRaw(ItemID.byteCount)))
        else { throw ByteReader.Malformed() }
        self.vaultID = vaultID
        facts = MountFacts(
            at: try reader.readText(),
            of: try reader.readText(),
            directory: try reader.read(),
            isReadOnly: try reader.read(UInt8.self) != 0,
            time: try reader.read(),
            owner: MountOwner(userID: try reader.read(), groupID: try reader.read()),
            namesUsers: try reader.read(UInt8.self) != 0
        )
        // Only a mount whose kernel can send again is kept.
        abilities = KernelAbilities(version: try reader.read(), isResendable: true)
        var client = ClientIdentity(userID: try reader.read(), groupID: try reader.read())
        let count = try reader.read(UInt32.self)
        guard count <= 65536 else { throw ByteReader.Malformed() }
        for _ in 0..<count { client.supplementaryGroupIDs.insert(try reader.read()) }
        func text() throws(ByteReader.Malformed) -> String? {
            let isThere = try reader.read(UInt8.self) != 0
            let text = try reader.readText()
            return isThere ? text : nil
        }
        (client.unit, client.userUnit) = (try text(), try text())
        (client.executablePath, client.machine) = (try text(), try text())
        client.isContained = try reader.read(UInt8.self) != 0
        let login = try reader.read(UInt32.self)
        client.loginUserID = login == .max ? nil : login
        guard reader.isAtEnd else { throw ByteReader.Malformed() }
        self.client = client
    }
}

extension ClientIdentity {
    /// The identity without what is of its process alone.
    fileprivate var kept: ClientIdentity {
        var kept = self
        (kept.processID, kept.executableFile) = (nil, nil)
        return kept
    }
}
