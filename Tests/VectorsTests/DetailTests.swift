import Base
import CBOR
import FoundationEssentials
import Mock
import Sessions
import TestSupport
import Testing

@testable import Vectors

/// Every failed check names the fault: the member, the found and the expected value. It contains no personal data.
@Suite struct DetailTests {
  /// The failed checks of the whole corpus and its warnings, by vector.
  private static let findings = Task { () throws -> [(vector: TestVector, check: Check)] in
    let suite = try CommittedCorpus.suite()
    let verifier = OwnVerifier(anchors: suite.anchors, circuits: try CommittedCorpus.circuits())
    var found: [(TestVector, Check)] = []
    for vector in suite.entries.map(\.vector) {
      for (_, checks) in await verifier.checks(of: vector) {
        found += checks.filter { [.failed, .warning].contains($0.outcome) }.map { (vector, $0) }
      }
    }
    return found
  }

  private let findings: [(vector: TestVector, check: Check)]

  init() async throws { findings = try await Self.findings.value }

  /// The families of codes that are not checks of a response, a list or a reader. Other tests assert the details of
  /// errors, audit findings and evidence; the table of PresentationTests/RequestRulesTests.swift has the rules of requests.
  static let ofServices: Set<Substring> = ["api", "session", "audit", "evidence", "request"]

  @Test func `every failed check and every warning of the corpus has a detail`() {
    let silent = findings.filter { $0.check.detail?.isEmpty ?? true }
    for (vector, check) in silent {
      Issue.record("\(vector.id): \(check.code.rawValue) has no detail")
    }
    let failed = findings.filter { $0.check.outcome == .failed }
    print("details: \(failed.count { $0.check.detail != nil }) of \(failed.count) failed checks in the corpus")
    #expect(failed.count > 700)
  }

  @Test func `every code's detail is asserted`() throws {
    let seen = Set(findings.filter { $0.check.detail != nil }.map(\.check.code))
    let tests = CommittedCorpus.root + "/Tests/"
    for code in Code.allCases where !seen.contains(code) {
      let isOfService = Self.ofServices.contains(code.rawValue.prefix { $0 != "." }) || code.httpStatus != 200
      guard !isOfService else { continue }
      // No vector fails with it: the test that reaches it asserts its detail.
      let scripted = try #require(RegistryTests.scripted[code], "nothing asserts a detail of \(code.rawValue)")
      let file = try #require(FileManager.default.contents(atPath: tests + scripted.file))
      #expect(String(decoding: file, as: UTF8.self).contains("detail"), "\(scripted.file): \(code.rawValue)")
    }
  }

  /// The words that tell a wallet's or an issuer's developer what to change, by vector.
  static let words: [(vector: String, code: Code, words: [String])] = [
    ("slip-device-signature-tagged", .deviceAuthMalformed, ["deviceSignature", "tag 18"]),
    ("device-mac-payload-other", .deviceAuthMalformed, ["deviceMac", "payload is attached"]),
    ("issuer-auth-tagged", .issuerAuthMalformed, ["issuerAuth", "tag 18"]),
    ("issuer-certificate-missing", .issuerCertificateMissing, ["x5chain (label 33) is missing"]),
    ("issuer-certificate-empty", .issuerCertificateMissing, ["x5chain (label 33)", "byte string"]),
    ("issuer-algorithm-absent", .issuerAlgorithmUnsupported, ["alg (label 1) is missing"]),
    ("issuer-algorithm-unprotected", .issuerAlgorithmUnsupported, ["unprotected header"]),
    ("issuer-algorithm-rsa", .issuerAlgorithmUnsupported, ["alg (label 1) is -"]),
    ("issuer-es256-p384", .issuerAlgorithmKeyMismatch, ["ES256 (-7)", "P-384"]),
    ("issuer-signature-bit-flipped", .issuerSignatureInvalid, ["ES256 (-7)", "certificate", "P-256"]),
    ("issuer-signature-der", .issuerSignatureInvalid, ["DER", "64"]),
    ("issuer-certificate-thumbprint", .issuerCertificateThumbprintMismatch, ["x5t (label 34)"]),
    ("mso-version-9.9", .msoVersionUnsupported, ["\"9.9\"", "\"1.0\""]),
    ("mso-digests-md5", .digestAlgorithmUnsupported, ["MD5", "SHA-256"]),
    ("mso-doc-type", .msoDocTypeMismatch, ["the issuer signed docType", "org.iso.18013.5.1.mDL"]),
    ("mso-expired", .expired, ["validUntil is 20", "the time is 20"]),
    ("mso-not-yet-valid", .notYetValid, ["validFrom is 20", "the time is 20"]),
    ("mso-signed-in-future", .signedInFuture, ["signed is 20", "the time is 20"]),
    ("mso-signed-before-certificate", .signedOutsideCertificate, ["signed is 20", "certificate", "valid from"]),
    ("digest-longer", .digestMismatch, ["given_name", "digestID", "33 bytes"]),
    ("digest-missing", .digestMissing, ["given_name", "digestID"]),
    ("digests-without-namespace", .digestMissing, ["no such namespace"]),
    ("device-auth-empty", .deviceAuthMissing, ["neither deviceSignature nor deviceMac"]),
    ("device-signed-missing", .deviceAuthMissing, ["deviceSigned is missing"]),
    ("device-auth-ambiguous", .deviceAuthAmbiguous, ["both"]),
    ("device-mac", .deviceMacNotAllowed, ["deviceMac", "expected deviceSignature"]),
    ("device-mac-truncated", .deviceMacInvalid, ["bytes", "32"]),
    ("device-mac-hmac-256-64", .deviceAlgorithmUnsupported, ["is 4", "expected 5"]),
    ("device-signature-der", .deviceSignatureInvalid, ["DER"]),
    ("device-es384-p256", .deviceAlgorithmKeyMismatch, ["ES384", "P-256"]),
    ("signer-key-rsa", .certificateAlgorithmUnsupported, ["the signer, certificate", "rsaEncryption"]),
    ("signer-key-explicit-parameters", .certificateAlgorithmUnsupported, ["explicit parameters"]),
    ("signer-key-p192", .certificateAlgorithmUnsupported, ["prime192v1", "1.2.840.10045.3.1.1"]),
    ("signer-signature-sha-1", .certificateAlgorithmUnsupported, ["ecdsa-with-SHA1", "1.2.840.10045.4.1"]),
    ("signer-signature", .certificateSignatureInvalid, ["the signer, certificate", "the anchor, certificate"]),
    ("signer-expired", .certificateExpired, ["the signer, certificate", "has expired at 20"]),
    ("signer-not-yet-valid", .certificateExpired, ["is not valid before 20"]),
    ("intermediate-key-usage", .certificateKeyUsage, ["intermediate 1", "digitalSignature"]),
    ("signer-is-ca", .certificateIsCA, ["the signer", "has the CA flag"]),
    ("intermediate-not-ca", .certificateIsCA, ["intermediate 1", "no CA flag"]),
    ("signer-state", .certificateJurisdictionMismatch, ["stateOrProvinceName is"]),
    ("anchor-other-doc-type", .issuerNotTrustedForDocType, ["is trusted for", "org.iso.18013.5.1.mDL"]),
    ("chain-100", .chainTooLong, ["certificates; the limit is"]),
    ("signer-1-megabyte", .chainTooLong, ["bytes; the limit is"]),
    ("status-revoked", .documentRevoked, ["status list", "https://", "1 (revoked)"]),
    ("status-suspended", .documentSuspended, ["status list", "2 (suspended)"]),
    ("identifiers-revoked", .documentRevoked, ["identifier list", "https://"]),
    ("crl-signer-revoked", .signerRevoked, ["certificate revocation list", "serial number"]),
    ("vical-changed", .listSignatureInvalid, ["does not verify", "certificate"]),
    ("vical-version-2", .listVersionUnsupported, ["the version is 2", "expected"]),
    ("lote-alg-none", .listAlgorithmUnsupported, ["none"]),
    ("lote-older-number", .listRollback, ["accepted before"]),
    ("lote-too-large", .listTooLarge, ["bytes; the limit is"]),
    ("zk-timestamp-old", .zkTimestampStale, ["timestamp is 20", "seconds"]),
    ("zk-other-circuit", .zkSystemNotOffered, ["zkSystemId is"]),
    ("zk-signer-p-384", .zkIssuerKeyUnsupported, ["P-384"]),
    ("zk-element-other", .zkElementsMismatch, ["shown", "asked"]),
    ("zk-hash-low-degree", .zkProofInvalid, ["the proof's check", "longfellow-libzk-v1"]),
    ("zk-proof-cut-at-part", .zkProofMalformed, ["bytes"]),
    ("age-contradictory", .ageContradictory, ["age_over_18", "age_over_21"]),
    ("expiry-date-passed", .documentExpired, ["expiry_date is before 20"]),
    ("response-version-2.0", .responseVersionUnsupported, ["\"2.0\"", "1.0"]),
    ("documents-empty", .documentsMissing, ["documents"]),
    ("document-errors-returned", .documentErrorsPresent, ["org.iso"]),
    ("cbor-duplicate-protected-header", .cborDuplicateKey, ["protected header"]),
    ("cbor-duplicate-mso-key", .cborDuplicateKey, ["issuer signed", "at byte"]),
  ]

  @Test(arguments: words.indices) func `a detail names what was found and what was expected`(index: Int) throws {
    let (id, code, words) = Self.words[index]
    guard PublishedVectors.areHere || !id.hasPrefix("zk-") else { return }
    let check = try #require(findings.first { $0.vector.id == id && $0.check.code == code }?.check, "\(id)")
    for word in words { #expect(check.detail?.contains(word) == true, "\(id): \(check.detail ?? "-")") }
  }

  /// Every value of the elements of a response, and of the mock's people, that is long enough to be told from others.
  @Test func `no detail has a value of an element`() {
    let people = MockPerson.allDocuments.flatMap(\.namespaces).flatMap { namespace in
      let elements = namespace.elements.filter { !$0.identifier.hasPrefix(Self.ofIssuer) }
      return Leaves(cbor: CBORValue.array(elements.map(\.value)).encoded())?.all ?? []
    }
    let mock = Self.secrets(people)
    #expect(mock.count > 20)
    var compared = 0
    for (vector, details) in Dictionary(grouping: findings, by: \.vector.id) {
      let text = details.compactMap(\.check.detail).joined(separator: "\n")
      let own = Self.secrets(details[0].vector.layers.flatMap(Self.elements))
      compared += own.count
      #expect(own.union(mock).filter { text.contains($0) } == [], "\(vector)")
    }
    #expect(compared > 3_000)
  }

  private static func elements(of layer: ResponseLayer) -> [Leaf] {
    guard case .cbor(let bytes) = layer.content, let leaves = Leaves(cbor: bytes) else { return [] }
    let identifier = ".elementIdentifier"
    let issuers = leaves.all.filter { leaf in
      guard leaf.path.hasSuffix(identifier), case .text(let name) = leaf.value else { return false }
      return name.contains(ofIssuer)
    }.map { $0.path.dropLast(identifier.count) + ".elementValue" }
    return leaves.all.filter { leaf in
      leaf.path.contains(".elementValue") && !issuers.contains { leaf.path.hasPrefix($0) }
        || leaf.path.contains("deviceSigned.nameSpaces")
    }
  }

  /// The issuer's own country, state and name are no one's secret: its certificate has them.
  private static let ofIssuer = "issuing_"

  /// The values that are long enough to be told from words. `portrait` comes from a mutant.
  private static func secrets(_ leaves: [Leaf]) -> Set<String> {
    Set(
      leaves.flatMap { leaf -> [String] in
        switch leaf.value {
        case .text(let text): [text.trimming { $0 == "\"" }]
        case .bytes(let bytes): [Hex.encode(bytes), Base64.encode(bytes), String(decoding: bytes, as: UTF8.self)]
        }
      }.filter { $0.utf8.count > 4 && $0 != "portrait" })
  }
}

extension String {
  fileprivate func trimming(_ isLeftOut: (Character) -> Bool) -> String {
    String(drop { isLeftOut($0) }.reversed().drop { isLeftOut($0) }.reversed())
  }
}
