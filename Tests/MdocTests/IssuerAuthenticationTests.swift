import Base
import CBOR
import Cryptography
import PKIX
import Testing
import Trust

@testable import Mdoc
@testable import Mock

/// The issuer's signed bytes are read only if the signature verifies. Each rule is broken by itself, and has its own
/// code.
@Suite struct IssuerAuthenticationTests {
  private let signer: MockSigner
  private let chain: [[UInt8]]
  private let trust: TrustStore
  private let es256: Int64 = -7

  init() throws {
    let authority = try MockAuthority(seed: Array("by hand".utf8))
    let now = HandMadeDocument.now
    signer = try MockSigner(
      authority: authority, under: authority.certificateIssuer(.good), curve: .p256, at: now)
    chain = try signer.chain()
    let anchor = try Certificate(der: authority.anchor(at: now).certificate)
    trust = try TrustStore(
      anchors: [TrustAnchor(certificate: anchor, docTypes: [DocType.mDL])], allowsTestCertificates: true)
  }

  /// A correct message that is not signed yet.
  private var message: HandMadeMessage {
    HandMadeMessage(
      algorithm: es256, unprotected: [(key: 33, value: .bytes(chain[0]))],
      payload: HandMadeDocument().mobileSecurityObject)
  }

  private func signed(_ message: HandMadeMessage) throws -> CBORValue {
    try message.encoded("Signature1", over: message.payload ?? []) { try signer.key.signECDSA($0, hash: .sha256) }
  }

  private func run(
    _ issuerAuth: CBORValue?, trust: TrustStore? = nil
  ) throws -> (signed: IssuerAuthentication.Signed?, checks: CheckList) {
    var checks = CheckList()
    let stage = IssuerAuthentication(
      verifier: MdocVerifier(trust: trust ?? self.trust), docType: DocType.mDL, now: HandMadeDocument.now)
    let signed = stage.run(try issuerAuth.map { try CBORItem(parsing: $0.encoded()) }, into: &checks)
    #expect(Set(checks.checks.map(\.code)) == Set(IssuerAuthentication.codes), "every check is noted")
    return (signed, checks)
  }

  /// The code of a message that is changed before it is signed; no part of it then counts as signed.
  private func failures(_ change: (inout HandMadeMessage) throws -> Void) throws -> [Code] {
    var changed = message
    try change(&changed)
    let (signed, checks) = try run(self.signed(changed))
    #expect(signed == nil)
    return checks.codes(.failed)
  }

  @Test func `a signed object comes with its signer and the anchor`() throws {
    let (signed, checks) = try run(signed(message))
    #expect(checks.codes(.failed) == [] && checks.codes(.warning) == [])
    #expect(signed?.mso.docType == DocType.mDL && signed?.signer.der == chain[0])
    #expect(signed?.anchor != nil && signed?.path.count == 2)
  }

  @Test func `without issuerAuth nothing is signed`() throws {
    let (signed, checks) = try run(nil)
    #expect(signed == nil && checks.codes(.failed) == [.issuerAuthMissing] && checks.codes(.passed) == [])
  }

  @Test func `what is no message of four fields is malformed`() throws {
    for value in [["a", "b", "c"], .text("no message"), .tagged(18, try signed(message))] as [CBORValue] {
      #expect(try run(value).checks.codes(.failed) == [.issuerAuthMalformed])
    }
  }

  @Test func `a parameter stands in one of the two headers`() throws {
    #expect(try failures { $0.unprotected.append((key: 1, value: -7)) } == [.coseHeaderDuplicate])
  }

  @Test func `a critical parameter that is not known is not passed over`() throws {
    let critical = try failures { $0.protected = [(key: 2, value: [99]), (key: 99, value: 1)] }
    #expect(critical == [.coseCritUnsupported])
  }

  @Test func `without certificates nobody signed it`() throws {
    #expect(try failures { $0.unprotected = [] } == [.issuerCertificateMissing])
  }

  /// Typical mistakes of JSON writers, each with the words that help its author find it.
  @Test func `what stands in the place of the certificate is named`() throws {
    let der = CBORValue.bytes(chain[0])
    let forms: [(header: (key: CBORValue, value: CBORValue)?, words: String)] = [
      (nil, "x5chain (label 33) is missing"),
      (("33", der), "x5chain has the text \"33\" as its label, not the number 33"),
      ((33, .text(Base64.encode(chain[0]))), "x5chain (label 33) is a text, probably base64: it must be"),
      ((33, "no certificate!"), "x5chain (label 33) is a text: it must be"),
      ((33, [[der]]), "x5chain (label 33) has an array at index 0: it must be"),
      (
        (33, [der, .text(Base64.encode(chain[0]))]),
        "x5chain (label 33) has a text, probably base64 at index 1: it must"
      ),
      ((33, .bytes([])), "x5chain (label 33) is an empty byte string: it must be"),
      ((33, []), "x5chain (label 33) is an empty array: it must be"),
      ((33, ["der": der]), "x5chain (label 33) is a CBOR map: it must be"),
    ]
    for (header, words) in forms {
      var changed = message
      changed.unprotected = [header].compactMap { $0 }
      let check = try run(signed(changed)).checks.checks.first { $0.outcome == .failed }
      #expect(check?.code == .issuerCertificateMissing)
      #expect(check?.detail?.hasPrefix(words) == true, "\(check?.detail ?? "-")")
    }
    #expect(!Code.issuerCertificateMissing.entry.remedy.contains("forged"))
  }

  @Test func `a thumbprint is the first certificate's`() throws {
    func failures(_ algorithm: Int64, _ hash: [UInt8]) throws -> [Code] {
      var message = message
      message.protected = [(key: 34, value: [.integer(algorithm), .bytes(hash)])]
      return try run(signed(message)).checks.codes(.failed)
    }
    let hash = HashAlgorithm.sha256.hash(chain[0])
    #expect(try failures(-16, hash) == [])
    #expect(try failures(-16, HashAlgorithm.sha256.hash(chain[0] + [0])) == [.issuerCertificateThumbprintMismatch])
    #expect(try failures(-43, hash) == [.issuerCertificateThumbprintMismatch])
  }

  @Test func `of a signer that is not trusted the object is read, and leads to no anchor`() throws {
    let (signed, checks) = try run(signed(message), trust: .trustingNobody)
    #expect(checks.codes(.failed).contains(.issuerUnknown) && checks.outcome(of: .issuerSignatureInvalid) == .passed)
    #expect(signed != nil && signed?.anchor == nil && signed?.path.isEmpty == true)
  }

  @Test func `an algorithm is one of the table's, and the key's`() throws {
    #expect(try failures { $0.algorithm = -257 } == [.issuerAlgorithmUnsupported])
    #expect(try failures { $0.algorithm = -35 } == [.issuerAlgorithmKeyMismatch])
  }

  @Test func `what was changed after it was signed is not read`() throws {
    var made = HandMadeDocument()
    made.items[0].value = "another"
    let issuerAuth = try message.encoded("Signature1", over: made.mobileSecurityObject) {
      try signer.key.signECDSA($0, hash: .sha256)
    }
    let (signed, checks) = try run(issuerAuth)
    #expect(signed == nil && checks.codes(.failed) == [.issuerSignatureInvalid])
    #expect(checks.outcome(of: .msoMalformed) == .notRun)
  }

  @Test func `a signature for another purpose is none`() throws {
    let issuerAuth = try message.encoded("CounterSignature", over: message.payload ?? []) {
      try signer.key.signECDSA($0, hash: .sha256)
    }
    #expect(try run(issuerAuth).checks.codes(.failed) == [.issuerSignatureInvalid])
  }

  @Test func `a detached object is missing`() throws {
    #expect(try failures { $0.payload = nil } == [.msoMissing])
  }

  @Test func `what was signed and is no such object is malformed`() throws {
    #expect(try failures { $0.payload = CBORValue.embedded(["version": "1.0"]).encoded() } == [.msoMalformed])
  }
}
