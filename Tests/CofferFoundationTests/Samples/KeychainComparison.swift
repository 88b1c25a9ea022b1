import CofferFoundation
import Foundation

// "iOS File Protection Reference", file protection vs keychain: the code comparison.

struct User: Codable {
    let name: String
}

func smallSecretsInKeychain(password: String) {
    // ✅ CORRECT: Small secrets in Keychain
    // swift-format-ignore: NeverForceUnwrap
    let passwordData = password.data(using: .utf8)!
    let query: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword,
        kSecAttrAccount as String: "userPassword",
        kSecValueData as String: passwordData,
        kSecAttrAccessible as String: kSecAttrAccessibleWhenUnlocked,
    ]
    SecItemAdd(query as CFDictionary, nil)
}

func filesWithFileProtection(user: User, fileURL: URL) throws {
    // ✅ CORRECT: Files with file protection
    let userData = try JSONEncoder().encode(user)
    try userData.write(to: fileURL, options: .completeFileProtection)
}
