import Base
import CBOR
import COSE
import Cryptography

/// mdoc authentication (ISO/IEC 18013-5:2021, 9.1.3): the device key, the elements that it may sign, and its signature
/// or MAC over this verifier's transcript.
struct DeviceAuthentication {
  let document: Document
  let mso: MobileSecurityObject
  let transcript: SessionTranscript
  /// The reader's ephemeral key for agreeing on the MAC key (9.1.3.5); nil if no MAC is allowed.
  let readerKey: PrivateKey?
  var alternatives: [AlternativeTranscript] = []
  let issuerKey: PublicKey?

  /// Runs every check; nil if the device was not authenticated. Every check is recorded in either case.
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
    do throws(COSEKeyError) {
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

  /// DeviceAuthenticationBytes over this verifier's transcript. The message's payload must be detached (9.1.3.6).
  /// Attaching these same bytes is a tolerated deviation (`Deviation`).
  private func bytes(besides payload: CBORItem?) throws(COSEError) -> [UInt8] {
    let bytes = Self.bytes(of: document, over: transcript)
    guard let payload, payload.bytes?.elementsEqual(bytes) != true else { return bytes }
    throw .malformed("its payload is attached, but is not this session's DeviceAuthenticationBytes")
  }

  private func verify(signature: CBORItem, key: COSEKey?, _ checks: inout CheckList) -> Bool {
    do throws(COSEError) {
      let message = try COSESign1(parsing: signature, toleratesDeviations: true)
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
          ?? (verdict != .invalid
            ? nil
            : otherSession { other in
              message.verify(payload: Self.bytes(of: document, over: other)[...], key: key.key) == .valid
            }) ?? message.words(verdict, key: key.key, "the device key", ", over this session's transcript"))
      return verdict == .valid
    } catch {
      checks.append([error.check(of: "deviceSignature", orMalformed: .deviceAuthMalformed)])
      return false
    }
  }

  private func verify(mac: CBORItem, key: COSEKey?, _ checks: inout CheckList) -> Bool {
    do throws(COSEError) {
      let message = try COSEMac0(parsing: mac, toleratesDeviations: true)
      let bytes = try bytes(besides: message.payload)
      checks.passed(.deviceAuthMalformed)
      guard let readerKey else {
        checks.failed(
          .deviceMacNotAllowed,
          "deviceMac cannot be checked: this protocol has no reader key; expected deviceSignature")
        return false
      }
      let isAgreed = key == nil || key?.key.curve == readerKey.curve
      checks.require(
        isAgreed, .deviceMacNotAllowed,
        "the device key is on \(key?.key.curve.rawValue ?? ""), the reader's on \(readerKey.curve.rawValue)")
      guard isAgreed, let key else { return false }
      if let objection = key.objectionToAgreement {
        checks.notRun(.deviceAlgorithmUnsupported)
        checks.failed(.deviceAlgorithmKeyMismatch, objection)
        return false
      }
      let verdict = verify(message, of: bytes, over: transcript, key: key.key, readerKey: readerKey)
      checks.note(
        verdict, in: [(.algorithmUnsupported, .deviceAlgorithmUnsupported)],
        "\(message.headers.algorithmWords): expected \(COSEMac0.hmac256) (HMAC 256/256)")
      checks.notRun(.deviceAlgorithmKeyMismatch, .deviceSignatureInvalid)
      if verdict != .algorithmUnsupported {
        let (count, expected) = (message.authenticationTag.count, HashAlgorithm.sha256.digestLength)
        checks.note(
          verdict, in: [(.invalid, .deviceMacInvalid)],
          count != expected
            ? "the tag has \(count) bytes, but HMAC 256/256 has \(expected)"
            : otherSession { other in
              verify(
                message, of: Self.bytes(of: document, over: other), over: other, key: key.key, readerKey: readerKey)
                == .valid
            } ?? "the MAC does not verify with the device key, this session's reader key and transcript")
      }
      return verdict == .valid
    } catch {
      checks.append([error.check(of: "deviceMac", orMalformed: .deviceAuthMalformed)])
      return false
    }
  }

  /// The other session for which the device signed, if that session is known. The check fails in either case.
  private func otherSession(isFor: (SessionTranscript) -> Bool) -> String? {
    alternatives.difference(where: isFor).map { "the device signed for \($0)" }
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
  /// DeviceNameSpacesBytes])`. DeviceNameSpacesBytes are the received bytes.
  static func bytes(of document: Document, over transcript: SessionTranscript) -> [UInt8] {
    var array: [UInt8] = []
    array.reserveCapacity(transcript.encoded.count + 256)
    CBORHead.appendArray(count: 4, to: &array)
    CBORHead.appendText("DeviceAuthentication", to: &array)
    array += transcript.encoded
    CBORHead.appendText(document.docType, to: &array)
    array += document.deviceSigned?.nameSpacesBytes ?? []
    var tagged: [UInt8] = []
    tagged.reserveCapacity(array.count + 16)
    CBORHead.appendTag(24, to: &tagged)
    CBORHead.appendBytes(count: array.count, to: &tagged)
    return tagged + array
  }

  static let codes: [Code] = [
    .deviceKeyInvalid, .deviceKeySameAsIssuer, .deviceElementUnauthorized, .deviceAuthMissing, .deviceAuthAmbiguous,
    .deviceAuthMalformed, .deviceMacNotAllowed, .deviceAlgorithmUnsupported, .deviceAlgorithmKeyMismatch,
    .deviceSignatureInvalid, .deviceMacInvalid,
  ]
}

/// The size and hash of the bytes that a document's two signatures cover, for comparison with the output of another
/// implementation. They verify nothing and expose no data.
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

  /// The input of the issuer's signature; nil if IssuerAuth cannot be read or has no payload.
  public let issuer: Input?
  /// The input of the device's signature; nil if there is no signature, or it cannot be read.
  public let device: Input?

  init(of document: Document, over transcript: SessionTranscript) {
    issuer = document.issuerMessage.flatMap { message in
      (message.payload?.bytes).map { Input(message.toBeSigned(payload: $0)) }
    }
    device = document.deviceSignatureMessage.map {
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

extension Code {
  public static let deviceKeyInvalid = Code(
    "mdoc.device_key.invalid", "The device key is missing, not a public key, or not on its curve", "\(iso), 9.1.2.4",
    .issuer, passes: "The device key is valid")
  public static let deviceKeySameAsIssuer = Code(
    "mdoc.device_key.same_as_issuer", "The device key is the document signer's key", "\(iso), 9.1.3", .issuer,
    passes: "The device key is not the issuer's", warns: true)
  public static let deviceElementUnauthorized = Code(
    "mdoc.device_signed.element_unauthorized", "A device-signed element is not among those that the issuer authorised",
    "\(iso), 9.1.2.4", .forged, passes: "The device signed only authorised elements")
  public static let deviceAuthMissing = Code(
    "mdoc.device_auth.missing", "The document carries neither a device signature nor a device MAC", "\(iso), 9.1.3",
    .forged, passes: "The device authenticated the response")
  public static let deviceAuthAmbiguous = Code(
    "mdoc.device_auth.ambiguous", "The document carries a device signature and a device MAC", "\(iso), 9.1.3", .wallet,
    passes: "The device authenticated in one way")
  public static let deviceAuthMalformed = Code(
    "mdoc.device_auth.malformed", "The device signature or MAC is not a COSE structure with a detached payload",
    "\(iso), 9.1.3", .wallet, passes: "The device authentication is well-formed")
  public static let deviceMacNotAllowed = Code(
    "mdoc.device_auth.mac_not_allowed", "The device sent a MAC, and this protocol has no reader key to check it",
    "\(iso), 9.1.3.5",
    "For an in-person presentation, supply the reader's ephemeral private key. Otherwise the wallet must sign.",
    passes: "A MAC may authenticate in this protocol")
  public static let deviceAlgorithmUnsupported = Code(
    "mdoc.device_auth.algorithm_unsupported",
    "The device's algorithm is absent from the protected header or not one of the standard's", "\(iso), 9.1.3", .wallet,
    passes: "The device's algorithm is allowed")
  public static let deviceAlgorithmKeyMismatch = Code(
    "mdoc.device_auth.algorithm_key_mismatch",
    "The device's algorithm does not fit the device key, or the key's `alg` or `key_ops` is for another use",
    "\(iso), 9.1.3; RFC 9052, 7.1", .wallet, passes: "The device's algorithm fits its key")
  public static let deviceSignatureInvalid = Code(
    "mdoc.device_auth.signature_invalid", "The device's signature does not verify over this session's transcript",
    "\(iso), 9.1.3.6",
    "Compare the transcript's inputs with the request's. If they match, treat the response as a replay or forgery.",
    passes: "The device signed this session")
  public static let deviceMacInvalid = Code(
    "mdoc.device_auth.mac_invalid", "The device's MAC does not verify over this session's transcript",
    "\(iso), 9.1.3.5",
    "Compare the transcript's inputs with the request's. If they match, treat the response as a replay or forgery.",
    passes: "The device's MAC is valid for this session")
}

extension CodeGroup {
  public static let deviceAuthentication = CodeGroup("Device authentication", DeviceAuthentication.codes)
}
