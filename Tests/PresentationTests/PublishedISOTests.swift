import Base
import CBOR
import COSE
import Cryptography
import Mdoc
import PKIX
import TestSupport
import Testing
import Trust

@testable import Presentation

/// The worked example of ISO/IEC 18013-5, Annex D, valid from 2020-10-01T13:30:02Z to 2021-10-01T00:00:00Z.
@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct AnnexDTests {
  private struct Manifest: Decodable {
    struct Key: Decodable { let d: HexBytes }
    let keys: Keys
    struct Keys: Decodable { let eReaderKey: Key }
  }

  private let response: [UInt8]
  private let transcript: [UInt8]
  private let readerScalar: [UInt8]

  init() throws {
    response = try PublishedVectors.bytes("iso18013-5-annexD/D.4.1.2-device-response.cbor")
    transcript = try PublishedVectors.bytes("iso18013-5-annexD/D.5.1-session-transcript.cbor")
    let manifest: Manifest = try PublishedVectors.json("iso18013-5-annexD/manifest.json")
    readerScalar = manifest.keys.eReaderKey.d.bytes
  }

  @Test(
    arguments: [
      ("2020-12-01T00:00:00Z", nil), ("2020-10-01T13:30:02Z", nil), ("2021-10-01T00:00:00Z", nil),
      ("2020-10-01T13:30:01Z", Code.notYetValid), ("2021-10-01T00:00:01Z", .certificateExpired),
    ] as [(String, Code?)])
  func verifiesWithItsDeviceMacInsideItsWindow(time: String, code: Code?) throws {
    let verdict = try verify(at: time)
    if let code {
      #expect(verdict.codes.contains(code))
      return
    }
    guard case .accepted(let presentation) = verdict.outcome else {
      Issue.record("refused: \(verdict.codes)")
      return
    }
    let document = try #require(presentation.documents.first)
    #expect(document.elements.count == 6)
    #expect(document.deviceAuthentication == .mac)
  }

  @Test func anotherTranscriptFailsTheMac() throws {
    var transcript = transcript
    transcript[transcript.count - 1] ^= 1
    #expect(try verify(transcript: transcript).codes == [.deviceMacInvalid])
  }

  @Test func anAlteredNameFailsItsDigest() throws {
    let name = Array("Doe".utf8)
    let original = self.response
    let offset = try #require(original.indices.first { original[$0...].starts(with: name) })
    var response = original
    response[offset + 2] = UInt8(ascii: "f")
    #expect(try verify(response: response).codes == [.digestMismatch])
  }

  @Test func theReaderRootIsNoAnchorForIt() throws {
    #expect(try verify(anchor: "D.5.4-reader-root-cert.der").codes == [.issuerUnknown])
  }

  @Test func withoutTheReaderKeyAMacIsNotAllowed() throws {
    #expect(try verify(hasReaderKey: false).codes == [.deviceMacNotAllowed])
  }

  @Test func transcriptIsBuiltFromItsParts() throws {
    let item = try CBORItem(parsing: transcript)
    let parts = try #require(item.elements.map { Array($0) })
    let handover = try #require(parts[2].elements.map { $0.map { Array($0.bytes ?? []) } })
    let built = Proximity.transcript(
      deviceEngagement: Array(try #require(parts[0].content(ofTag: 24)?.bytes)),
      readerKey: Array(try #require(parts[1].content(ofTag: 24)?.bytes)),
      handover: .nfc(select: handover[0], request: handover[1]))
    #expect(built.encoded == transcript)
    #expect(
      built.taggedBytes == (try PublishedVectors.bytes("iso18013-5-annexD/D.5.1-session-transcript-bytes.cbor")))
    #expect(handover[0] == (try PublishedVectors.bytes("iso18013-5-annexD/D.3.3-nfc-handover-select.bin")))
  }

  private func verify(
    response: [UInt8]? = nil, transcript: [UInt8]? = nil, anchor: String = "D.5.2-iaca-cert.der",
    hasReaderKey: Bool = true, at time: String = "2020-12-01T00:00:00Z"
  ) throws -> Verdict {
    let anchor = TrustAnchor(
      certificate: try Certificate(der: PublishedVectors.bytes("iso18013-5-annexD/\(anchor)")))
    let trust = try TrustStore(anchors: [anchor], allowsTestCertificates: true)
    let proximity = Proximity(verifier: MdocVerifier(trust: trust, clockSkew: 0))
    return proximity.authenticate(
      response ?? self.response, transcript: try SessionTranscript(encoded: transcript ?? self.transcript),
      readerKey: hasReaderKey ? try PrivateKey(curve: .p256, scalar: readerScalar) : nil, request: nil,
      at: try #require(Timestamp(rfc3339: time))
    ).conclude()
  }
}

/// Requests that others published, compared with our own.
@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct PublishedRequestTests {
  private struct Sample: Decodable {
    struct Data: Decodable { let deviceRequest: String }
    let data: Data
  }
  private struct Deterministic: Decodable { let deviceRequestB64: String }

  private let annexD = "iso18013-5-annexD/"

  /// D.4.1.1 with its reader's signature over D.5.1.
  @Test func theSignatureOfAnnexDIsOverTheSameBytes() throws {
    let item = try CBORItem(parsing: PublishedVectors.bytes(annexD + "D.4.1.1-device-request.cbor"))
    let request = try #require(item[key: "docRequests"]?.elements.map { Array($0) }?.first)
    let itemsRequest = Array(try #require(request[key: "itemsRequest"]).encoded)
    let transcript = try SessionTranscript(encoded: PublishedVectors.bytes(annexD + "D.5.1-session-transcript.cbor"))
    let payload = ReaderAuthentication.bytes(over: itemsRequest, transcript)
    #expect(payload == (try PublishedVectors.bytes(annexD + "D.5.4-reader-authentication-bytes.cbor")))
    let message = try COSESign1(parsing: try #require(request[key: "readerAuth"]))
    let leaf = try Certificate(der: try #require(message.headers.x5chain?.first))
    #expect(message.verify(payload: payload[...], key: try #require(leaf.publicKey)) == .valid)
    #expect(
      message.toBeSigned(payload: payload[...])
        == (try PublishedVectors.bytes(annexD + "D.5.4-reader-sig-structure.cbor")))
  }

  @Test func theRequestOfAnnexDIsWrittenInItsBytes() throws {
    let published = try CBORItem(parsing: PublishedVectors.bytes(annexD + "D.4.1.1-device-request.cbor"))
    let names = ["family_name", "document_number", "driving_privileges", "issue_date", "expiry_date", "portrait"]
    let elements = names.map {
      ElementRequest(ElementReference(Namespace.mDL, $0), intentToRetain: $0 != "portrait")
    }
    let ours = try CBORItem(
      parsing: DeviceRequest(
        PresentationRequest(documents: [DocumentRequest(docType: DocType.mDL, elements: elements)])
      ).encoded)
    func itemsRequest(_ item: CBORItem) -> [UInt8]? {
      item[key: "docRequests"]?.elements.map { Array($0) }?.first?[key: "itemsRequest"].map { Array($0.encoded) }
    }
    #expect(itemsRequest(ours) == itemsRequest(published))
  }

  @Test func ageRequestsOverTheWebAreWrittenInTheirBytes() throws {
    let profile: Sample = try PublishedVectors.json("iso18013-7-annexC/eu-av-profile-example.json")
    #expect(Base64.encodeURLSafe(ageRequest("eu.europa.ec.av.1")) == profile.data.deviceRequest)
    let vector: Deterministic = try PublishedVectors.json("iso18013-7-annexC/ANNEXC-DETERMINISTIC-001.json")
    #expect(Base64.encodeURLSafe(ageRequest(DocType.mDL)) == vector.deviceRequestB64)
  }

  private func ageRequest(_ docType: String) -> [UInt8] {
    let document = DocumentRequest(docType: docType, elements: [], ageOver: [18])
    return DeviceRequest(PresentationRequest(documents: [document])).encoded
  }

  /// Its origin is not published, so its signature cannot be checked.
  @Test func theSignedRequestOfAppleHasTheMembersThatWeWrite() throws {
    let sample: Sample = try PublishedVectors.json("apple-dcapi/apple-doc-sample-request.json")
    let apples = try CBORItem(parsing: try #require(Base64.decodeURLSafe(sample.data.deviceRequest)))
    let names = ["portrait", "given_name", "age_over_21", "family_name"]
    let elements = names.map {
      ElementRequest(ElementReference(Namespace.mDL, $0), intentToRetain: $0 != "age_over_21")
    }
    let request = PresentationRequest(documents: [DocumentRequest(docType: DocType.mDL, elements: elements)])
    let ours = try CBORItem(
      parsing: DeviceRequest(
        request, signedBy: ReaderFixture().identity, over: SessionTranscript(encoded: [0x83, 0xf6, 0xf6, 0xf6])
      ).encoded)
    #expect(ours.memberNames == apples.memberNames)
    #expect(ours[key: "version"]?.text == apples[key: "version"]?.text)
    #expect(ours.info == apples.info)
    for name in ["docType", "nameSpaces"] {
      func members(_ item: CBORItem) -> [[UInt8]?]? {
        item.itemsRequests?.map { $0[key: name].map { Array($0.encoded) } }
      }
      #expect(members(ours) == members(apples))
    }
    let theirs = try COSESign1(parsing: try #require(apples[key: "readerAuthAll"]?.elements.map { Array($0) }?.first))
    #expect(theirs.payload == nil && theirs.headers.algorithmIdentifier == -7)
    #expect(theirs.headers.x5chain?.count == 1)
  }
}
