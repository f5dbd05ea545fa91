import Base
import FoundationEssentials
import TestSupport
import Testing

@testable import PublishedSets
@testable import Vectors

/// The counts of the published sets, by folder and file. If a publisher changes a set, these numbers change.
@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct PublishedSetTests {
  /// Cases that passed and that were skipped; none may fail.
  typealias Counts = [String: [Int]]

  @Test func `all sets run in one report, by folder`() throws {
    let report = try #require(try PublishedSuite.run(at: PublishedVectors.folder, filter: nil))
    for failure in report.failures { Issue.record("\(failure.summary.id): \(failure.problem ?? "")") }
    // Evaluated separately: a failed expectation prints its values, which are thousands here.
    let hasPassed = report.hasPassed
    #expect(hasPassed)
    #expect(Self.counts(report, by: \.group) == Self.folders)
    let wycheproof = report.results.filter { $0.group == "wycheproof" }
    #expect(Self.counts(wycheproof, by: Self.part) == Self.wycheproof)
    let ids = Set(report.results.map(\.summary.id)).count
    #expect(ids == report.results.count, "an id names one case")
    print("\(report.count.passed) published cases passed, \(report.count.skipped) skipped, in \(report.durationText) s")
  }

  private static let folders: Counts = [
    "apple-dcapi": [0, 1], "apple-in-app": [11, 0], "brainpool": [4, 0], "cbor": [79, 3], "cose-wg": [23, 23],
    "hpke": [1, 127], "iso18013-5-annexD": [7, 0], "iso18013-7-annexB": [11, 0], "iso18013-7-annexC": [4, 3],
    "isomdl-certs": [7, 0], "longfellow": [0, 1], "lote": [3, 0], "openid4vp-1.0": [6, 0],
    "token-status-list": [12, 3], "vical": [8, 0],
    "wycheproof": [14_969, 2_740],
  ]

  private static let wycheproof: Counts = [
    "aes_gcm": [133, 183], "ec_prime_order_curves": [7, 19],
    "ecdh_brainpoolP256r1": [542, 262], "ecdh_brainpoolP320r1": [514, 257], "ecdh_brainpoolP384r1": [678, 258],
    "ecdh_brainpoolP512r1": [532, 262], "ecdh_secp256r1": [357, 255], "ecdh_secp256r1_ecpoint": [355, 0],
    "ecdh_secp384r1": [792, 255], "ecdh_secp384r1_ecpoint": [790, 0], "ecdh_secp521r1": [663, 253],
    "ecdh_secp521r1_ecpoint": [661, 0],
    "ecdsa_brainpoolP256r1_sha256": [485, 0], "ecdsa_brainpoolP256r1_sha256_p1363": [261, 0],
    "ecdsa_brainpoolP320r1_sha384": [489, 0], "ecdsa_brainpoolP320r1_sha384_p1363": [265, 0],
    "ecdsa_brainpoolP384r1_sha384": [516, 0], "ecdsa_brainpoolP384r1_sha384_p1363": [292, 0],
    "ecdsa_brainpoolP512r1_sha512": [559, 0], "ecdsa_brainpoolP512r1_sha512_p1363": [337, 0],
    "ecdsa_secp256r1_sha256": [484, 0], "ecdsa_secp256r1_sha256_p1363": [262, 0],
    "ecdsa_secp256r1_sha512": [554, 0], "ecdsa_secp256r1_sha512_p1363": [332, 0],
    "ecdsa_secp384r1_sha384": [504, 0], "ecdsa_secp384r1_sha384_p1363": [280, 0],
    "ecdsa_secp384r1_sha512": [542, 0], "ecdsa_secp384r1_sha512_p1363": [318, 0],
    "ecdsa_secp521r1_sha512": [542, 0], "ecdsa_secp521r1_sha512_p1363": [318, 0],
    "ed25519": [151, 0], "ed448": [87, 0], "hkdf_sha256": [86, 0], "hkdf_sha384": [83, 0], "hkdf_sha512": [83, 0],
    "hmac_sha256": [87, 87], "json_web_crypto": [0, 83], "json_web_encryption": [0, 139], "json_web_key": [0, 26],
    "json_web_signature": [0, 401], "x25519": [518, 0], "x448": [510, 0],
  ]

  /// The unsupported cases, each with the reason.
  @Test func `COSE's examples are skipped by what they use`() throws {
    let report = try #require(try PublishedSuite.run(at: PublishedVectors.folder + "/cose-wg", filter: nil))
    let skipped = report.results.compactMap { result in result.skipReason.map { "\(result.group): \($0)" } }
    #expect(
      Dictionary(grouping: skipped) { $0 }.mapValues(\.count) == [
        "sign1-tests: alg only in the unprotected header": 1, "ecdsa-examples: COSE_Sign": 4,
        // ES512 with a key on P-256: a generic library accepts it, but here the curve is bound to alg.
        "ecdsa-examples: alg with another curve": 1, "eddsa-examples: COSE_Sign": 2,
        "mac0-tests: alg only in the unprotected header": 3, "hmac-examples: COSE_Mac": 5,
        "hmac-examples: HMAC 256/64": 1, "hmac-examples: HMAC 384/384": 1, "hmac-examples: HMAC 512/512": 1,
        "CWT: COSE_Encrypt0": 2, "CWT: HMAC 256/64": 2,
      ])
  }

  @Test func `a filter takes cases by a part of their ids`() throws {
    let report = try #require(try PublishedSuite.run(at: PublishedVectors.folder + "/apple-in-app", filter: "second"))
    #expect(report.results.map(\.summary.id) == ["apple-in-app/first-second", "apple-in-app/last-second"])
    #expect(report.results.allSatisfy { $0.observed == "accepted" && $0.group == "apple-in-app" })
  }

  private static func counts(_ report: RunReport, by group: (VectorResult) -> String) -> Counts {
    counts(report.results, by: group)
  }

  private static func counts(_ results: [VectorResult], by group: (VectorResult) -> String) -> Counts {
    Dictionary(grouping: results, by: group).mapValues { results in
      [results.count { $0.outcome == .passed }, results.count { $0.skipReason != nil }]
    }
  }

  private static func part(_ result: VectorResult) -> String {
    result.summary.id.split(separator: "/").dropFirst().first.map(String.init) ?? ""
  }
}

/// The committed corpus with our verifier's results, made once for all properties.
struct KnownResults: Sendable {
  let suite: VectorSuite
  let verifier: OwnVerifier
  /// The right results of the corpus, by request or by format of list.
  private let accepted: [JSON: Set<[UInt8]>]

  private static let shared = Task { try await KnownResults() }

  static func get() async throws -> KnownResults { try await shared.value }

  private init() async throws {
    suite = try CommittedCorpus.suite()
    verifier = OwnVerifier(anchors: suite.anchors)
    var accepted: [JSON: Set<[UInt8]>] = [:]
    for vector in suite.entries.map(\.vector) where vector.expectation.isAccepted {
      guard let hash = await verifier.judge(vector).resultHash else { continue }
      accepted[Self.asked(vector), default: []].insert(hash)
    }
    self.accepted = accepted
  }

  private static func asked(_ vector: TestVector) -> JSON {
    if case .list(let list) = vector.session { .string(list.format.rawValue) } else { vector.request }
  }

  /// Whether a relying party that made the vector's request may see this result.
  func isRight(_ judgement: Judgement, for vector: TestVector) -> Bool {
    judgement.resultHash.map { accepted[Self.asked(vector)]?.contains($0) == true } ?? false
  }
}

/// Folders of published sets are recognised, and a case with a wrong result fails; tested with our own files.
@Suite struct PublishedSuiteTests {
  private let folder: SuiteFolder

  init() throws {
    let path = FileManager.default.temporaryDirectory.path + "/mdoc-published-\(UUID().uuidString)"
    folder = SuiteFolder(path)
    try folder.write(Self.file("hmac", results: ["valid", "invalid", "acceptable"]), to: "any name/hmac_test.json")
  }

  @Test func `what its publisher says otherwise fails`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder.path) }
    let report = try #require(try PublishedSuite.run(at: folder.path, filter: nil))
    #expect(report.groups.map(\.name) == ["any name"])
    #expect(report.results.map(\.summary.id) == (1...3).map { "wycheproof/hmac/\($0)" })
    #expect(report.results.map(\.problem) == [nil, "accepted and should be refused", nil])
    #expect(report.results.map(\.summary.expectation.text) == ["accepted", "refused", "accepted or refused"])
    #expect(report.results.allSatisfy { $0.observed == "accepted" })
    #expect(!report.hasPassed)
  }

  @Test func `what is not known is skipped and named`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder.path) }
    try folder.write(Self.file("other", results: ["valid"], schema: "other.json"), to: "any name/other_test.json")
    try folder.write(Array("{}".utf8), to: "unknown/file.json")
    try folder.write([0xa0], to: "later/apple-doc-sample-request.json")
    let report = try #require(try PublishedSuite.run(at: folder.path, filter: nil))
    let skipped = report.results.compactMap { result in result.skipReason.map { "\(result.summary.id): \($0)" } }
    #expect(
      skipped == [
        "wycheproof/other/1: tests of the schema other.json are not known here",
        "apple-dcapi/apple-doc-sample-request.json: a request, whose origin is not published",
        "unknown/folder: its layout is not known here",
      ])
  }

  @Test func `a folder of which no part is known is somebody else's`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder.path) }
    #expect(try PublishedSuite.run(at: CommittedCorpus.path, filter: nil) == nil)
    #expect(throws: SuiteError.self) { try PublishedSuite.run(at: folder.path + "/absent", filter: nil) }
  }

  @Test func `a file of a known set that can't be read stops the run`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder.path) }
    try folder.write(Array("{".utf8), to: "any name/aes_test.json")
    #expect(throws: SuiteError.self) { try PublishedSuite.run(at: folder.path, filter: nil) }
    try folder.write(Array("{}".utf8), to: "any name/aes_test.json")
    #expect(throws: SuiteError.self) { try PublishedSuite.run(at: folder.path, filter: nil) }
  }

  @Test func `no two sets recognise the same folder`() throws {
    #expect(Set(PublishedSuite.sets.map(\.name)).count == PublishedSuite.sets.count)
    defer { try? FileManager.default.removeItem(atPath: folder.path) }
    let theirs = PublishedSuite.sets.filter { $0.isHere(SuiteFolder(folder.path + "/any name")) }
    #expect(theirs.map(\.name) == ["wycheproof"])
  }

  /// Wycheproof's layout; every tag is valid (RFC 4231, 4.3), regardless of its declared result.
  private static func file(_ name: String, results: [String], schema: String = "mac_test_schema_v1.json") -> [UInt8] {
    let tests = results.enumerated().map { index, result -> JSON in
      [
        "tcId": .integer(Int64(index + 1)), "comment": "", "flags": [], "key": "4a656665",
        "msg": "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
        "tag": "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843", "result": .string(result),
      ]
    }
    let json: JSON = [
      "algorithm": "HMACSHA256", "schema": .string(schema),
      "testGroups": [["tagSize": 256, "tests": .array(tests)]],
    ]
    return json.serialized()
  }
}
