import CofferTestSupport

/// The packages of `packaging/deb` on the machine.
enum Packages {
    /// The packages of the programs under test, in two versions that differ in nothing else, and the one package that
    /// they once were, with the same files, except for the one that came later; made once.
    private static let packages: Result<TemporaryDirectory, any Error> = Result {
        let directory = try TemporaryDirectory()
        let script = """
            mkdir 0.1.0 0.1.0-2 0.1.0-3
            "$0"/packaging/deb --programs "$1" --version 0.1.0-2 --output 0.1.0-2
            for package in 0.1.0-2/*.deb; do
                dpkg-deb --raw-extract "$package" tree
                sed -i 's/^Version: .*/Version: 0.1.0-3/; s/(= 0.1.0-2)/(= 0.1.0-3)/g' tree/DEBIAN/control
                dpkg-deb --root-owner-group -Znone --build tree 0.1.0-3
                rm -r tree
                [[ $package == */coffer-secret-service_* ]] || dpkg-deb --extract "$package" single
            done
            dpkg-deb --control 0.1.0-2/cofferd_*.deb single/DEBIAN
            cd single/DEBIAN
            sed -i 's/cofferd.remove-secrets/coffer\\/remove-secrets/' *
            sed -i '2i pam-auth-update --package' postinst
            sed -i '/^Breaks:/d; /^Replaces:/d; /^Source:/d
                s/^Package: .*/Package: coffer/; s/^Version: .*/Version: 0.1.0/; s/^Recommends: .*//' control
            sed -i '/^$/d' control
            dpkg-deb --root-owner-group -Znone --build .. ../../0.1.0
            """
        let made = try runCommand(
            "/bin/bash",
            ["-ec", script, Project.root, Project.binaries],
            // Nobody downloads them.
            environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DPKG_DEB_COMPRESSOR_LEVEL": "0"],
            directory: directory.path
        )
        if made.status != 0 { throw MachineError(made.errors) }
        return directory
    }

    static let names = "coffer coffer-secret-service cofferd libpam-coffer"

    /// Installs a version over what is there.
    static func install(_ version: String, on machine: Machine) throws {
        try machine.copy(packages.get().appending(version), to: "/var/cache/coffer-\(version)")
        let install = "apt-get install --yes --allow-downgrades /var/cache/coffer-\(version)/*.deb"
        try machine.succeed(["sh", "-ec", install])
    }

    /// Removes the packages with the machine's vault.
    static func purge(on machine: Machine) throws {
        let answer = "echo 'cofferd cofferd/remove-secrets boolean true' | debconf-set-selections"
        try machine.succeed(["sh", "-ec", "\(answer)\ndpkg --purge \(names)"])
    }
}
