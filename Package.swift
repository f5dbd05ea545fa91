// swift-tools-version: 6.2
import PackageDescription

/// `Sources` has four doors, and imports point downwards only: `Verifier` knows none of the others; `Server` knows the
/// verifier; `Lab` knows both, though the mock wallet only the verifier's base; and `Tool`, the program, knows all of
/// them. What Debian has is in `Libraries`.
enum Door: String {
  case verifier = "Verifier"
  case encodings = "Verifier/Encodings"
  case server = "Server"
  case lab = "Lab"
  case libraries = "Libraries"

  func path(of name: String) -> String { "Sources/\(rawValue)/\(name)" }
}

let language: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
]

/// The fuzzer's builds (Fuzzing.md), asked for by an environment variable. Each has programs of Tests that are fuzzed;
/// those themselves are not counted.
enum FuzzBuild: String {
  /// Every module is counted, under the address sanitizer.
  case hardened = "1"
  /// The decoder and the verifier are counted, and nothing else is in the way.
  case fast
  /// Which lines were run.
  case coverage

  /// How a module of the package is compiled.
  func flags(of module: String) -> [String] {
    switch self {
    case .hardened: ["-sanitize=fuzzer,address", "-enable-testing"]
    case .fast where module == "CBOR": Self.counters
    case .fast where Self.verifier.contains(module): ["-sanitize=fuzzer", "-enable-testing"]
    case .fast: ["-enable-testing"]
    case .coverage: ["-profile-generate", "-profile-coverage-mapping", "-enable-testing"]
    }
  }

  /// How the programs that fuzz are linked: gold fails on the sanitizers' archives.
  var linking: [String] {
    switch self {
    case .hardened: ["-sanitize=fuzzer,address", "-use-ld=lld"]
    case .fast: ["-sanitize=fuzzer", "-use-ld=lld"]
    case .coverage: ["-sanitize=fuzzer", "-profile-generate", "-use-ld=lld"]
    }
  }

  private static let verifier: Set = ["COSE", "PKIX", "Mdoc", "Trust", "Presentation"]

  /// Counters without calls at every comparison, for which `-sanitize=fuzzer` has no option: they take a third of the
  /// decoder's time. Scudo changes no code, but coverage is not to be had without a sanitizer.
  private static let counters = [
    "-Xfrontend", "-sanitize=scudo", "-Xfrontend", "-sanitize-coverage=edge",
    "-Xllvm", "-sanitizer-coverage-inline-8bit-counters", "-Xllvm", "-sanitizer-coverage-pc-table",
  ]
}

let fuzzing = Context.environment["MDOC_FUZZ"].map { FuzzBuild(rawValue: $0) ?? .hardened }

func strict(_ module: String) -> [SwiftSetting] {
  language + (fuzzing.map { [.unsafeFlags($0.flags(of: module))] } ?? [])
}

/// Tests are not what that build is for: neither counted nor optimised, they are compiled in half the time. SwiftPM makes
/// nothing testable in a release build that another flag did not ask for.
let testing = language + (fuzzing != nil ? [.unsafeFlags(["-Onone", "-enable-testing"])] : [])

/// Whether another package has this one as a dependency: SwiftPM then unpacks it in one of these folders.
let isDependency = ["/checkouts/", "/registry/downloads/"].contains { Context.packageDirectory.contains($0) }

/// What optimises debug builds of a module that computes too much to be run without. SwiftPM refuses such flags in a
/// dependency that is asked for by version, so they are absent there: only slow when debugged, nothing else.
let optimised: (swift: [SwiftSetting], c: [CSetting]) =
  isDependency
  ? ([], [])
  : ([.unsafeFlags(["-O"], .when(configuration: .debug))], [.unsafeFlags(["-O2"], .when(configuration: .debug))])

/// How the program is linked: every symbol is bound at its start, and the table of them is read-only from then on (full
/// RELRO).
let sealed: [LinkerSetting] =
  isDependency ? [] : [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "relro", "-Xlinker", "-z", "-Xlinker", "now"])]

func module(
  _ name: String, in door: Door, _ dependencies: [Target.Dependency], resources: [Resource] = [],
  isOptimised: Bool = false
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: door.path(of: name), resources: resources,
    swiftSettings: strict(name) + (isOptimised ? optimised.swift : []))
}

/// A C library.
/// - Parameters:
///   - pkgConfig: what pkg-config calls it; nil for glibc's own.
///   - package: Debian's.
func library(_ name: String, pkgConfig: String? = nil, package: String? = nil) -> Target {
  .systemLibrary(
    name: name, path: Door.libraries.path(of: name), pkgConfig: pkgConfig,
    providers: package.map { [.apt([$0])] })
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
  .testTarget(
    name: "\(name)Tests", dependencies: [.init(stringLiteral: name)] + dependencies, exclude: exclude,
    swiftSettings: testing)
}

let package = Package(
  name: "mdoc",
  products: [
    // What the three below speak in: codes, times, keys, certificates.
    .library(name: "Base", targets: ["Base"]),
    .library(name: "Cryptography", targets: ["Cryptography"]),
    .library(name: "PKIX", targets: ["PKIX"]),
    .library(name: "Longfellow", targets: ["Longfellow"]),
    .library(name: "Mdoc", targets: ["Mdoc"]),
    .library(name: "Trust", targets: ["Trust"]),
    .library(name: "Presentation", targets: ["Presentation"]),
    .executable(name: "mdoc", targets: ["MdocTool"]),
  ],
  targets: [
    // C libraries, from Debian packages.
    library("COpenSSL", pkgConfig: "openssl", package: "libssl-dev"),
    library("CLibCBOR", pkgConfig: "libcbor", package: "libcbor-dev"),
    library("CMicrohttpd", pkgConfig: "libmicrohttpd", package: "libmicrohttpd-dev"),
    library("CSQLite", pkgConfig: "sqlite3", package: "libsqlite3-dev"),
    library("CPostgreSQL", pkgConfig: "libpq", package: "libpq-dev"),
    library("CZlib", pkgConfig: "zlib", package: "zlib1g-dev"),
    library("CZstd", pkgConfig: "libzstd", package: "libzstd-dev"),
    library("CCurl", pkgConfig: "libcurl", package: "libcurl4-openssl-dev"),
    library("CQrencode", pkgConfig: "libqrencode", package: "libqrencode-dev"),
    library("CP11Kit", pkgConfig: "p11-kit-1", package: "libp11-kit-dev"),

    // glibc's own.
    library("CMalloc"),

    // The package's own: products without carries, for which Swift has no instruction.
    .target(name: "CCarryless", path: Door.libraries.path(of: "CCarryless"), cSettings: optimised.c),

    // Base. What reads and writes bytes one by one takes half the time of all tests when it is not optimised.
    module("Base", in: .verifier, [], isOptimised: true),
    module("CBOR", in: .encodings, ["Base", "CLibCBOR"], isOptimised: true),
    module("Cryptography", in: .verifier, ["Base", "COpenSSL"]),
    module("Compression", in: .encodings, ["CZlib"]),
    // Keys in tokens.
    module("PKCS11", in: .verifier, ["Base", "Cryptography", "CP11Kit"]),

    // Formats.
    module("COSE", in: .encodings, ["Base", "CBOR", "Cryptography"]),
    module("JOSE", in: .encodings, ["Base", "Compression", "Cryptography"]),
    module("PKIX", in: .verifier, ["Base", "Cryptography", "COpenSSL"]),

    // Zero-knowledge proofs. Millions of field operations a proof: optimised in debug builds as well.
    module("Longfellow", in: .verifier, ["Base", "Cryptography", "CCarryless", "CZstd"], isOptimised: true),

    // Domain.
    module("Mdoc", in: .verifier, ["Base", "CBOR", "Cryptography", "COSE", "PKIX", "Longfellow"]),
    module(
      "Trust", in: .verifier,
      ["Base", "CBOR", "Cryptography", "Compression", "COSE", "JOSE", "PKIX", "Mdoc"]),

    // Protocols.
    module(
      "Presentation", in: .verifier,
      ["Base", "CBOR", "Cryptography", "COSE", "JOSE", "PKIX", "Longfellow", "Mdoc"]),

    // Application, adapters, edge.
    module("Sessions", in: .server, ["Base", "Cryptography", "Longfellow", "Mdoc", "Trust", "Presentation"]),
    module("Stores", in: .server, ["Base", "Sessions", "CSQLite", "CPostgreSQL"]),
    module("Network", in: .server, ["Base", "Trust", "CCurl"]),
    module("HTTP", in: .server, ["Base", "Cryptography", "CMicrohttpd"]),
    // What people see of a session: the hosted page's files, QR codes.
    module("Pages", in: .server, ["Base", "Cryptography", "CQrencode"], resources: [.embedInCode("Assets")]),
    module(
      "App", in: .server,
      [
        "Base", "Cryptography", "PKCS11", "Longfellow", "PKIX", "Mdoc", "Trust", "Presentation", "Network", "HTTP",
        "Pages", "Sessions", "Stores",
      ], resources: [.embedInCode("OpenAPI/Examples.json")]),

    // Tools. The mock's prover of zero-knowledge proofs: it knows the verifier's fields and circuits, and none of its
    // parsers.
    module("LongfellowProver", in: .lab, ["CBOR", "Cryptography", "Longfellow", "CCarryless"], isOptimised: true),
    // Mock never imports Mdoc: it shares no parser with the verifier.
    module(
      "Mock", in: .lab, ["Base", "CBOR", "Cryptography", "Compression", "Longfellow", "LongfellowProver"],
      resources: [.embedInCode("Variants/Tables")], isOptimised: true),
    // A server with the mock's authority, wallet and publisher, and a page to try it with.
    module(
      "TestMode", in: .lab,
      [
        "Base", "CBOR", "Cryptography", "Longfellow", "PKIX", "Mdoc", "Trust", "Presentation", "Sessions", "HTTP",
        "App", "Mock",
      ],
      resources: [.embedInCode("Playground/Assets")]),
    // The corpus: its format, how it is run, shown and reported.
    module(
      "Vectors", in: .lab,
      [
        "Base", "CBOR", "Cryptography", "JOSE", "PKIX", "Mdoc", "Trust", "Longfellow", "Pages", "Presentation",
        "Sessions", "CMalloc",
      ], resources: [.embedInCode("Reports/Assets")]),
    // What one verification costs.
    module(
      "Bench", in: .lab,
      [
        "Base", "CBOR", "Cryptography", "COSE", "Longfellow", "PKIX", "Mdoc", "Trust", "Presentation", "Mock",
        "Vectors", "COpenSSL",
      ]),
    .executableTarget(
      name: "MdocTool",
      dependencies: [
        "Bench", "Base", "CBOR", "Compression", "Cryptography", "PKCS11", "COSE", "Longfellow", "PKIX", "Mdoc",
        "Trust", "Presentation", "Sessions", "Network", "HTTP", "App", "Mock", "TestMode", "Vectors",
      ],
      path: "Sources/Tool", swiftSettings: strict("MdocTool"), linkerSettings: sealed),

    // What several test targets share: the published vectors' folder, seeded randomness, encryption to a verifier, clients
    // of a server, threads for what has deadlines.
    .target(
      name: "TestSupport",
      dependencies: ["Base", "CBOR", "Cryptography", "JOSE", "PKIX", "HTTP", "COpenSSL", "CTestWidth"],
      path: "Tests/TestSupport",
      swiftSettings: testing),

    // How many tests run at once.
    .target(name: "CTestWidth", path: "Tests/CTestWidth"),

    // A store that lives as long as the process.
    .target(
      name: "TestStores", dependencies: ["Base", "Sessions"], path: "Tests/TestStores", swiftSettings: testing),

    // Loads on servers, stores and nodes: a program of its own.
    .executableTarget(
      name: "Load",
      dependencies: [
        "Base", "Bench", "Cryptography", "Mdoc", "Sessions", "HTTP", "App", "Mock", "TestMode", "TestSupport",
        "Vectors",
      ],
      path: "Tests/Benchmarks/Load", swiftSettings: testing),
    // The corpus, made from the mock's variants; sets that others published, in their layouts; and the program for both.
    .target(
      name: "CorpusMaking",
      dependencies: [
        "Base", "CBOR", "Cryptography", "JOSE", "Longfellow", "PKIX", "Mdoc", "Trust", "Sessions", "Mock", "Vectors",
      ],
      path: "Tests/CorpusMaking", swiftSettings: testing),
    .target(
      name: "PublishedSets",
      dependencies: [
        "Base", "CBOR", "COSE", "Cryptography", "JOSE", "PKIX", "Mdoc", "Trust", "Presentation", "Mock", "Vectors",
        "CorpusMaking",
      ],
      path: "Tests/PublishedSets", swiftSettings: testing),
    .executableTarget(
      name: "CorpusProgram", dependencies: ["Base", "Longfellow", "Vectors", "CorpusMaking", "PublishedSets"],
      path: "Tests/CorpusProgram", swiftSettings: testing),

    tests("Base", ["TestSupport"]),
    tests("CBOR", ["Base", "TestSupport"]),
    tests("Cryptography", ["Base", "TestSupport", "COpenSSL"]),
    tests("Compression", []),
    tests("PKCS11", ["Base", "Cryptography", "TestSupport", "CP11Kit"]),
    tests("Longfellow", ["Base", "CCarryless", "CZstd", "TestSupport"]),
    tests("LongfellowProver", ["Base", "CBOR", "Cryptography", "Longfellow", "TestSupport"]),
    tests("COSE", ["Base", "CBOR", "Cryptography"]),
    tests("JOSE", ["Base", "Compression", "Cryptography", "TestSupport"]),
    tests("PKIX", ["Base", "Cryptography", "Mock", "TestSupport"]),
    tests(
      "Mdoc",
      ["Base", "CBOR", "Cryptography", "Longfellow", "PKIX", "Trust", "Presentation", "Mock", "TestSupport"],
      // Snippets that must not compile, read by a test.
      exclude: ["CompileFailure"]),
    tests(
      "Trust",
      ["Base", "CBOR", "Cryptography", "COSE", "JOSE", "PKIX", "Mdoc", "Mock", "TestSupport"]),
    tests(
      "Presentation",
      [
        "Base", "CBOR", "Compression", "Cryptography", "COSE", "JOSE", "PKIX", "Mdoc", "Trust", "Mock", "TestSupport",
      ]),
    tests(
      "Sessions",
      [
        "Base", "CBOR", "Cryptography", "COSE", "Longfellow", "PKIX", "Mdoc", "Trust", "Presentation", "Stores", "Mock",
        "TestStores", "TestSupport",
      ]),
    tests("Network", ["Base", "Cryptography", "PKIX", "Trust", "Mock", "COpenSSL"]),
    tests("Stores", ["Base", "CSQLite", "Cryptography", "Mdoc", "Sessions", "TestStores"]),
    tests("HTTP", ["Base", "Cryptography", "TestSupport", "COpenSSL"]),
    tests("Pages", ["Base", "Cryptography"]),
    tests(
      "App",
      [
        "Base", "CBOR", "Cryptography", "Longfellow", "PKIX", "Mdoc", "Trust", "Presentation", "Network", "HTTP",
        "Pages", "Sessions", "Stores", "Mock", "TestMode", "TestStores", "TestSupport", "COpenSSL",
      ]),
    tests("Load", ["Base", "App", "TestMode"]),
    // The page of test mode in a browser.
    .testTarget(
      name: "PlaygroundTests",
      dependencies: [
        "Base", "Longfellow", "Mock", "PKIX", "Presentation", "TestMode", "Sessions", "App", "TestSupport",
      ],
      swiftSettings: testing),
    tests("Mock", ["Base", "CBOR", "Cryptography", "CorpusMaking"]),
    tests(
      "Vectors",
      [
        "Base", "CBOR", "Cryptography", "Longfellow", "Mdoc", "Sessions", "Mock", "CorpusMaking", "PublishedSets",
        "TestStores", "TestSupport", "Trust",
      ]),
    tests(
      "MdocTool",
      [
        "Base", "Bench", "CBOR", "Cryptography", "Longfellow", "PKIX", "Mdoc", "Presentation", "Trust", "Mock",
        "Sessions", "Stores",
        "HTTP", "App", "TestMode", "Vectors", "CorpusMaking", "TestSupport",
      ]),
  ]
)

if let fuzzing {
  let settings = language + (fuzzing == .hardened ? [.unsafeFlags(["-sanitize=address"])] : [])
  let linking: [LinkerSetting] = [.unsafeFlags(fuzzing.linking)]
  package.targets += [
    .systemLibrary(name: "CLibFuzzer", path: "Tests/CLibFuzzer"),
    .target(
      name: "FuzzDriver", dependencies: ["CLibFuzzer", "Base", "CBOR"], path: "Tests/FuzzDriver",
      swiftSettings: settings),
    // The decoder alone, for the many.
    .executableTarget(
      name: "FuzzDecoder", dependencies: ["FuzzDriver"], path: "Tests/FuzzDecoder", swiftSettings: settings,
      linkerSettings: linking),
    .executableTarget(
      name: "Fuzzing",
      dependencies: [
        "CLibFuzzer", "FuzzDriver", "Base", "CBOR", "Compression", "Cryptography", "COSE", "JOSE", "Longfellow", "PKIX",
        "Mdoc",
        "Trust", "Presentation", "Sessions", "HTTP", "App", "Mock", "TestMode", "TestStores", "Vectors", "CorpusMaking",
      ],
      path: "Tests/Fuzzing", exclude: ["fuzz", "fuzz_coverage.py"], swiftSettings: settings, linkerSettings: linking),
  ]
}

/// The thread sanitizer's build, asked for by an environment variable: without the tests of what shares nothing between
/// threads, and without the programs that only they need.
if Context.environment["MDOC_THREADS"] != nil {
  let unshared: Set = [
    "CBOR", "Compression", "COSE", "JOSE", "PKIX", "Presentation", "Longfellow", "LongfellowProver", "Mock", "Vectors",
    "MdocTool", "Playground",
  ]
  let programs: Set = ["MdocTool", "CorpusMaking", "PublishedSets", "CorpusProgram"]
  package.targets.removeAll { target in
    programs.contains(target.name)
      || target.type == .test && unshared.contains(String(target.name.dropLast("Tests".count)))
  }
  package.products.removeAll { $0.name == "mdoc" }
}
