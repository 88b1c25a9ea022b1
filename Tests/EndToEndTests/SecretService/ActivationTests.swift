import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// `coffer secret-service` on a real bus, which starts what is enabled.
@Suite(.enabled(if: ActivationScene.isPossible, "it takes dbus-daemon, busctl, and dbus for Python"))
struct ActivationTests {
    /// What a person is told of a program that has the name: in which way it ends depends on where the tests run.
    private static let warning = "warning: that process keeps the name until it ends: log out and in, or '"

    @Test(arguments: ["enable", "disable", "status"])
    func `without a session's bus, each verb says so and changes nothing`(verb: String) throws {
        let scene = try ActivationScene()
        if verb == "disable" { #expect(try scene.run("enable").status == 0) }
        let before = scene.file
        let result = try scene.run(
            verb,
            with: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(scene.directory.appending("none"))"]
        )
        #expect(result.status == 69 && result.output.isEmpty, "\(result)")
        #expect(result.errors.hasPrefix("error: there is no session bus: "), "\(result.errors)")
        #expect(result.errors.contains("\nhint: run it in your session, "), "\(result.errors)")
        #expect(scene.file == before)
    }

    @Test func `enabled, the first program that asks starts it, until it is disabled`() throws {
        let scene = try ActivationScene()
        let before = try scene.run("status")
        #expect(before.status == 0)
        #expect(before.text == "enabled: no\nsecrets: no program serves them\n", "\(before.text)")
        let enabled = try scene.run("enable")
        #expect(enabled.status == 0 && enabled.errors.isEmpty, "\(enabled)")
        #expect(
            enabled.text == """
                wrote \(scene.filePath)
                enabled: yes, by \(scene.filePath)
                secrets: whoever asks first starts \(scene.programPath), of Coffer

                """
        )
        #expect(
            scene.file == """
                # Written by 'coffer secret-service enable'; 'coffer secret-service disable' removes it.
                [D-BUS Service]
                Name=org.freedesktop.secrets
                Exec=\(scene.programPath)
                SystemdService=coffer-secret-service.service

                """
        )
        let mode = try FileManager.default.attributesOfItem(atPath: scene.filePath)[.posixPermissions] as? Int
        #expect(mode == 0o644)
        let started = try scene.activate()
        #expect(started.status == 0, "\(started.errors)")
        let owner = try #require(try scene.status()["owner"]?.objectValue)
        #expect(owner["isCoffer"] == true)
        #expect(owner["program"]?.stringValue == scene.directory.appending("bin/served/coffer-secret-service"))
        let again = try scene.run("enable")
        #expect(again.status == 0 && again.errors.isEmpty && again.text.contains(", of Coffer, process "), "\(again)")

        let disabled = try scene.run("disable")
        #expect(disabled.status == 0 && disabled.text.hasPrefix("removed \(scene.filePath)\nenabled: no\n"))
        // There is no unit here to stop: the person is told.
        #expect(disabled.errors.hasPrefix(Self.warning) && disabled.errors.hasSuffix("' ends it\n"), "\(disabled)")
        #expect(scene.file == nil)
        #expect(try !scene.isActivatable())
        let twice = try scene.run("disable")
        #expect(twice.status == 0 && twice.text.hasPrefix("it was not enabled\n"), "\(twice)")
    }

    @Test func `the service of the desktop is started before it is enabled, and after it is disabled, and not between`()
        throws
    {
        let scene = try ActivationScene()
        // Not every file has the name of what it is for.
        try scene.writeForeignFile(to: scene.directory.appending("machine/dbus-1/services/desktop.service"))
        let desktop: JSONValue = ["program": "/usr/bin/false", "isCoffer": false]
        #expect(try scene.status()["started"] == desktop)
        _ = try scene.call("ReloadConfig")
        #expect(try scene.activate().status != 0)
        #expect(try scene.run("enable").status == 0)
        let own: JSONValue = ["program": .string(scene.programPath), "isCoffer": true]
        #expect(try scene.status()["started"] == own)
        #expect(try scene.activate().status == 0)
        let process = try #require(try scene.status()["owner"]?.objectValue?["pid"]?.integerValue)
        #expect(try scene.run("disable").status == 0)
        kill(Int32(process), SIGKILL)
        #expect(try settles { try scene.status()["started"] == desktop })
        #expect(try scene.isActivatable())
        #expect(try scene.activate().status != 0)
    }

    @Test func `a file that Coffer has not written stays as it is`() throws {
        let scene = try ActivationScene()
        try scene.writeForeignFile(to: scene.filePath)
        let foreign = try #require(scene.file)
        let enabled = try scene.run("enable")
        #expect(enabled.status == 73 && enabled.output.isEmpty, "\(enabled)")
        // A long path is shortened.
        #expect(
            enabled.errors.hasSuffix(
                """
                ' exists already, and is not of Coffer
                hint: move it away if another program is not to be started by it

                """
            )
        )
        #expect(scene.file == foreign)
        let status = try scene.run("status")
        #expect(status.status == 0)
        #expect(
            status.text == """
                enabled: no: \(scene.filePath) is not of Coffer
                secrets: whoever asks first starts /usr/bin/false

                """
        )
        #expect(try scene.status()["enabled"] == false)
        let disabled = try scene.run("disable")
        #expect(disabled.status == 0 && disabled.text.hasPrefix("it was not enabled\n"), "\(disabled)")
        #expect(scene.file == foreign)
    }

    @Test func `a program that has the name keeps it, and the person is told which it is and what ends it`() throws {
        let scene = try ActivationScene()
        let process = try scene.startForeignOwner()
        let python = URL(filePath: "/usr/bin/python3").resolvingSymlinksInPath().path
        let status = try scene.run("status")
        #expect(
            status.status == 0
                && status.text == "enabled: no\nsecrets: served by \(python), process \(process)\n",
            "\(status)"
        )
        let enabled = try scene.run("enable")
        #expect(enabled.status == 0 && enabled.text.contains("\nsecrets: served by \(python), process \(process)\n"))
        #expect(enabled.errors.hasPrefix(Self.warning) && enabled.errors.hasSuffix("' ends it\n"), "\(enabled)")
        let shown: JSONValue = ["pid": .integer(Int64(process)), "isCoffer": false, "program": .string(python)]
        #expect(try scene.status()["owner"] == shown)
        #expect(try scene.status()["enabled"] == true)
        // Whose it is does not matter to what it is: it is not stopped.
        #expect(try scene.run("disable").errors.isEmpty)
        #expect(try scene.status()["owner"] == shown)
        #expect(try scene.run("enable").status == 0)
        try scene.endForeignOwner()
        let own: JSONValue = ["program": .string(scene.programPath), "isCoffer": true]
        #expect(try scene.status()["started"] == own)
    }

    @Test func `without the program nothing is enabled`() throws {
        let scene = try ActivationScene()
        try FileManager.default.removeItem(atPath: scene.programPath)
        let enabled = try scene.run("enable", with: ["PATH": scene.directory.appending("tools")])
        #expect(enabled.status == 69 && enabled.output.isEmpty, "\(enabled)")
        #expect(
            enabled.errors == """
                error: there is no program coffer-secret-service
                hint: install the package of this name

                """
        )
        #expect(scene.file == nil)
    }
}
