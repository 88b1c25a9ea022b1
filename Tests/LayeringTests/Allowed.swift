/// What each room may import of this package's targets and products.
///
/// This table is the architecture, and the same as in Package.swift. Changing it is a design decision.
let allowedTargets: [String: Set<String>] = [
    "CofferCore": [],
    "CofferMemory": ["CofferCore", "CSodium"],
    "CofferSystem": ["CCofferShims", "CofferCore"],
    "CofferProcesses": ["CCofferShims", "CofferSystem"],

    "CofferCrypto": ["CofferCore", "CofferMemory", "CSodium"],
    "CofferDatabase": ["CLogWriter", "CofferCore", "CSQLite"],
    "CofferWire": ["CofferCore", "CofferMemory"],

    "CofferKeys": ["CofferCore", "CofferCrypto", "CofferMemory", "CofferSystem"],
    "CofferKeychain": ["CofferCore", "CofferCrypto", "CofferDatabase", "CofferKeys", "CofferMemory"],
    "CofferChunks": ["CofferCore", "CofferCrypto", "CofferMemory", "CofferSystem"],
    "CofferNodes": ["CofferChunks", "CofferCore", "CofferCrypto", "CofferDatabase", "CofferKeys"],
    "CofferFiles": [
        "CofferChunks", "CofferCore", "CofferCrypto", "CofferDatabase", "CofferKeys", "CofferMemory", "CofferNodes",
        "CofferSystem", "CofferTrash",
    ],
    "CofferAccess": ["CofferCore", "CofferCrypto", "CofferDatabase", "CofferKeys", "CofferMemory"],
    "CofferTrash": ["CofferCore", "CofferCrypto", "CofferDatabase", "CofferKeys", "CofferMemory"],
    "CofferRouting": ["CofferCore"],

    "CofferVault": [
        "CofferAccess", "CofferChunks", "CofferCore", "CofferDatabase", "CofferFiles", "CofferKeychain", "CofferKeys",
        "CofferMemory", "CofferRouting", "CofferSystem", "CofferTrash", "CofferWire",
    ],
    "CofferFileHandlers": [
        "CofferAccess", "CofferChunks", "CofferCore", "CofferFiles", "CofferKeychain", "CofferKeys", "CofferMemory",
        "CofferNodes", "CofferSystem", "CofferVault", "CofferWire",
    ],
    "CofferHandlers": [
        "CofferAccess", "CofferChunks", "CofferCore", "CofferDatabase", "CofferFileHandlers", "CofferFiles",
        "CofferKeychain", "CofferKeys", "CofferMemory", "CofferRouting", "CofferSystem", "CofferTrash", "CofferVault",
        "CofferWire",
    ],

    "CofferService": [
        "CofferAccess", "CofferCore", "CofferFileHandlers", "CofferFiles", "CofferHandlers", "CofferKeychain",
        "CofferKeys", "CofferMemory", "CofferRouting", "CofferSystem", "CofferTrash", "CofferVault", "CofferWire",
    ],
    "CofferBus": ["CofferCore", "CofferSystem", "CSystemd"],
    "CofferClient": ["CofferCore", "CofferMemory", "CofferSystem", "CofferWire"],
    "CofferBackup": ["CofferCore", "CofferCrypto", "CofferMemory", "CofferProcesses", "CofferSystem"],
    "CofferFoundation": ["CofferClient", "CofferCore", "CofferMemory", "CofferSystem", "CofferWire"],

    "CofferMount": [
        "CFuse", "CofferClient", "CofferCore", "CofferMemory", "CofferProcesses", "CofferSystem", "CofferWire",
    ],
    "CofferContents": [
        "CofferClient", "CofferCore", "CofferCrypto", "CofferMemory", "CofferRouting", "CofferWire",
    ],
    "CofferExchange": ["CofferClient", "CofferContents", "CofferCore", "CofferCrypto", "CofferMemory"],
    "CofferTerminal": [
        "ArgumentParser", "CofferClient", "CofferCore", "CofferMemory", "CofferProcesses", "CofferSystem", "CofferWire",
    ],
    "CofferSession": [
        "ArgumentParser", "CofferClient", "CofferContents", "CofferCore", "CofferMemory", "CofferProcesses",
        "CofferSystem", "CofferTerminal", "CofferWire",
    ],
    "CofferPrograms": [
        "ArgumentParser", "CofferClient", "CofferContents", "CofferMemory", "CofferProcesses", "CofferSession",
        "CofferSystem", "CofferTerminal",
    ],
    "CofferSSHAgent": [
        "ArgumentParser", "CofferClient", "CofferContents", "CofferCore", "CofferCrypto", "CofferMemory",
        "CofferProcesses", "CofferSession", "CofferSystem", "CofferTerminal",
    ],
    "CofferAdministration": [
        "CofferBackup",
        "ArgumentParser", "CofferClient", "CofferContents", "CofferCore", "CofferMemory", "CofferProcesses",
        "CofferSession", "CofferSystem", "CofferTerminal", "CofferWire",
    ],
    "CofferImportExport": [
        "ArgumentParser", "CofferClient", "CofferContents", "CofferExchange", "CofferMemory", "CofferProcesses",
        "CofferPrograms", "CofferSession", "CofferSystem", "CofferTerminal",
    ],
    "CofferBackupCommands": [
        "ArgumentParser", "CofferAdministration", "CofferBackup", "CofferClient", "CofferCore", "CofferMemory",
        "CofferSession", "CofferSystem",
        "CofferTerminal", "CofferWire",
    ],
    "CofferSafetyCommands": [
        "ArgumentParser", "CofferClient", "CofferContents", "CofferCore", "CofferMemory", "CofferProcesses",
        "CofferSession", "CofferSystem", "CofferTerminal", "CofferWire",
    ],
    "CofferCommands": [
        "ArgumentParser", "CofferAdministration", "CofferBackupCommands", "CofferClient", "CofferContents",
        "CofferCore", "CofferCrypto", "CofferImportExport", "CofferMemory", "CofferProcesses", "CofferPrograms",
        "CofferSafetyCommands",
        "CofferSession", "CofferSSHAgent", "CofferSystem", "CofferTerminal", "CofferWire",
    ],

    "coffer": ["CofferCommands"],
    "coffer-mount": ["CofferMount"],
    "cofferd": ["CofferBus", "CofferCore", "CofferMemory", "CofferService", "CofferSystem", "CSystemd"],
]

/// Who may see a C library, whatever else the tables allow.
let soleImporters: [String: Set<String>] = [
    "CCofferShims": ["CofferProcesses", "CofferSystem"],
    "CFuse": ["CofferMount"],
    "CLogWriter": ["CofferDatabase"],
    "CSQLite": ["CofferDatabase"],
    "CSodium": ["CofferCrypto", "CofferMemory"],
    "CSystemd": ["CofferBus", "cofferd"],
]

/// Who may import a module of the system.
///
/// Only the room that implements its API may import Foundation, in any form.
let systemImporters: [String: Set<String>] = [
    // The standard library by name, for its normal forms of Unicode.
    "Swift": ["CofferKeychain"],
    "Foundation": ["CofferFoundation"],
    "Glibc": [
        "CofferAdministration", "CofferBackup", "CofferBus", "CofferChunks", "CofferCommands", "CofferContents",
        "CofferCrypto",
        "cofferd", "CofferFileHandlers", "CofferFiles", "CofferHandlers", "CofferImportExport", "CofferKeys",
        "CofferMount", "CofferProcesses", "CofferPrograms", "CofferService", "CofferSession", "CofferSSHAgent",
        "CofferSystem", "CofferTerminal", "CofferVault",
    ],
    "Synchronization": [
        "CofferBackup", "CofferChunks", "CofferClient", "CofferCrypto", "cofferd", "CofferFoundation", "CofferMemory",
        "CofferMount",
        "CofferService", "CofferSession", "CofferSystem", "CofferTerminal", "CofferVault",
    ],
]
