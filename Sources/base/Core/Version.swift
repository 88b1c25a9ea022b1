/// The version of this build and of the protocol that it speaks.
public enum Version {
    /// The version of the programs.
    public static let program = "0.1.0"
    /// The version of the protocol: raised when an old peer would misread a new one.
    public static let protocolNumber = 1
}
