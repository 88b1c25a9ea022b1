package import ArgumentParser

/// What the room adds to the command line.
package enum AgentVerb {
    /// The verb of the agent.
    package static var verb: any ParsableCommand.Type { SSHAgent.self }
}
