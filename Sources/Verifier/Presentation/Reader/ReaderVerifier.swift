import Base
import CBOR
import COSE
import Cryptography
import Mdoc
import PKIX

/// Authenticates the reader of a request as a wallet does: by reader authentication of a DeviceRequest (ISO/IEC
/// 18013-5:2021, 9.1.4), or by the signature of an OpenID4VP request object.
///
/// It shares only one function with signing: the function that builds the signed bytes.
public struct ReaderVerifier: Sendable {
  let anchors: SignerPath.Anchors
  let isStrict: Bool
  let isProfileRelaxed: Bool

  /// - Parameters:
  ///   - roots: authorities of readers, or readers that are trusted by themselves. Test certificates are accepted.
  ///   - isStrict: whether warnings fail.
  ///   - relaxingProfile: whether a certificate with a non-reader's usages or CA flag only warns. A path to a root is
  ///     required in any case.
  public init(roots: [Certificate], isStrict: Bool = false, relaxingProfile: Bool = false) {
    isProfileRelaxed = relaxingProfile
    anchors = SignerPath.Anchors(configured: roots, allowsTestCertificates: true)
    self.isStrict = isStrict
  }

  /// Checks a DeviceRequest over the transcript of its session.
  public func verify(deviceRequest bytes: [UInt8], over transcript: SessionTranscript, at now: Timestamp)
    -> ReaderReport
  {
    var checks = CheckList(expecting: 4)
    let request: ReceivedDeviceRequest
    do throws(DeviceRequestError) {
      request = try ReceivedDeviceRequest(parsing: bytes)
    } catch {
      checks.failed(.readerRequestMalformed, error.detail)
      checks.notRun(.readerAuthMissing)
      return ReaderReport(kind: .deviceRequest, checks: checks.checks, signatures: [])
    }
    checks.passed(.readerRequestMalformed)
    var signatures: [ReaderSignature] = []
    var covered = Set<Int>()
    for (index, document) in request.documents.enumerated() {
      guard let message = document.readerAuth else { continue }
      let payload = ReaderAuthentication.bytes(over: document.itemsRequest, transcript)
      let signature = verify(message, over: payload, at: "docRequests[\(index)].readerAuth", now)
      if signature.isGood { covered.insert(index) }
      signatures.append(signature)
    }
    // Only a signature over the whole request covers `deviceRequestInfo`.
    var isInfoCovered = request.info == nil
    let all = ReaderAuthentication.bytes(
      overAll: request.documents.map(\.itemsRequest), info: request.info, transcript)
    for (index, message) in request.readerAuthAll.enumerated() {
      let signature = verify(message, over: all, at: "readerAuthAll[\(index)]", now)
      if signature.isGood { covered.formUnion(request.documents.indices) }
      isInfoCovered = isInfoCovered || signature.isGood
      signatures.append(signature)
    }
    var uncovered = request.documents.indices.filter { !covered.contains($0) }.map { "docRequests[\($0)]" }
    // Parts without a signature, or with a broken one, are reported first.
    if uncovered.isEmpty, !isInfoCovered, !signatures.contains(where: \.isBroken) {
      uncovered.append("deviceRequestInfo")
    }
    checks.require(
      uncovered.isEmpty, .readerAuthMissing, "no valid signature covers " + uncovered.joined(separator: ", "))
    return ReaderReport(kind: .deviceRequest, checks: checks.checks, signatures: signatures)
  }

  private func verify(
    _ item: CBORItem, over payload: [UInt8], at location: String, _ now: Timestamp
  ) -> ReaderSignature {
    var checks = CheckList(expecting: 24)
    let message: COSESign1
    do throws(COSEError) {
      message = try COSESign1(parsing: item)
      guard message.payload == nil else { throw .malformed("its payload is attached, not detached") }
      checks.passed(.readerAuthMalformed)
    } catch {
      checks.failed(.readerAuthMalformed, error.detail)
      checks.skipRest(of: Self.codes)
      return ReaderSignature(location: location, certificates: [], checks: checks.checks)
    }
    guard let chain = certificates(message.headers.x5chain ?? [], &checks), let leaf = chain.first else {
      checks.skipRest(of: Self.codes)
      return ReaderSignature(location: location, certificates: [], checks: checks.checks)
    }
    let path = checkPath(chain, profileRejects: true, &checks, now)
    let verdict = leaf.publicKey.map { message.verify(payload: payload[...], key: $0) } ?? .algorithmUnsupported
    note(
      isSupported: verdict != .algorithmUnsupported && verdict != .keyMismatch, isValid: verdict == .valid,
      algorithm: message.headers.algorithmIdentifier.map { "\($0)" }, leaf, &checks)
    // Deviations from the profile of readers (B.1.7) do not affect trust.
    let profile = CertificateProfile.check(
      leaf, as: .readerAuthentication, issuer: path.dropFirst().first, at: now)
    for check in profile where check.outcome == .warning {
      checks.expect(false, check.code, check.detail, isStrict: isStrict)
    }
    return ReaderSignature(location: location, certificates: path, checks: checks.checks)
  }

  /// Every check of one signature, in its order of execution.
  static let codes: [Code] = [
    .readerAuthMalformed, .readerCertificateMissing, .readerUntrusted, .readerCertificateProfile,
    .readerAlgorithmUnsupported, .readerSignatureInvalid,
  ]

  /// The signature's certificates; nil, with the failed check recorded, if any cannot be read.
  func certificates(_ encoded: [ArraySlice<UInt8>], _ checks: inout CheckList) -> [Certificate]? {
    let isShort =
      encoded.count <= Limits.chainCertificates && encoded.allSatisfy { $0.count <= Limits.certificateBytes }
    let chain = isShort ? encoded.compactMap { try? Certificate(der: $0) } : []
    let isReadable = !encoded.isEmpty && chain.count == encoded.count
    checks.require(
      isReadable, .readerCertificateMissing,
      encoded.isEmpty ? "x5chain or x5c is missing" : "a certificate is malformed or too large")
    return isReadable ? chain : nil
  }

  /// The path to a root.
  /// - Parameter profileRejects: whether a certificate for another purpose is rejected. OpenID4VP does not prescribe
  ///   the purpose of a signer's certificate.
  func checkPath(
    _ chain: [Certificate], profileRejects: Bool, _ checks: inout CheckList, _ now: Timestamp
  ) -> [Certificate] {
    let path = SignerPath.validate(chain: chain, anchors: anchors, at: now, role: .readerAuthentication)
    for check in path.checks {
      switch (check.code, check.outcome) {
      case (.listSignerUntrusted, let outcome): checks.append([Check(.readerUntrusted, outcome, detail: check.detail)])
      case (.listSignerProfile, .failed) where (isProfileRelaxed || !profileRejects) && !isStrict:
        checks.warned(.readerCertificateProfile, check.detail)
      case (.listSignerProfile, .warning) where isStrict:
        checks.failed(.readerCertificateProfile, check.detail)
      case (.listSignerProfile, let outcome):
        checks.append([Check(.readerCertificateProfile, outcome, detail: check.detail)])
      // Nothing below a certificate with an unsupported algorithm is trusted.
      case (.listAlgorithmUnsupported, .failed): checks.failed(.readerAlgorithmUnsupported, "a certificate's algorithm")
      default: break
      }
    }
    return path.certificates
  }

  /// - Parameter algorithm: `alg` of the protected header; nil if it is absent.
  func note(
    isSupported: Bool, isValid: Bool, algorithm: String?, _ leaf: Certificate, _ checks: inout CheckList
  ) {
    let key = leaf.publicKey.map { "a key on \($0.curve.rawValue)" } ?? "an unsupported key"
    let found = algorithm.map { "alg \(shown($0))" } ?? "no protected alg"
    checks.require(isSupported, .readerAlgorithmUnsupported, "\(found) with \(key) is not supported")
    guard isSupported else { return checks.notRun(.readerSignatureInvalid) }
    checks.require(
      isValid, .readerSignatureInvalid,
      "\(found) with \(key): the signature is over another request or transcript, or by another key")
  }
}

/// A DeviceRequest (ISO/IEC 18013-5:2021, 8.3.2.1.2.1; second edition) as received: the bytes of its signed parts, and
/// the signatures.
struct ReceivedDeviceRequest {
  struct Document {
    /// ItemsRequestBytes, including tag 24.
    let itemsRequest: [UInt8]
    let readerAuth: CBORItem?
  }

  let documents: [Document]
  let readerAuthAll: [CBORItem]
  /// DeviceRequestInfoBytes, including tag 24.
  let info: [UInt8]?

  init(parsing bytes: [UInt8]) throws(DeviceRequestError) {
    let item: CBORItem
    do {
      item = try CBORItem(parsing: bytes)
    } catch {
      throw DeviceRequestError(detail: "\(error.code.rawValue) at byte \(error.offset)")
    }
    guard item.kind == .map else { throw DeviceRequestError(detail: "it is not a map") }
    guard let version = item[key: "version"]?.text, version.utf8.starts(with: "1.".utf8) else {
      throw DeviceRequestError(detail: "version is not 1.0 or 1.1")
    }
    guard let list = item[key: "docRequests"]?.elements.map(Array.init), !list.isEmpty,
      list.count <= Limits.documents
    else { throw DeviceRequestError(detail: "docRequests is not an array of 1 to \(Limits.documents)") }
    var documents: [Document] = []
    for (index, document) in list.enumerated() {
      guard let itemsRequest = document[key: "itemsRequest"], itemsRequest.embedded?.kind == .map else {
        throw DeviceRequestError(detail: "docRequests[\(index)].itemsRequest is not a map in tag 24")
      }
      documents.append(
        Document(itemsRequest: Array(itemsRequest.encoded), readerAuth: document[key: "readerAuth"]))
    }
    self.documents = documents
    let signatures = item[key: "readerAuthAll"].map { $0.elements.map(Array.init) ?? [] }
    guard signatures.map({ (1...Limits.documents).contains($0.count) }) ?? true else {
      throw DeviceRequestError(detail: "readerAuthAll is not an array of 1 to \(Limits.documents)")
    }
    readerAuthAll = signatures ?? []
    if let info = item[key: "deviceRequestInfo"] {
      guard info.embedded?.kind == .map else {
        throw DeviceRequestError(detail: "deviceRequestInfo is not a map in tag 24")
      }
      self.info = Array(info.encoded)
    } else {
      info = nil
    }
  }
}

package struct DeviceRequestError: Error {
  package let detail: String
}

extension DeviceRequest {
  package struct RequestedDocument: Sendable {
    package let docType: String
    /// The elements in the request's order, each with `intentToRetain`.
    package let elements: [(element: ElementReference, intentToRetain: Bool)]
  }

  /// The requested documents of a received request. Signatures are not checked; `requestInfo` is for wallets.
  ///
  /// - Throws: `DeviceRequestError` for a malformed request, or one with `deviceRequestInfo`. That member states which
  ///   documents are enough, and is not read here.
  package static func documents(requestedBy bytes: [UInt8]) throws(DeviceRequestError) -> [RequestedDocument] {
    let request = try ReceivedDeviceRequest(parsing: bytes)
    guard request.info == nil else { throw DeviceRequestError(detail: "it has deviceRequestInfo") }
    return try documents(of: request)
  }

  static func documents(of request: ReceivedDeviceRequest) throws(DeviceRequestError) -> [RequestedDocument] {
    var documents: [RequestedDocument] = []
    for (index, document) in request.documents.enumerated() {
      let items = (try? CBORItem(parsing: document.itemsRequest))?.embedded
      guard let items, let docType = items[key: "docType"]?.text, let namespaces = items[key: "nameSpaces"]?.entries
      else { throw DeviceRequestError(detail: "docRequests[\(index)] lacks docType or nameSpaces") }
      var elements: [(element: ElementReference, intentToRetain: Bool)] = []
      for (namespace, wanted) in namespaces {
        guard let namespace = namespace.text, let wanted = wanted.entries else {
          throw DeviceRequestError(detail: "docRequests[\(index)].nameSpaces has an entry of another type")
        }
        for (name, intent) in wanted {
          guard let name = name.text, let intent = intent.bool else {
            throw DeviceRequestError(detail: "docRequests[\(index)].nameSpaces has an entry of another type")
          }
          elements.append((ElementReference(String(namespace), String(name)), intent))
        }
      }
      documents.append(RequestedDocument(docType: String(docType), elements: elements))
    }
    return documents
  }
}

extension Code {
  public static let readerRequestMalformed = Code(
    "reader_auth.request_malformed", "The bytes are neither a DeviceRequest nor a signed request object",
    "\(iso), 8.3.2.1.2.1; RFC 9101, 4", "Submit the whole request as the wallet gets it.",
    passes: "The request is well-formed")
  public static let readerAuthMissing = Code(
    "reader_auth.missing", "The request, or one of its documents, is not signed by a reader", "\(iso), 9.1.4", .reader,
    passes: "The request is signed")
  public static let readerAuthMalformed = Code(
    "reader_auth.malformed",
    "A reader's signature is not an untagged COSE_Sign1 with a detached payload, or its header is not the standard's",
    "\(iso), 9.1.4; RFC 9101, 4 and 10.8", .reader, passes: "The reader's signature is well-formed")
  public static let readerCertificateMissing = Code(
    "reader_auth.certificate_missing", "A reader's signature carries no certificate, or one that is not valid DER",
    "\(iso), 9.1.4; RFC 7515, 4.1.6", .reader, passes: "The reader's certificate comes with the request")
  public static let readerUntrusted = Code(
    "reader_auth.untrusted",
    "The reader's certificates do not lead to one of the given roots, or are not valid at this time", "\(iso), 9.1.4.4",
    "Check the certificates' dates, and that the root belongs to the reader's authority: wallets check both.",
    passes: "The reader leads to a trusted authority")
  public static let readerCertificateProfile = Code(
    "reader_auth.certificate_profile", "The reader's certificate is not made for reader authentication",
    "ISO/IEC 18013-5, B.1.7", "Have the reader's authority issue a certificate of this profile.",
    passes: "The reader's certificate is as its profile prescribes")
  public static let readerAlgorithmUnsupported = Code(
    "reader_auth.algorithm_unsupported",
    "A reader's signature algorithm is absent, not allowed by the standard, or does not fit the key",
    "\(iso), 9.1.4.4; RFC 7515, 4.1.1", .reader, passes: "The reader's algorithm is allowed")
  public static let readerSignatureInvalid = Code(
    "reader_auth.signature_invalid", "A reader's signature does not verify over this request and session",
    "\(iso), 9.1.4.5; RFC 7515, 5.2",
    "Compare the transcript, or origin and encryptionInfo, with the request's. If they match, the request was changed.",
    passes: "The reader's signature is valid")
  public static let readerClientMismatch = Code(
    "reader_auth.client_id_mismatch", "The client identifier does not match the reader's certificate",
    "\(openID), 5.9.3",
    "Use `x509_hash:` with the certificate's SHA-256, or `x509_san_dns:` with a dNSName that it has.",
    passes: "The client identifier matches the reader's certificate")
  public static let readerOriginMismatch = Code(
    "reader_auth.origin_mismatch", "The request does not list the page's origin in `expected_origins`",
    "\(openID), A.2",
    "Name the page's origin in `expected_origins`, exactly as browsers write it.",
    passes: "The request is for the requesting page")
  public static let readerAudience = Code(
    "reader_auth.audience_unexpected", "The request object's audience is not a wallet", "\(openID), 5.8",
    "Set `aud` to `https://self-issued.me/v2`, or to the issuer that the wallet's metadata names.",
    passes: "The request is meant for wallets", warns: true)
}

extension Code.Remedy {
  static let reader: Self = "Correct the request's signature; wallets that check readers reject it."
}

extension CodeGroup {
  public static let readerAuthentication = CodeGroup(
    "Reader authentication, of `mdoc verify reader`",
    [.readerRequestMalformed, .readerAuthMissing] + ReaderVerifier.codes + [
      .readerClientMismatch, .readerOriginMismatch, .readerAudience,
    ])
}
