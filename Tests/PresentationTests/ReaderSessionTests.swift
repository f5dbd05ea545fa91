import Base
import CBOR
import COSE
import Cryptography
import Mdoc
import Mock
import Testing
import Trust

@testable import Presentation

/// A reader's submissions, correct or wrong in one respect.
@Suite struct ReaderSessionTests {
  private static let select: [UInt8] = [0x91, 0x02, 0x01]
  private static let request: [UInt8] = [0x91, 0x02, 0x02]

  private let setup: MockSetup
  private let reader: PrivateKey
  private let device: PrivateKey
  private let engagement: [UInt8]

  init() throws {
    setup = try MockSetup()
    reader = try PrivateKey(generatingOn: .p256)
    device = try PrivateKey(generatingOn: .p256)
    engagement = CBORValue.map([
      (key: 0, value: "1.0"), (key: 1, value: [1, .embedded(COSEKey.encode(device.publicKey))]),
    ]).encoded()
  }

  private var readerKey: [UInt8] { COSEKey.encode(reader.publicKey).encoded() }

  private func session(
    _ handover: Proximity.Handover = .qr, privateKey: PrivateKey?, engagement: [UInt8]? = nil
  ) throws -> ReaderSession {
    try ReaderSession(
      deviceEngagement: engagement ?? self.engagement, readerKey: readerKey, handover: handover,
      privateKey: privateKey)
  }

  /// The response of a device that used the given handover.
  private func response(_ handover: Proximity.Handover = .qr, isMac: Bool = false) throws -> [UInt8] {
    let transcript = Proximity.transcript(deviceEngagement: engagement, readerKey: readerKey, handover: handover)
    return try setup.wallet.answer(
      .standard, transcript: transcript.encoded,
      authentication: isMac ? .mac(readerKey: reader.publicKey) : .signature, at: setup.now
    ).deviceResponse
  }

  private func verify(_ answer: Proximity.Response, _ session: ReaderSession) -> Verdict {
    Proximity(verifier: MdocVerifier(trust: setup.trust)).authenticate(
      answer, in: session, request: PresentationRequest(.standard), at: setup.now
    ).conclude()
  }

  private func encrypted(
    _ message: [UInt8], _ handover: Proximity.Handover = .qr, status: CBORValue? = nil
  ) throws -> [UInt8] {
    var device = try SessionEncryption(
      as: .device, privateKey: self.device, peerKey: reader.publicKey,
      transcript: Proximity.transcript(deviceEngagement: engagement, readerKey: readerKey, handover: handover))
    var members: [(key: CBORValue, value: CBORValue)] = [(key: "data", value: .bytes(try device.encrypt(message)))]
    if let status { members.append((key: "status", value: status)) }
    return CBORValue.map(members).encoded()
  }

  @Test func responsesAreVerifiedInClearAndEncrypted() throws {
    for handover in [Proximity.Handover.qr, .nfc(select: Self.select, request: Self.request)] {
      for isMac in [false, true] {
        let response = try response(handover, isMac: isMac)
        let session = try session(handover, privateKey: reader)
        #expect(verify(.deviceResponse(response), session).codes == [])
        #expect(try verify(.sessionData(encrypted(response, handover)), session).codes == [])
        #expect(try verify(.sessionData(encrypted(response, handover, status: 20)), session).codes == [])
      }
    }
    #expect(try verify(.deviceResponse(response()), session(privateKey: nil)).codes == [])
    #expect(
      try verify(.deviceResponse(response(isMac: true)), session(privateKey: nil)).codes == [.deviceMacNotAllowed])
  }

  @Test func thePartsMayStandInTheirTag24() throws {
    let tagged = try ReaderSession(
      deviceEngagement: CBORValue.tagged(24, .bytes(engagement)).encoded(),
      readerKey: CBORValue.tagged(24, .bytes(readerKey)).encoded(), handover: .qr, privateKey: nil)
    #expect(try tagged.transcript == session(privateKey: nil).transcript)
  }

  @Test func partsThatAreNoneAreRefused() throws {
    for engagement in [[], [0x80], [0xa0, 0x00], Array("mdoc:".utf8)] as [[UInt8]] {
      #expect(throws: ReaderSessionError.deviceEngagementMalformed) {
        try session(privateKey: nil, engagement: engagement)
      }
    }
    for key in [[], [0xa0], readerKey.dropLast() + [readerKey[readerKey.count - 1] ^ 1]] as [[UInt8]] {
      #expect(throws: ReaderSessionError.readerKeyMalformed) {
        try ReaderSession(deviceEngagement: engagement, readerKey: key, handover: .qr, privateKey: nil)
      }
    }
  }

  @Test(arguments: [Curve.p256, .p384])
  func aPrivateKeyThatIsNotTheReadersIsRefused(curve: Curve) throws {
    let session = try session(privateKey: PrivateKey(generatingOn: curve))
    #expect(try verify(.deviceResponse(response()), session).codes == [.readerKeyMismatch])
    #expect(try verify(.sessionData(encrypted(response())), session).codes == [.readerKeyMismatch])
  }

  @Test func aHandoverThatTheDeviceTookOtherwiseIsNamed() throws {
    let negotiated = Proximity.Handover.nfc(select: Self.select, request: Self.request)
    let isStatic = Proximity.Handover.nfc(select: Self.select, request: nil)
    let cases: [(Proximity.Handover, Proximity.Handover, String)] = [
      (negotiated, .qr, "the handover of a QR code"), (isStatic, .qr, "the handover of a QR code"),
      (negotiated, isStatic, "static handover by NFC"),
    ]
    for (ours, theirs, phrase) in cases {
      for isMac in [false, true] {
        let verdict = try verify(
          .deviceResponse(response(theirs, isMac: isMac)), session(ours, privateKey: reader))
        let code = isMac ? Code.deviceMacInvalid : .deviceSignatureInvalid
        #expect(verdict.codes == [code])
        let check = verdict.report.documents.first?.checks.first { $0.code == code }
        #expect(check?.detail == "the device signed for \(phrase)")
      }
      let verdict = try verify(.sessionData(encrypted(response(theirs), theirs)), session(ours, privateKey: reader))
      #expect(verdict.codes == [.envelopeDecryptionFailed])
      #expect(verdict.detail(of: .envelopeDecryptionFailed) == "it decrypts with \(phrase)")
    }
  }

  @Test(arguments: [Curve.p384, .p521, .brainpoolP320r1, .x25519, .x448])
  func sessionKeysMayBeOnAnyCurve(curve: Curve) throws {
    let reader = try PrivateKey(generatingOn: curve)
    let device = try PrivateKey(generatingOn: curve)
    let engagement = CBORValue.map([
      (key: 0, value: "1.0"), (key: 1, value: [1, .embedded(COSEKey.encode(device.publicKey))]),
    ]).encoded()
    let session = try ReaderSession(
      deviceEngagement: engagement, readerKey: COSEKey.encode(reader.publicKey).encoded(), handover: .qr,
      privateKey: reader)
    let response = try setup.wallet.answer(.standard, transcript: session.transcript.encoded, at: setup.now)
    var encryption = try SessionEncryption(
      as: .device, privateKey: device, peerKey: reader.publicKey, transcript: session.transcript)
    let data = CBORValue.bytes(try encryption.encrypt(response.deviceResponse))
    #expect(verify(.sessionData(CBORValue.map([(key: "data", value: data)]).encoded()), session).codes == [])
  }

  @Test func whatIsNoSessionDataIsMalformed() throws {
    let session = try session(privateKey: reader)
    let data = CBORValue.bytes([1])
    let wrong: [CBORValue] = [
      [:], [], "data", ["data": "text"], ["status": -1], ["status": "20"], ["data": data, "status": nil],
      ["eReaderKey": data, "data": data], ["eReaderKey": .tagged(24, "x"), "data": data],
    ]
    for value in wrong {
      #expect(verify(.sessionData(value.encoded()), session).codes == [.sessionDataMalformed])
    }
    #expect(verify(.sessionData([0xa1]), session).codes == [.cborTruncated])
  }

  @Test(arguments: [
    (10, "10, session encryption error"), (11, "11, CBOR decoding error"), (20, "20, session termination"), (99, "99"),
  ])
  func aDeviceThatGaveUpIsReported(status: Int64, name: String) throws {
    let session = try session(privateKey: reader)
    let verdict = verify(.sessionData(CBORValue.map([(key: "status", value: .integer(status))]).encoded()), session)
    #expect(verdict.codes == [.sessionTerminated])
    #expect(verdict.detail(of: .sessionTerminated) == "status \(name)")
    guard status != 20 else { return }
    let both = try encrypted(response(), status: .integer(status))
    #expect(verify(.sessionData(both), session).codes == [.sessionTerminated])
  }

  @Test func dataThatDoNotOpenAreRefused() throws {
    let message = try response()
    let session = try session(privateKey: reader)
    var damaged = try encrypted(message)
    damaged[damaged.count - 1] ^= 1
    #expect(verify(.sessionData(damaged), session).codes == [.envelopeDecryptionFailed])
    let withoutDeviceKey = try self.session(privateKey: reader, engagement: [0xa1, 0x00, 0x63, 0x31, 0x2e, 0x30])
    #expect(try verify(.sessionData(encrypted(message)), withoutDeviceKey).codes == [.envelopeDecryptionFailed])
    #expect(
      try verify(.sessionData(encrypted(message)), self.session(privateKey: nil)).codes == [.envelopeDecryptionFailed])
    #expect(try verify(.sessionData(encrypted([0xa0])), session).codes == [.responseMalformed])
  }

  /// Apple's ProximityReader returns the transcript as a whole.
  @Test func `a whole transcript has three parts`() throws {
    let parts: [CBORValue] = [.embedded(.encoded(engagement)), .embedded(.encoded(readerKey)), nil]
    for tagged in [CBORValue.array(parts), .embedded(.array(parts))] {
      _ = try ReaderSession(transcript: tagged.encoded(), privateKey: reader)
    }
    for wrong in [CBORValue.array(parts + [nil]), .array(Array(parts.dropLast()))] {
      let error = #expect(throws: ReaderSessionError.self) {
        try ReaderSession(transcript: wrong.encoded(), privateKey: nil)
      }
      #expect(error == .transcriptMalformed)
    }
  }
}
