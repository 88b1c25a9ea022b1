// swift-tools-version: 6.3
import PackageDescription

// A section is a layer and a folder of Sources, bottom first; a target is a folder of its layer, without its prefix. What
// a target names here is what it imports; LayeringTests checks that. Dependencies are sorted.

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

let c: [Target] = [
    .systemLibrary(name: "CKernelFiles"),
    .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
    .target(name: "CCofferShims"),
    .target(name: "CLogWriter", dependencies: ["CSQLite"]),
]

let base: [Target] = [
    .target(name: "CofferCore"),
    .target(name: "CofferMemory", dependencies: ["CofferCore", "CSodium"]),
    .target(name: "CofferSystem", dependencies: ["CCofferShims", "CofferCore"]),
    .target(name: "CofferProcesses", dependencies: ["CCofferShims", "CofferSystem"]),
    .target(name: "CofferBus", dependencies: ["CofferCore", "CofferMemory", "CofferSystem", "CSystemd"]),
    .target(name: "CofferCrypto", dependencies: ["CofferCore", "CofferMemory", "CSodium"]),
    .target(name: "CofferDatabase", dependencies: ["CLogWriter", "CofferCore", "CSQLite"]),
    .target(name: "CofferWire", dependencies: ["CofferCore", "CofferMemory"]),
]

let vault: [Target] = [
    .target(name: "CofferKeys", dependencies: ["CofferCore", "CofferCrypto", "CofferMemory", "CofferSystem"]),
    .target(
        name: "CofferPast",
        dependencies: ["CofferCore", "CofferCrypto", "CofferDatabase", "CofferKeys", "CofferMemory"]
    ),
    .target(
        name: "CofferKeychain",
        dependencies: ["CofferCore", "CofferCrypto", "CofferDatabase", "CofferKeys", "CofferMemory", "CofferPast"]
    ),
    .target(name: "CofferFileContent", dependencies: ["CofferCore", "CofferCrypto", "CofferMemory", "CofferSystem"]),
    .target(
        name: "CofferFiles",
        dependencies: [
            "CofferCore", "CofferCrypto", "CofferDatabase", "CofferFileContent", "CofferKeys", "CofferMemory",
            "CofferPast", "CofferSystem",
        ]
    ),
    .target(
        name: "CofferRights",
        dependencies: ["CofferCore", "CofferCrypto", "CofferDatabase", "CofferKeys", "CofferMemory"]
    ),
    .target(
        name: "CofferAudit",
        dependencies: ["CofferCore", "CofferCrypto", "CofferDatabase", "CofferKeys", "CofferMemory"]
    ),
    .target(name: "CofferRouting", dependencies: ["CofferCore"]),
    .target(
        name: "CofferVault",
        dependencies: [
            "CofferAudit", "CofferCore", "CofferDatabase", "CofferFileContent", "CofferFiles", "CofferKeychain",
            "CofferKeys", "CofferMemory", "CofferPast", "CofferRights", "CofferRouting", "CofferSystem", "CofferWire",
        ]
    ),
    .target(
        name: "CofferHandlers",
        dependencies: [
            "CofferAudit", "CofferCore", "CofferDatabase", "CofferFileContent", "CofferFiles", "CofferKeychain",
            "CofferKeys", "CofferMemory", "CofferPast", "CofferRights", "CofferRouting", "CofferSystem", "CofferVault",
            "CofferWire",
        ]
    ),
]

let daemon: [Target] = [
    .target(
        name: "CofferKernelFiles",
        dependencies: [
            "CKernelFiles", "CofferCore", "CofferFiles", "CofferHandlers", "CofferKeys", "CofferMemory", "CofferSystem",
            "CofferVault", "CofferWire",
        ]
    ),
    .target(
        name: "CofferService",
        dependencies: [
            "CofferAudit", "CofferCore", "CofferFiles", "CofferHandlers", "CofferKernelFiles", "CofferKeychain",
            "CofferKeys", "CofferMemory", "CofferRights", "CofferRouting", "CofferSystem", "CofferVault", "CofferWire",
        ]
    ),
    .target(name: "CofferLogind", dependencies: ["CofferBus", "CofferCore", "CofferSystem", "CSystemd"]),
]

let client: [Target] = [
    .target(name: "CofferClient", dependencies: ["CofferCore", "CofferMemory", "CofferSystem", "CofferWire"]),
    .target(
        name: "CofferFoundation",
        dependencies: ["CofferClient", "CofferCore", "CofferSystem", "CofferWire"]
    ),
]

let desktop: [Target] = [
    .target(
        name: "CofferPrompter",
        dependencies: ["CofferClient", "CofferCore", "CofferMemory", "CofferProcesses", "CofferSystem"]
    ),
    .target(
        name: "CofferSecretService",
        dependencies: [
            "CofferBus", "CofferClient", "CofferCrypto", "CofferMemory", "CofferPrompter", "CofferSystem",
        ]
    ),
]

let cli: [Target] = [
    .target(
        name: "CofferTerminal",
        dependencies: [
            "CofferClient", "CofferCore", "CofferMemory", "CofferProcesses", "CofferSystem", "CofferWire",
            argumentParser,
        ]
    ),
    .target(
        name: "CofferSecretFormats",
        dependencies: ["CofferClient", "CofferCore", "CofferCrypto", "CofferMemory", "CofferWire"]
    ),
    .target(
        name: "CofferCommandSupport",
        dependencies: [
            "CofferClient", "CofferCore", "CofferProcesses", "CofferSecretFormats", "CofferSystem", "CofferTerminal",
            "CofferWire", argumentParser,
        ]
    ),
    .target(
        name: "CofferBackup",
        dependencies: ["CofferCore", "CofferCrypto", "CofferMemory", "CofferProcesses", "CofferSystem"]
    ),
    .target(
        name: "CofferBackupCommands",
        dependencies: [
            "CofferBackup", "CofferClient", "CofferCommandSupport", "CofferCore", "CofferMemory", "CofferProcesses",
            "CofferSystem", "CofferTerminal", "CofferWire", argumentParser,
        ]
    ),
    .target(
        name: "CofferProvision",
        dependencies: [
            "CofferClient", "CofferCommandSupport", "CofferMemory", "CofferProcesses", "CofferSecretFormats",
            "CofferSystem", "CofferTerminal", argumentParser,
        ]
    ),
    .target(
        name: "CofferImportExport",
        dependencies: [
            "CofferClient", "CofferCommandSupport", "CofferCrypto", "CofferMemory", "CofferProcesses",
            "CofferProvision", "CofferSecretFormats", "CofferSystem", "CofferTerminal", argumentParser,
        ]
    ),
    .target(
        name: "CofferSSHAgent",
        dependencies: [
            "CofferClient", "CofferCommandSupport", "CofferCore", "CofferCrypto", "CofferMemory", "CofferProcesses",
            "CofferPrompter", "CofferSecretFormats", "CofferSystem", "CofferTerminal", argumentParser,
        ]
    ),
    .target(
        name: "CofferVaultCommands",
        dependencies: [
            "CofferBackup", "CofferBackupCommands", "CofferClient", "CofferCommandSupport", "CofferCore",
            "CofferMemory", "CofferProcesses", "CofferPrompter", "CofferSecretFormats", "CofferSystem",
            "CofferTerminal", "CofferWire", argumentParser,
        ]
    ),
    .target(
        name: "CofferCommands",
        dependencies: [
            "CofferBackupCommands", "CofferClient", "CofferCommandSupport", "CofferCore", "CofferCrypto",
            "CofferImportExport", "CofferMemory", "CofferProcesses", "CofferProvision", "CofferSecretFormats",
            "CofferSSHAgent", "CofferSystem", "CofferTerminal", "CofferVaultCommands", "CofferWire", argumentParser,
        ]
    ),
]

// Links the runtime of Swift into a released program. With `--static-swift-stdlib`, SwiftPM would compile the tests for that
// as well, and the toolchain has no Swift Testing to link in. So the archives of Foundation are named here.
let archives = ["CoreFoundation", "_FoundationCShims", "_FoundationCollections", "_FoundationICU"]
let runtime = LinkerSetting.unsafeFlags(
    ["-static-stdlib"] + archives.map { "-l\($0)" },
    .when(configuration: .release)
)

// Without symbols for libraries to find, which there are none of, what is unused is left out. Relocations that only add
// the address of the program take a bit each, not 24 bytes. The runtimes of C and C++ are linked in, too.
let link = "\(Context.packageDirectory)/packaging/link"
let small = [
    LinkerSetting.unsafeFlags([
        "-use-ld=lld", "-Xlinker", "--no-export-dynamic", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
    ]),
    .unsafeFlags(["-L", link, "-Xclang-linker", "-static-libgcc"], .when(configuration: .release)),
    runtime,
]

/// Puts together what runs at a start and in an ordinary request, which saves pages and faults: `packaging/deb` links the
/// programs so, by the files of `packaging/tools/order`.
func ordered(_ program: String) -> [LinkerSetting] {
    guard let orders = Context.environment["COFFER_ORDER"] else { return [] }
    let flags = [
        "-Xlinker", "--symbol-ordering-file=\(orders)/\(program).order", "-Xlinker", "--no-warn-symbol-ordering",
        "-Xlinker", "--script=\(link)/private.ld",
    ]
    return [.unsafeFlags(flags, .when(configuration: .release))]
}

let programs: [Target] = [
    .executableTarget(name: "coffer", dependencies: ["CofferCommands"], linkerSettings: small + ordered("coffer")),
    .executableTarget(
        name: "coffer-secret-service",
        dependencies: [
            "CofferClient", "CofferCommandSupport", "CofferMemory", "CofferSecretService", "CofferSystem",
            "CofferTerminal", argumentParser,
        ],
        linkerSettings: small
    ),
    .executableTarget(
        name: "cofferd",
        dependencies: ["CofferCore", "CofferLogind", "CofferMemory", "CofferService", "CofferSystem", "CSystemd"],
        // Nothing is bound later, when the dynamic linker would save registers that may hold secrets on the stack.
        linkerSettings: [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"])] + small + ordered("cofferd")
    ),
]

let layers = [
    "c": c, "base": base, "vault": vault, "daemon": daemon, "client": client, "desktop": desktop, "cli": cli,
    "programs": programs,
]
for (layer, targets) in layers {
    for target in targets {
        let folder = target.name.hasPrefix("Coffer") ? target.name.dropFirst("Coffer".count) : target.name[...]
        target.path = "Sources/\(layer)/\(folder)"
    }
}

func roomTests(_ room: Target) -> Target {
    .testTarget(
        name: "\(room.name)Tests",
        dependencies: room.dependencies + [.byName(name: room.name), "CofferTestSupport"]
    )
}

let tests: [Target] =
    [
        .target(name: "CBenchmarks", dependencies: ["CLogWriter", "CSodium", "CSQLite"], path: "Tests/CBenchmarks"),
        .target(
            name: "CofferTestSupport",
            dependencies: [
                "CofferAudit", "CofferClient", "CofferCore", "CofferFiles", "CofferHandlers", "CofferKeys",
                "CofferMemory", "CofferRights", "CofferRouting", "CofferService", "CofferSystem", "CofferVault",
                "CofferWire",
            ],
            path: "Tests/CofferTestSupport"
        ),
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                "CBenchmarks", "CCofferShims", "CofferBackup", "CofferCore", "CofferCrypto", "cofferd",
                "CofferDatabase", "CofferMemory", "CofferService", "CofferSystem", "CofferVault", "CofferWire",
            ],
            path: "Tests/Benchmarks",
            linkerSettings: [runtime]
        ),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "CofferAudit", "CofferBackup", "CofferClient", "CofferCore", "CofferCrypto", "CofferDatabase",
                "CofferFileContent", "CofferFiles", "CofferImportExport", "CofferKeychain", "CofferKeys",
                "CofferMemory", "CofferRights", "CofferRouting", "CofferSecretFormats", "CofferService",
                "CofferSSHAgent", "CofferSystem", "CofferVault", "CofferWire",
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
                "CofferClient", "CofferCore", "cofferd", "CofferMemory", "CofferSystem", "CofferTestSupport",
                "CofferWire", "CSQLite",
            ],
            path: "Tests/Campaigns"
        ),
        .testTarget(name: "CampaignTests", dependencies: ["CofferTestSupport"]),
        .testTarget(name: "LayeringTests", dependencies: ["CofferTestSupport"]),
        .testTarget(
            name: "DocumentTests",
            dependencies: [
                "CofferCore", "CofferCrypto", "CofferFoundation", "CofferHandlers", "CofferImportExport", "CofferKeys",
                "CofferService", "CofferSystem", "CofferTerminal", "CofferTestSupport", "CofferVault", "CofferWire",
            ]
        ),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "CCofferShims", "CofferClient", "CofferCore", "CofferCrypto", "CofferDatabase", "CofferMemory",
                "CofferSystem", "CofferTestSupport", "CofferWire", "CSodium",
            ]
        ),
        .testTarget(
            name: "MountTests",
            dependencies: [
                "CCofferShims", "CofferClient", "CofferCore", "CofferFoundation", "CofferTestSupport", "CofferWire",
            ]
        ),
        .testTarget(name: "SystemdTests", dependencies: ["CofferTestSupport"]),
    ]
    + (base + vault + daemon + client + desktop + cli).map(roomTests)

/// The fuzzer has the `main` of libFuzzer: it links with its sanitizer only, which `packaging/tools/fuzz` sees to.
let fuzzer: [Target] =
    Context.environment["COFFER_FUZZ"] == nil
    ? [] : [.executableTarget(name: "fuzzer", dependencies: ["FuzzTargets"], path: "Tests/Fuzzer")]

// The rooms without processes, and what their tests need: `packaging/test --sanitize` looks through them.
let sanitized: [Target]? =
    Context.environment["COFFER_SANITIZE"] == nil
    ? nil
    : c + base + vault
        + (daemon + client).filter { ["CofferClient", "CofferKernelFiles", "CofferService"].contains($0.name) }
        + tests.filter { $0.name == "CofferTestSupport" } + (base + vault).map(roomTests)
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
            .executable(name: "coffer-secret-service", targets: ["coffer-secret-service"]),
            .executable(name: "cofferd", targets: ["cofferd"]),
        ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
    ],
    targets: sanitized ?? c + base + vault + daemon + client + desktop + cli + programs + tests + fuzzer,
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
    let isOfTests = ["campaigns", "CofferTestSupport", "fuzzer", "FuzzTargets"].contains(target.name)
    if target.type == .test || isOfTests {
        settings.append(.unsafeFlags(["-Onone"], .when(configuration: .release)))
    } else {
        settings.append(.strictMemorySafety())
    }
    // For the answers of `MethodHandler`, which carry secrets and so are not copied.
    if target.name == "CofferWire" { settings.append(.enableExperimentalFeature("SuppressedAssociatedTypes")) }
    target.swiftSettings = settings
}
