internal import CofferSystem
import Foundation

/// A message bus of its own, which starts no program: nobody but the tests answers on it.
package final class SessionBus {
    private let directory: TemporaryDirectory
    private let process: Process

    /// Starts a bus, and waits until it listens.
    package init() throws {
        directory = try TemporaryDirectory()
        let configuration = """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>unix:path=\(directory.appending("bus"))</listen>
              <auth>EXTERNAL</auth>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
            </busconfig>
            """
        let path = try directory.write(configuration.utf8, to: "bus.conf")
        process = Process()
        process.executableURL = URL(filePath: "/usr/bin/dbus-daemon")
        process.arguments = ["--nofork", "--nopidfile", "--config-file=\(path)"]
        process.environment = ["PATH": "/usr/bin:/bin"]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let socket = directory.appending("bus")
        let listens = settles { !process.isRunning || (try? UnixSocket.connect(to: socket)) != nil }
        guard listens, process.isRunning else { throw POSIXError(.ECHILD) }
    }

    deinit { end() }

    /// Its address, as `$DBUS_SESSION_BUS_ADDRESS` has it.
    package var address: String { "unix:path=\(directory.appending("bus"))" }

    /// Ends it: all connections to it break.
    package func end() {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Asks the bus itself.
    ///
    /// - Returns: What it answers, as text; `nil` for an error.
    package func ask(_ method: String, _ argument: String) -> String? {
        let words = [
            "--bus=\(address)", "--print-reply=literal", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus",
            "org.freedesktop.DBus.\(method)", "string:\(argument)",
        ]
        guard let result = try? runCommand("/usr/bin/dbus-send", words), result.status == 0 else { return nil }
        return result.text.split { " \n".contains($0) }.last.map(String.init)
    }
}
