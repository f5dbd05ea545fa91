// swift-tools-version: 6.2
import PackageDescription

/// `Sources` has four doors, and imports point downwards only: `Verifier` knows none of the others; `Server` knows the
/// verifier, and for its test mode the mock wallet; `Lab` knows both, though the mock wallet only the verifier's base; and
/// `Tool`, the program, knows all of them. What Debian has is in `Libraries`.
enum Door: String {
  case verifier = "Verifier"
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

/// The fuzzer's build (Fuzzing.md), asked for by an environment variable: every module counts what it runs, and
/// Tests/Fuzzing is one more program, which itself is not counted.
let fuzzes = Context.environment["MDOC_FUZZ"] != nil

let strict = language + (fuzzes ? [.unsafeFlags(["-sanitize=fuzzer,address", "-enable-testing"])] : [])

/// Tests are not what that build is for: neither counted nor optimised, they are compiled in half the time.
let testing = language + (fuzzes ? [.unsafeFlags(["-Onone"])] : [])

func module(
  _ name: String, in door: Door, _ dependencies: [Target.Dependency], resources: [Resource] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: door.path(of: name), resources: resources, swiftSettings: strict)
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
    library("COpenSSL", pkgConfig: "openssl", package: "libssl-dev"),
    library("CLibCBOR", pkgConfig: "libcbor", package: "libcbor-dev"),
    library("CMicrohttpd", pkgConfig: "libmicrohttpd", package: "libmicrohttpd-dev"),
    library("CSQLite", pkgConfig: "sqlite3", package: "libsqlite3-dev"),
    library("CPostgreSQL", pkgConfig: "libpq", package: "libpq-dev"),
    library("CZlib", pkgConfig: "zlib", package: "zlib1g-dev"),
    library("CCurl", pkgConfig: "libcurl", package: "libcurl4-openssl-dev"),

    // glibc's own.
    library("CMalloc"),

    // Base.
    module("Primitives", in: .verifier, []),
    module("CBOR", in: .verifier, ["Primitives", "CLibCBOR"]),
    module("Cryptography", in: .verifier, ["Primitives", "COpenSSL"]),
    module("Compression", in: .verifier, ["CZlib"]),

    // Formats.
    module("COSE", in: .verifier, ["Primitives", "CBOR", "Cryptography"]),
    module("JOSE", in: .verifier, ["Primitives", "Cryptography"]),
    module("PKIX", in: .verifier, ["Primitives", "Cryptography", "COpenSSL"]),

    // Domain.
    module("Mdoc", in: .verifier, ["Primitives", "CBOR", "Cryptography", "COSE", "PKIX"]),
    module(
      "Trust", in: .verifier,
      ["Primitives", "CBOR", "Cryptography", "Compression", "COSE", "JOSE", "PKIX", "Mdoc"]),

    // Protocols.
    module("Presentation", in: .verifier, ["Primitives", "CBOR", "Cryptography", "COSE", "JOSE", "PKIX", "Mdoc"]),

    // Application, adapters, edge.
    module("VerificationService", in: .server, ["Primitives", "Cryptography", "Mdoc", "Trust", "Presentation"]),
    module("Stores", in: .server, ["Primitives", "VerificationService", "CSQLite", "CPostgreSQL"]),
    module("Fetching", in: .server, ["Primitives", "Trust", "CCurl"]),
    // MockIssuance is for test mode alone: its issuer and wallet.
    module(
      "VerifierHTTP", in: .server,
      [
        "Primitives", "Cryptography", "PKIX", "Mdoc", "Trust", "Presentation", "Fetching", "VerificationService",
        "Stores", "MockIssuance", "CMicrohttpd",
      ],
      // The page of test mode.
      resources: [.embedInCode("Playground/Assets")]),

    // Tools. MockIssuance never imports Mdoc: it shares no parser with the verifier.
    module("MockIssuance", in: .lab, ["Primitives", "CBOR", "Cryptography", "Compression"]),
    // The corpus: its format, how it is made from the mock's variants, how it is run and reported.
    module(
      "VectorKit", in: .lab,
      [
        "Primitives", "CBOR", "Cryptography", "COSE", "JOSE", "PKIX", "Mdoc", "Trust", "Presentation",
        "VerificationService", "MockIssuance", "CMalloc",
      ]),
    module("BenchmarkFloor", in: .lab, ["Cryptography", "COpenSSL"]),
    .executableTarget(
      name: "MdocTool",
      dependencies: [
        "BenchmarkFloor", "Primitives", "CBOR", "Cryptography", "COSE", "PKIX", "Mdoc", "Trust", "Presentation",
        "VerificationService", "Fetching", "VerifierHTTP", "MockIssuance", "VectorKit",
      ],
      path: "Sources/Tool", swiftSettings: strict),

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
