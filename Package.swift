// swift-tools-version: 6.3
import PackageDescription

// One section per layer, bottom first. A target may name only targets of its own layer or below; LayeringTests holds
// the same table. Dependencies are sorted, and written one to a line once they do not fit on one.

let cEdge: [Target] = [
    .systemLibrary(name: "CFuse", pkgConfig: "fuse3", providers: [.apt(["libfuse3-dev"])]),
    .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
    .target(name: "CCofferShims"),
    .target(name: "CLogWriter", dependencies: ["CSQLite"]),
]

let foundations: [Target] = [
    .target(name: "CofferCore"),
    .target(name: "CofferMemory", dependencies: ["CofferCore", "CSodium"]),
    .target(name: "CofferSystem", dependencies: ["CCofferShims", "CofferCore"]),
    .target(name: "CofferProcesses", dependencies: ["CCofferShims", "CofferSystem"]),
]

let mechanisms: [Target] = [
    .target(name: "CofferCrypto", dependencies: ["CofferCore", "CofferMemory", "CSodium"]),
    .target(name: "CofferDatabase", dependencies: ["CLogWriter", "CofferCore", "CSQLite"]),
    .target(name: "CofferWire", dependencies: ["CofferCore", "CofferMemory"]),
]

let domain: [Target] = [
    .target(name: "CofferKeys", dependencies: ["CofferCore", "CofferCrypto", "CofferMemory", "CofferSystem"]),
    .target(
        name: "CofferKeychain",
        dependencies: ["CofferCore", "CofferCrypto", "CofferDatabase", "CofferKeys", "CofferMemory"]
    ),
    .target(name: "CofferChunks", dependencies: ["CofferCore", "CofferCrypto", "CofferMemory", "CofferSystem"]),
    .target(
        name: "CofferNodes",
        dependencies: ["CofferChunks", "CofferCore", "CofferCrypto", "CofferDatabase", "CofferKeys"]
    ),
    .target(
        name: "CofferFiles",
        dependencies: [
            "CofferChunks", "CofferCore", "CofferCrypto", "CofferDatabase", "CofferKeys", "CofferMemory",
            "CofferNodes", "CofferSystem", "CofferTrash",
        ]
    ),
    .target(
        name: "CofferAccess",
        dependencies: ["CofferCore", "CofferCrypto", "CofferDatabase", "CofferKeys", "CofferMemory"]
    ),
    .target(
        name: "CofferTrash",
        dependencies: ["CofferCore", "CofferCrypto", "CofferDatabase", "CofferKeys", "CofferMemory"]
    ),
    .target(name: "CofferRouting", dependencies: ["CofferCore"]),
    .target(
        name: "CofferVault",
        dependencies: [
            "CofferAccess",
            "CofferChunks",
            "CofferCore",
            "CofferDatabase",
            "CofferFiles",
            "CofferKeychain",
            "CofferKeys",
            "CofferMemory",
            "CofferRouting",
            "CofferSystem",
            "CofferTrash",
            "CofferWire",
        ]
    ),
    .target(
        name: "CofferFileHandlers",
        dependencies: [
            "CofferAccess", "CofferChunks", "CofferCore", "CofferFiles", "CofferKeychain", "CofferKeys",
            "CofferMemory", "CofferNodes", "CofferSystem", "CofferVault", "CofferWire",
        ]
    ),
    .target(
        name: "CofferHandlers",
        dependencies: [
            "CofferAccess", "CofferChunks", "CofferCore", "CofferDatabase", "CofferFileHandlers", "CofferFiles",
            "CofferKeychain", "CofferKeys", "CofferMemory", "CofferRouting", "CofferSystem", "CofferTrash",
            "CofferVault", "CofferWire",
        ]
    ),
]

let edges: [Target] = [
    .target(
        name: "CofferService",
        dependencies: [
            "CofferAccess", "CofferCore", "CofferFileHandlers", "CofferFiles", "CofferHandlers", "CofferKeychain",
            "CofferKeys", "CofferMemory", "CofferRouting", "CofferSystem", "CofferTrash", "CofferVault", "CofferWire",
        ]
    ),
    .target(name: "CofferBus", dependencies: ["CofferCore", "CofferSystem", "CSystemd"]),
    .target(name: "CofferClient", dependencies: ["CofferCore", "CofferMemory", "CofferSystem", "CofferWire"]),
    .target(
        name: "CofferBackup",
        dependencies: ["CofferCore", "CofferCrypto", "CofferMemory", "CofferProcesses", "CofferSystem"]
    ),
    .target(
        name: "CofferFoundation",
        dependencies: ["CofferClient", "CofferCore", "CofferMemory", "CofferSystem", "CofferWire"]
    ),
    .target(
        name: "CofferMount",
        dependencies: [
            "CFuse", "CofferClient", "CofferCore", "CofferMemory", "CofferProcesses", "CofferSystem", "CofferWire",
        ]
    ),
    .target(
        name: "CofferContents",
        dependencies: ["CofferClient", "CofferCore", "CofferCrypto", "CofferMemory", "CofferRouting", "CofferWire"]
    ),
    .target(
        name: "CofferExchange",
        dependencies: ["CofferClient", "CofferContents", "CofferCore", "CofferCrypto", "CofferMemory"]
    ),
    .target(
        name: "CofferTerminal",
        dependencies: [
            "CofferClient",
            "CofferCore",
            "CofferMemory",
            "CofferProcesses",
            "CofferSystem",
            "CofferWire",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ]
    ),
    .target(
        name: "CofferSession",
        dependencies: [
            "CofferClient",
            "CofferContents",
            "CofferCore",
            "CofferMemory",
            "CofferProcesses",
            "CofferSystem",
            "CofferTerminal",
            "CofferWire",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ]
    ),
    .target(
        name: "CofferPrograms",
        dependencies: [
            "CofferClient",
            "CofferContents",
            "CofferMemory",
            "CofferProcesses",
            "CofferSession",
            "CofferSystem",
            "CofferTerminal",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ]
    ),
    .target(
        name: "CofferSSHAgent",
        dependencies: [
            "CofferClient",
            "CofferContents",
            "CofferCore",
            "CofferCrypto",
            "CofferMemory",
            "CofferProcesses",
            "CofferSession",
            "CofferSystem",
            "CofferTerminal",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ]
    ),
    .target(
        name: "CofferAdministration",
        dependencies: [
            "CofferBackup",
            "CofferClient",
            "CofferContents",
            "CofferCore",
            "CofferMemory",
            "CofferProcesses",
            "CofferSession",
            "CofferSystem",
            "CofferTerminal",
            "CofferWire",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ]
    ),
    .target(
        name: "CofferImportExport",
        dependencies: [
            "CofferClient",
            "CofferContents",
            "CofferExchange",
            "CofferMemory",
            "CofferProcesses",
            "CofferPrograms",
            "CofferSession",
            "CofferSystem",
            "CofferTerminal",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ]
    ),
    .target(
        name: "CofferBackupCommands",
        dependencies: [
            "CofferAdministration",
            "CofferBackup",
            "CofferClient",
            "CofferCore",
            "CofferMemory",
            "CofferSession",
            "CofferSystem",
            "CofferTerminal",
            "CofferWire",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ]
    ),
    .target(
        name: "CofferSafetyCommands",
        dependencies: [
            "CofferClient",
            "CofferContents",
            "CofferCore",
            "CofferMemory",
            "CofferProcesses",
            "CofferSession",
            "CofferSystem",
            "CofferTerminal",
            "CofferWire",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ]
    ),
    .target(
        name: "CofferCommands",
        dependencies: [
            "CofferAdministration",
            "CofferBackupCommands",
            "CofferClient",
            "CofferContents",
            "CofferCore",
            "CofferCrypto",
            "CofferImportExport",
            "CofferMemory",
            "CofferProcesses",
            "CofferPrograms",
            "CofferSafetyCommands",
            "CofferSession",
            "CofferSSHAgent",
            "CofferSystem",
            "CofferTerminal",
            "CofferWire",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ]
    ),
]

// Without symbols for libraries to find, which there are none of, what is unused is left out. Relocations that only add
// the address of the program take a bit each, not 24 bytes. The runtimes of C and C++ are linked in, as Swift's is.
let link = "\(Context.packageDirectory)/packaging/link"
let small = [
    LinkerSetting.unsafeFlags([
        "-use-ld=lld", "-Xlinker", "--no-export-dynamic", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
    ]),
    .unsafeFlags(["-L", link, "-Xclang-linker", "-static-libgcc"], .when(configuration: .release)),
]

// What runs at a start and in an ordinary request lies together, which saves pages and faults: packaging/order.
func ordered(_ program: String) -> LinkerSetting {
    .unsafeFlags(
        [
            "-Xlinker", "--symbol-ordering-file=\(link)/\(program).order", "-Xlinker", "--no-warn-symbol-ordering",
            "-Xlinker", "--script=\(link)/private.ld",
        ],
        .when(configuration: .release)
    )
}

let programs: [Target] = [
    .executableTarget(name: "coffer", dependencies: ["CofferCommands"], linkerSettings: small + [ordered("coffer")]),
    .executableTarget(name: "coffer-mount", dependencies: ["CofferMount"], linkerSettings: small),
    .executableTarget(
        name: "cofferd",
        dependencies: ["CofferBus", "CofferCore", "CofferMemory", "CofferService", "CofferSystem", "CSystemd"],
        // Nothing is bound later, when the dynamic linker would save registers that may hold secrets on the stack.
        linkerSettings: [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"])] + small + [ordered("cofferd")]
    ),
]

func roomTests(_ room: Target) -> Target {
    .testTarget(
        name: "\(room.name)Tests",
        dependencies: room.dependencies + [.byName(name: room.name), "CofferTestSupport"]
    )
}

let tests: [Target] =
    [
        .target(name: "CBenchmarks", dependencies: ["CSodium", "CSQLite"], path: "Tests/CBenchmarks"),
        .target(
            name: "CofferTestSupport",
            dependencies: [
                "CofferAccess", "CofferClient", "CofferCore", "CofferFiles", "CofferHandlers", "CofferKeys",
                "CofferMemory", "CofferRouting", "CofferService", "CofferSystem", "CofferVault", "CofferWire",
            ],
            path: "Tests/CofferTestSupport"
        ),
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                "CBenchmarks", "CCofferShims", "CofferBackup", "CofferCore", "CofferCrypto", "cofferd", "CofferMemory",
                "CofferService", "CofferSystem", "CofferVault", "CofferWire",
            ],
            path: "Tests/Benchmarks"
        ),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "CofferAccess", "CofferBackup", "CofferChunks", "CofferClient", "CofferContents", "CofferCore",
                "CofferCrypto", "CofferDatabase", "CofferExchange", "CofferFiles", "CofferKeychain", "CofferKeys",
                "CofferMemory", "CofferNodes", "CofferRouting", "CofferService", "CofferSSHAgent", "CofferSystem",
                "CofferVault", "CofferWire",
            ],
            path: "Tests/FuzzTargets"
        ),
        .testTarget(name: "FuzzTests", dependencies: ["CofferTestSupport", "FuzzTargets"]),
        .executableTarget(
            name: "client-example",
            dependencies: ["CofferClient", "CofferCore", "CofferWire"],
            path: "proto-docs/examples/swift"
        ),
        .executableTarget(
            name: "campaigns",
            dependencies: [
                "CofferClient", "cofferd", "CofferCore", "CofferMemory", "CofferSystem", "CofferTestSupport",
                "CofferWire", "CSQLite",
            ],
            path: "Tests/Campaigns"
        ),
        .testTarget(name: "CampaignTests", dependencies: ["campaigns", "cofferd", "CofferTestSupport"]),
        .testTarget(name: "LayeringTests", dependencies: ["CofferTestSupport"]),
        .testTarget(
            name: "DocumentTests",
            dependencies: [
                "benchmarks", "client-example", "coffer", "CofferCore", "CofferCrypto", "cofferd", "CofferExchange",
                "CofferFoundation", "CofferHandlers", "CofferKeys", "CofferService", "CofferSystem", "CofferTerminal",
                "CofferTestSupport", "CofferVault", "CofferWire",
            ]
        ),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "benchmarks", "CCofferShims", "coffer", "cofferd", "CofferClient", "CofferCore", "CofferCrypto",
                "CofferDatabase",
                "CofferMemory", "CofferSystem", "CofferTestSupport", "CofferWire", "CSodium",
            ]
        ),
        .testTarget(
            name: "MountTests",
            dependencies: ["CFuse", "coffer", "coffer-mount", "cofferd", "CofferFoundation", "CofferTestSupport"]
        ),
        .testTarget(name: "SystemdTests", dependencies: ["coffer", "cofferd", "CofferTestSupport"]),
    ]
    + (foundations + mechanisms + domain + edges).map(roomTests)

/// The fuzzer has the `main` of libFuzzer: it links with its sanitizer only, which `packaging/fuzz` sees to.
let fuzzer: [Target] =
    Context.environment["COFFER_FUZZ"] == nil
    ? [] : [.executableTarget(name: "fuzzer", dependencies: ["FuzzTargets"], path: "Tests/Fuzzer")]

// The rooms without processes, and what their tests need: `packaging/test --sanitize` looks through them.
let sanitized: [Target]? =
    Context.environment["COFFER_SANITIZE"] == nil
    ? nil
    : cEdge + foundations + mechanisms + domain
        + edges.filter { ["CofferClient", "CofferService"].contains($0.name) }
        + tests.filter { $0.name == "CofferTestSupport" } + (foundations + mechanisms + domain).map(roomTests)
        + [.target(name: "CSanitizer", path: "Tests/CSanitizer")]
for target in sanitized ?? [] where target.name == "CofferTestSupport" { target.dependencies.append("CSanitizer") }

let package = Package(
    name: "coffer",
    products: sanitized != nil
        ? []
        : [
            .library(name: "CofferClient", targets: ["CofferClient", "CofferCore", "CofferWire"]),
            .library(name: "CofferFoundation", targets: ["CofferFoundation"]),
            .executable(name: "coffer", targets: ["coffer"]),
            .executable(name: "coffer-mount", targets: ["coffer-mount"]),
            .executable(name: "cofferd", targets: ["cofferd"]),
        ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
    ],
    targets: sanitized ?? cEdge + foundations + mechanisms + domain + edges + programs + tests + fuzzer,
    swiftLanguageModes: [.v6]
)

// Unused functions are left out. Types are asked for by their functions and not by their names, which the runtime would
// read, and then search all conformances of the program for what generic types demand.
let lean = SwiftSetting.unsafeFlags(
    ["-Xfrontend", "-function-sections", "-Xfrontend", "-disable-concrete-type-metadata-mangled-name-accessors"],
    .when(configuration: .release)
)

let cTargets = ["CBenchmarks", "CCofferShims", "CLogWriter", "CSanitizer"]

// One set of language rules for every Swift target. Tests are exempt from strict memory safety because the test macros
// expand inside them.
for target in package.targets where target.type != .system && !cTargets.contains(target.name) {
    var settings: [SwiftSetting] = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("ImmutableWeakCaptures"),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .treatAllWarnings(as: .error),
        lean,
    ]
    if target.type != .test && !["campaigns", "CofferTestSupport", "fuzzer", "FuzzTargets"].contains(target.name) {
        settings.append(.strictMemorySafety())
    }
    // For the answers of `MethodHandler`, which carry secrets and so are not copied.
    if target.name == "CofferWire" { settings.append(.enableExperimentalFeature("SuppressedAssociatedTypes")) }
    target.swiftSettings = settings
}
