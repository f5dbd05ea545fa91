// swift-tools-version: 6.2
import PackageDescription

/// Imports point downwards only: C libraries, then the base, the formats, the domain, the protocols, the service and
/// its adapters, and the program on top.
let language: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
]

/// The fuzzer's build (README, Fuzzing), asked for by an environment variable: every module counts what it runs, and
/// Tests/Fuzzing is one more program, which itself is not counted.
let fuzzes = Context.environment["MDOC_FUZZ"] != nil

let strict = language + (fuzzes ? [.unsafeFlags(["-sanitize=fuzzer,address", "-enable-testing"])] : [])

/// Tests are not what that build is for: neither counted nor optimised, they are compiled in half the time.
let testing = language + (fuzzes ? [.unsafeFlags(["-Onone"])] : [])

func module(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
  .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: strict)
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
    .library(name: "Primitives", targets: ["Primitives"]),
    .library(name: "Cryptography", targets: ["Cryptography"]),
    .library(name: "PKIX", targets: ["PKIX"]),
    .library(name: "Mdoc", targets: ["Mdoc"]),
    .library(name: "Trust", targets: ["Trust"]),
    .library(name: "Presentation", targets: ["Presentation"]),
    .executable(name: "mdoc", targets: ["MdocTool"]),
  ],
  targets: [
    // C libraries, from Debian packages.
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CLibCBOR", pkgConfig: "libcbor", providers: [.apt(["libcbor-dev"])]),
    .systemLibrary(name: "CMicrohttpd", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),

    // glibc's own.
    .systemLibrary(name: "CMalloc"),

    // Base.
    module("Primitives", []),
    module("CBOR", ["Primitives", "CLibCBOR"]),
    module("Cryptography", ["Primitives", "COpenSSL"]),
    module("Compression", ["CZlib"]),

    // Formats.
    module("COSE", ["Primitives", "CBOR", "Cryptography"]),
    module("JOSE", ["Primitives", "Cryptography"]),
    module("PKIX", ["Primitives", "Cryptography", "COpenSSL"]),

    // Domain.
    module("Mdoc", ["Primitives", "CBOR", "Cryptography", "COSE", "PKIX"]),
    module("Trust", ["Primitives", "CBOR", "Cryptography", "Compression", "COSE", "JOSE", "PKIX", "Mdoc"]),

    // Protocols.
    module("Presentation", ["Primitives", "CBOR", "Cryptography", "COSE", "JOSE", "PKIX", "Mdoc"]),

    // Application, adapters, edge.
    module("VerificationService", ["Primitives", "Cryptography", "Mdoc", "Trust", "Presentation"]),
    module("Stores", ["Primitives", "VerificationService", "CSQLite", "CPostgreSQL"]),
    module("Fetching", ["Primitives", "Trust", "CCurl"]),
    // MockIssuance is for test mode alone: its issuer and wallet.
    module(
      "VerifierHTTP",
      [
        "Primitives", "Cryptography", "PKIX", "Mdoc", "Trust", "Presentation", "Fetching", "VerificationService",
        "Stores", "MockIssuance", "CMicrohttpd",
      ],
      // The page of test mode.
      resources: [.embedInCode("Playground/Assets")]),

    // Tools. MockIssuance never imports Mdoc: it shares no parser with the verifier.
    module("MockIssuance", ["Primitives", "CBOR", "Cryptography", "Compression"]),
    // The corpus: its format, how it is made from the mock's variants, how it is run and reported.
    module(
      "VectorKit",
      [
        "Primitives", "CBOR", "Cryptography", "COSE", "JOSE", "PKIX", "Mdoc", "Trust", "Presentation",
        "VerificationService", "MockIssuance", "CMalloc",
      ]),
    module("BenchmarkFloor", ["Cryptography", "COpenSSL"]),
    .executableTarget(
      name: "MdocTool",
      dependencies: [
        "BenchmarkFloor", "Primitives", "CBOR", "Cryptography", "COSE", "PKIX", "Mdoc", "Trust", "Presentation",
        "VerificationService", "Fetching", "VerifierHTTP", "MockIssuance", "VectorKit",
      ],
      swiftSettings: strict),

    // What several test targets share: the published vectors' folder, seeded randomness, encryption to a verifier.
    .target(
      name: "TestSupport", dependencies: ["Primitives", "Cryptography"], path: "Tests/TestSupport",
      swiftSettings: testing),

    tests("Primitives", ["MockIssuance", "TestSupport"]),
    tests("CBOR", ["Primitives", "TestSupport"]),
    tests("Cryptography", ["Primitives", "TestSupport", "COpenSSL"]),
    tests("Compression", []),
    tests("COSE", ["Primitives", "CBOR", "Cryptography"]),
    tests("JOSE", ["Primitives", "Cryptography", "TestSupport"]),
    tests("PKIX", ["Primitives", "Cryptography", "MockIssuance", "TestSupport"]),
    tests(
      "Mdoc",
      ["Primitives", "CBOR", "Cryptography", "PKIX", "Trust", "Presentation", "MockIssuance", "TestSupport"],
      // Snippets that must not compile, read by a test.
      exclude: ["CompileFailure"]),
    tests(
      "Trust",
      ["Primitives", "CBOR", "Cryptography", "COSE", "JOSE", "PKIX", "Mdoc", "MockIssuance", "TestSupport"]),
    tests(
      "Presentation",
      [
        "Primitives", "CBOR", "Cryptography", "COSE", "JOSE", "PKIX", "Mdoc", "Trust", "MockIssuance", "TestSupport",
      ]),
    tests(
      "VerificationService",
      [
        "Primitives", "CBOR", "Cryptography", "COSE", "PKIX", "Mdoc", "Trust", "Presentation", "Stores", "MockIssuance",
      ]),
    tests("Fetching", ["Primitives", "Cryptography", "PKIX", "Trust", "MockIssuance", "COpenSSL"]),
    tests("Stores", ["Primitives", "Cryptography", "Mdoc", "VerificationService"]),
    tests(
      "VerifierHTTP",
      [
        "Primitives", "CBOR", "Cryptography", "PKIX", "Mdoc", "Trust", "Presentation", "Fetching",
        "VerificationService", "Stores", "MockIssuance", "COpenSSL",
      ]),
    // The page of test mode in a browser; the tool has the HTTP client.
    .testTarget(
      name: "PlaygroundTests", dependencies: ["Primitives", "VerifierHTTP", "MdocTool"], swiftSettings: testing),
    tests("MockIssuance", ["Primitives", "CBOR", "Cryptography"]),
    tests("VectorKit", ["Primitives", "Cryptography", "Mdoc", "VerificationService", "MockIssuance", "TestSupport"]),
    tests(
      "MdocTool",
      [
        "Primitives", "CBOR", "Cryptography", "PKIX", "Mdoc", "Trust", "MockIssuance", "VerificationService", "Stores",
        "VerifierHTTP", "TestSupport",
      ]),
  ]
)

if fuzzes {
  package.targets += [
    .systemLibrary(name: "CLibFuzzer", path: "Tests/CLibFuzzer"),
    .executableTarget(
      name: "Fuzzing",
      dependencies: [
        "CLibFuzzer", "Primitives", "CBOR", "Cryptography", "COSE", "PKIX", "Mdoc", "Trust", "Presentation",
        "VerificationService", "VerifierHTTP", "MockIssuance", "VectorKit",
      ],
      path: "Tests/Fuzzing", swiftSettings: language + [.unsafeFlags(["-sanitize=address"])],
      // gold fails on the sanitizers' archives.
      linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]),
  ]
}
