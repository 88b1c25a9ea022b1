public import ArgumentParser
internal import CofferSecretFormats
public import CofferCore
internal import CofferWire

extension PasscodeCost: ExpressibleByArgument {}
extension ItemKind: ExpressibleByArgument {}
extension Scenario: ExpressibleByArgument {}
extension ProtectionClass: ExpressibleByArgument {}
extension Accessibility: ExpressibleByArgument {}
extension StoreName: ExpressibleByArgument {}
extension VaultState: ExpressibleByArgument {}
extension KeyType: ExpressibleByArgument {}
extension SignatureDigest: ExpressibleByArgument {}
extension KeychainOrder: ExpressibleByArgument {}
extension KeyFormat: ExpressibleByArgument {}
