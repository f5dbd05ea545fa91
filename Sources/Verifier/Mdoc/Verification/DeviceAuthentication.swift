import Base
import CBOR
import COSE
import Cryptography

/// mdoc authentication (ISO/IEC 18013-5:2021, 9.1.3): the device key, what it may sign, and its signature or MAC over
/// our transcript.
struct DeviceAuthentication {
  let document: Document
  let mso: MobileSecurityObject
  let transcript: SessionTranscript
  let macPolicy: PresentedResponse.MacPolicy
  var alternatives: [AlternativeTranscript] = []
  let issuerKey: PublicKey?

  /// The method by which the device was authenticated, or nil; every check is noted either way.
  func run(into checks: inout CheckList) -> DeviceAuthenticationMethod? {
    let key = deviceKey(&checks)
    checks.expect(
      key == nil || key?.key != issuerKey, .deviceKeySameAsIssuer, "deviceKey is the key of the signer's certificate")
    let elements = document.deviceSigned?.elements ?? []
    let unauthorized = elements.map(\.reference).filter { !mso.keyAuthorizations.allows($0) }
    checks.require(unauthorized.isEmpty, .deviceElementUnauthorized, names(unauthorized))
    return authenticate(key: key, &checks)
  }

  private func deviceKey(_ checks: inout CheckList) -> COSEKey? {
    guard let item = mso.deviceKey else {
      checks.failed(.deviceKeyInvalid, "deviceKeyInfo has no deviceKey")
      return nil
    }
    do throws(COSEKey.Fault) {
      let key = try COSEKey(item)
      checks.passed(.deviceKeyInvalid)
      return key
    } catch {
      checks.failed(.deviceKeyInvalid, "the device key \(error.description)")
      return nil
    }
  }

  private func authenticate(key: COSEKey?, _ checks: inout CheckList) -> DeviceAuthenticationMethod? {
    let signature = document.deviceSigned?.deviceSignature
    let mac = document.deviceSigned?.deviceMac
    checks.require(
      signature != nil || mac != nil, .deviceAuthMissing,
      document.deviceSigned == nil ? "deviceSigned is missing" : "deviceAuth has neither deviceSignature nor deviceMac")
    checks.require(
      signature == nil || mac == nil, .deviceAuthAmbiguous, "deviceAuth has both deviceSignature and deviceMac")
    defer { checks.skipRest(of: Self.codes) }
    switch (signature, mac) {
    case (let signature?, nil): return verify(signature: signature, key: key, &checks) ? .signature : nil
    case (nil, let mac?): return verify(mac: mac, key: key, &checks) ? .mac : nil
    default: return nil
    }
  }

  /// DeviceAuthenticationBytes over our transcript. The message's payload must be detached (9.1.3.6); these very bytes as
  /// its payload are a slip (`Slip`), since they say nothing else than a detached one.
  private func bytes(besides payload: CBORItem?) throws(COSEError) -> [UInt8] {
    let bytes = Self.bytes(of: document, over: transcript)
    guard let payload, payload.bytes?.elementsEqual(bytes) != true else { return bytes }
    throw .malformed("its payload is attached, and is not this session's DeviceAuthenticationBytes")
  }

  private func verify(signature: CBORItem, key: COSEKey?, _ checks: inout CheckList) -> Bool {
    do throws(COSEError) {
      let message = try COSESign1(parsing: signature, readsPastSlips: true)
      let bytes = try bytes(besides: message.payload)
      checks.passed(.deviceAuthMalformed)
      checks.notRun(.deviceMacNotAllowed)
      guard let key else { return false }
      let objection = message.objection(to: key)
      let verdict = objection == nil ? message.verify(payload: bytes[...], key: key.key) : .keyMismatch
      checks.note(
        verdict,
        in: [
          (.algorithmUnsupported, .deviceAlgorithmUnsupported), (.keyMismatch, .deviceAlgorithmKeyMismatch),
          (.invalid, .deviceSignatureInvalid),
        ],
        objection
          ?? explanation(of: verdict == .invalid) { other in
            message.verify(payload: Self.bytes(of: document, over: other)[...], key: key.key) == .valid
          } ?? message.words(verdict, key: key.key, "the device key", ", over this session's transcript"))
      return verdict == .valid
    } catch {
      checks.append([error.check(of: "deviceSignature", orMalformed: .deviceAuthMalformed)])
      return false
    }
  }

  private func verify(mac: CBORItem, key: COSEKey?, _ checks: inout CheckList) -> Bool {
    do throws(COSEError) {
      let message = try COSEMac0(parsing: mac, readsPastSlips: true)
      let bytes = try bytes(besides: message.payload)
      checks.passed(.deviceAuthMalformed)
      guard case .allowed(let readerKey) = macPolicy, key == nil || key?.key.curve == readerKey.curve else {
        checks.failed(.deviceMacNotAllowed, macFault(of: key))
        return false
      }
      checks.passed(.deviceMacNotAllowed)
      guard let key else { return false }
      if let objection = key.objectionToAgreement {
        checks.notRun(.deviceAlgorithmUnsupported)
        checks.failed(.deviceAlgorithmKeyMismatch, objection)
        return false
      }
      let verdict = verify(message, of: bytes, over: transcript, key: key.key, readerKey: readerKey)
      checks.note(
        verdict, in: [(.algorithmUnsupported, .deviceAlgorithmUnsupported)],
        "\(message.headers.algorithmWords): expected is \(COSEMac0.hmac256) (HMAC 256/256)")
      checks.notRun(.deviceAlgorithmKeyMismatch, .deviceSignatureInvalid)
      if verdict != .algorithmUnsupported {
        checks.note(
          verdict, in: [(.invalid, .deviceMacInvalid)],
          explanation(of: true) { other in
            verify(
              message, of: Self.bytes(of: document, over: other), over: other, key: key.key, readerKey: readerKey)
              == .valid
          } ?? Self.words(of: message))
      }
      return verdict == .valid
    } catch {
      checks.append([error.check(of: "deviceMac", orMalformed: .deviceAuthMalformed)])
      return false
    }
  }

  /// Which other session the device answered, if one is known. The check has failed and stays so.
  private func explanation(of isInvalid: Bool, isFor: (SessionTranscript) -> Bool) -> String? {
    isInvalid ? alternatives.difference(where: isFor).map { "the device signed for \($0)" } : nil
  }

  private static func words(of message: COSEMac0) -> String {
    let count = message.authenticationTag.count
    return count == HashAlgorithm.sha256.digestLength
      ? "the tag is not that of the device key and this session's reader key over its transcript"
      : "the tag has \(count) bytes, HMAC 256/256 has \(HashAlgorithm.sha256.digestLength)"
  }

  private func macFault(of key: COSEKey?) -> String {
    guard case .allowed(let readerKey) = macPolicy, let key else {
      return "deviceMac, and this protocol has no reader's key to agree a secret with: deviceSignature is expected"
    }
    return "the device key is on \(key.key.curve.rawValue), the reader's on \(readerKey.curve.rawValue)"
  }

  /// EMacKey (9.1.3.5): HKDF-SHA-256 over the agreed secret, salted with SHA-256 of SessionTranscriptBytes.
  private func verify(
    _ message: COSEMac0, of bytes: [UInt8], over transcript: SessionTranscript, key: PublicKey, readerKey: PrivateKey
  ) -> COSEMac0.Verdict {
    do throws(CryptoError) {
      let secret = try readerKey.sharedSecret(with: key)
      let salt = HashAlgorithm.sha256.hash(transcript.taggedBytes)
      let macKey = try HKDF.deriveKey(from: secret, salt: salt, info: Array("EMacKey".utf8), length: 32)
      return message.verify(payload: bytes[...], key: macKey)
    } catch {
      return .invalid
    }
  }

  /// DeviceAuthenticationBytes (9.1.3.4): `#6.24(bstr .cbor ["DeviceAuthentication", SessionTranscript, DocType,
  /// DeviceNameSpacesBytes])`. DeviceNameSpacesBytes are the bytes as received.
  static func bytes(of document: Document, over transcript: SessionTranscript) -> [UInt8] {
    var array: [UInt8] = []
    array.reserveCapacity(transcript.encoded.count + 256)
    CBORHead.appendArray(count: 4, to: &array)
    CBORValue.text("DeviceAuthentication").append(to: &array)
    array += transcript.encoded
    CBORValue.text(document.docType).append(to: &array)
    array += document.deviceSigned?.nameSpacesBytes ?? []
    return CBORValue.tagged(24, .bytes(array)).encoded()
  }

  /// Every check of this stage, in the order in which they are made.
  static let codes: [Code] = [
    .deviceKeyInvalid, .deviceKeySameAsIssuer, .deviceElementUnauthorized, .deviceAuthMissing, .deviceAuthAmbiguous,
    .deviceAuthMalformed, .deviceMacNotAllowed, .deviceAlgorithmUnsupported, .deviceAlgorithmKeyMismatch,
    .deviceSignatureInvalid, .deviceMacInvalid,
  ]
}

/// The size and hash of the bytes that a document's two signatures cover, to compare with what another implementation
/// prints. They verify nothing, and no data can be read out of them.
public struct SignatureInputs: Sendable, Hashable {
  /// An encoded Sig_structure (RFC 9052, 4.4).
  public struct Input: Sendable, Hashable {
    public let count: Int
    public let sha256: [UInt8]

    fileprivate init(_ bytes: [UInt8]) {
      count = bytes.count
      sha256 = HashAlgorithm.sha256.hash(bytes)
    }
  }

  /// The input of the issuer's signature; nil if IssuerAuth can't be read or has no payload.
  public let issuer: Input?
  /// The input of the device's signature; nil if there is none, or it can't be read.
  public let device: Input?

  init(of document: Document, over transcript: SessionTranscript) {
    let issuerAuth = document.issuerAuth.flatMap { try? COSESign1(parsing: $0, readsPastSlips: true) }
    issuer = issuerAuth.flatMap { message in
      (message.payload?.bytes).map { Input(message.toBeSigned(payload: $0)) }
    }
    let signature = (document.deviceSigned?.deviceSignature).flatMap {
      try? COSESign1(parsing: $0, readsPastSlips: true)
    }
    device = signature.map {
      Input($0.toBeSigned(payload: DeviceAuthentication.bytes(of: document, over: transcript)[...]))
    }
  }
}

extension DeviceResponse {
  /// The signature inputs of each document, in the order of the response.
  public func signatureInputs(over transcript: SessionTranscript) -> [SignatureInputs] {
    documents.map { SignatureInputs(of: $0, over: transcript) }
  }
}
