import Base
import Cryptography
import Mdoc
import TestSupport
import Testing

@testable import Presentation

/// Session encryption and its messages, with the worked example of ISO/IEC 18013-5, Annex D, and with wrong messages.
@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct SessionEncryptionTests {
  private struct Manifest: Decodable {
    struct Key: Decodable { let d: HexBytes }
    struct Keys: Decodable { let eReaderKey, eDeviceKey: Key }
    let keys: Keys
  }

  private let folder = "iso18013-5-annexD/"
  private let reader: PrivateKey
  private let device: PrivateKey
  private let transcript: SessionTranscript
  private let establishment: SessionMessage
  private let sessionData: SessionMessage

  init() throws {
    let manifest: Manifest = try PublishedVectors.json(folder + "manifest.json")
    reader = try PrivateKey(curve: .p256, scalar: manifest.keys.eReaderKey.d.bytes)
    device = try PrivateKey(curve: .p256, scalar: manifest.keys.eDeviceKey.d.bytes)
    transcript = try SessionTranscript(encoded: PublishedVectors.bytes(folder + "D.5.1-session-transcript.cbor"))
    establishment = try SessionMessage(parsing: PublishedVectors.bytes(folder + "D.5.1-session-establishment.cbor"))
    sessionData = try SessionMessage(parsing: PublishedVectors.bytes(folder + "D.5.1-session-data.cbor"))
  }

  private func side(_ role: SessionEncryption.Role) throws -> SessionEncryption {
    let isReader = role == .reader
    return try SessionEncryption(
      as: role, privateKey: isReader ? reader : device, peerKey: (isReader ? device : reader).publicKey,
      transcript: transcript)
  }

  @Test func theReadersMessageIsThatOfAnnexD() throws {
    let request = try PublishedVectors.bytes(folder + "D.4.1.1-device-request.cbor")
    let data = try #require(establishment.data)
    var reader = try side(.reader)
    #expect(try reader.encrypt(request) == data)
    var device = try side(.device)
    #expect(try device.decrypt(data) == request)
  }

  @Test func theDevicesMessageIsThatOfAnnexD() throws {
    let response = try PublishedVectors.bytes(folder + "D.4.1.2-device-response.cbor")
    let data = try #require(sessionData.data)
    var device = try side(.device)
    #expect(try device.encrypt(response) == data)
    var reader = try side(.reader)
    #expect(try reader.decrypt(data) == response)
    // The same message again would count as the second one.
    #expect(throws: CryptoError.decryptionFailed) { try reader.decrypt(data) }
  }

  @Test func messagesAreCounted() throws {
    var reader = try side(.reader)
    var device = try side(.device)
    let first = try reader.encrypt([1])
    let second = try reader.encrypt([1])
    #expect(first != second)
    #expect(throws: CryptoError.decryptionFailed) { try device.decrypt(second) }
    #expect(try device.decrypt(first) == [1])
    #expect(try device.decrypt(second) == [1])
  }

  @Test func keysOnTwoCurvesAgreeOnNothing() throws {
    let other = try PrivateKey(generatingOn: .p384).publicKey
    #expect(throws: CryptoError.keyAgreementFailed) {
      _ = try SessionEncryption(as: .reader, privateKey: reader, peerKey: other, transcript: transcript)
    }
  }

  @Test func theEstablishmentCarriesTheReadersKey() throws {
    let session = try ReaderSession(
      deviceEngagement: PublishedVectors.bytes(folder + "D.3.1-device-engagement-qr.cbor"),
      readerKey: try #require(establishment.readerKey), handover: .qr, privateKey: reader)
    #expect(session.readerKey == reader.publicKey)
    #expect(sessionData.readerKey == nil)
  }
}
