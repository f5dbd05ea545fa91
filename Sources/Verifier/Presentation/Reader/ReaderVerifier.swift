import Base
import CBOR
import COSE
import Cryptography
import Mdoc
import PKIX

/// Checks a reader's request as a wallet does to learn who asks: reader authentication of a DeviceRequest (ISO/IEC
/// 18013-5:2021, 9.1.4), or the signature of an OpenID4VP request object.
///
/// It shares with the signing code only the function that builds the signed bytes.
public struct ReaderVerifier: Sendable {
  let anchors: SignerPath.Anchors
  let isStrict: Bool
  /// Whether a certificate that is not made for a reader only warns. Its path to a root is required all the same.
  let isProfileRelaxed: Bool

  /// - Parameters:
  ///   - roots: authorities of readers, or readers that are trusted by themselves. Test certificates are taken: whoever
  ///     names one means it.
  ///   - isStrict: whether a finding fails that otherwise only warns.
  ///   - relaxingProfile: whether a certificate only warns that is not made for a reader, by its usages or CA flag.
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
    do throws(ReceivedDeviceRequest.Fault) {
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
    // Only a signature over the whole request covers `deviceRequestInfo`; a document's own signature does not.
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
    // If a part has no signature, or a broken one, the request is refused for that.
    if uncovered.isEmpty, !isInfoCovered, !signatures.contains(where: \.isBroken) {
      uncovered.append("deviceRequestInfo")
    }
    checks.require(
      uncovered.isEmpty, .readerAuthMissing, "no good signature covers " + uncovered.joined(separator: ", "))
    return ReaderReport(kind: .deviceRequest, checks: checks.checks, signatures: signatures)
  }

  // MARK: One signature

  private func verify(
    _ item: CBORItem, over payload: [UInt8], at place: String, _ now: Timestamp
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
      return ReaderSignature(place: place, certificates: [], checks: checks.checks)
    }
    guard let chain = certificates(message.headers.x5chain ?? [], &checks), let leaf = chain.first else {
      checks.skipRest(of: Self.codes)
      return ReaderSignature(place: place, certificates: [], checks: checks.checks)
    }
    let path = checkPath(chain, profileRejects: true, &checks, now)
    let verdict = leaf.publicKey.map { message.verify(payload: payload[...], key: $0) } ?? .algorithmUnsupported
    note(
      isSupported: verdict != .algorithmUnsupported && verdict != .keyMismatch, isValid: verdict == .valid,
      algorithm: message.headers.algorithmIdentifier.map { "\($0)" }, leaf, &checks)
    noteProfile(of: leaf, issuer: path.dropFirst().first, &checks, now)
    return ReaderSignature(place: place, certificates: path, checks: checks.checks)
  }

  /// Every check of one signature, in the order in which they are made.
  static let codes: [Code] = [
    .readerAuthMalformed, .readerCertificateMissing, .readerUntrusted, .readerCertificateProfile,
    .readerAlgorithmUnsupported, .readerSignatureInvalid,
  ]

  /// The certificates that come with the signature. If none can be read, notes a failure and returns nil.
  func certificates(_ encoded: [ArraySlice<UInt8>], _ checks: inout CheckList) -> [Certificate]? {
    let isShort =
      encoded.count <= Limits.chainCertificates && encoded.allSatisfy { $0.count <= Limits.certificateBytes }
    let chain = isShort ? encoded.compactMap { try? Certificate(der: $0) } : []
    let isReadable = !encoded.isEmpty && chain.count == encoded.count
    checks.require(
      isReadable, .readerCertificateMissing,
      encoded.isEmpty ? "there is no x5chain or x5c" : "a certificate is malformed or too large")
    return isReadable ? chain : nil
  }

  /// The path to a root.
  ///
  /// - Parameter profileRejects: whether a certificate made for another purpose is refused. OpenID4VP does not say what
  /// a request's signer must be certified for.
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
      // A certificate of the path whose algorithm is not supported here can't be checked, and nothing below it is
      // trusted.
      case (.listAlgorithmUnsupported, .failed): checks.failed(.readerAlgorithmUnsupported, "of a certificate")
      default: break
      }
    }
    return path.certificates
  }

  /// - Parameter algorithm: `alg` of the protected header; nil if there is none.
  func note(
    isSupported: Bool, isValid: Bool, algorithm: String?, _ leaf: Certificate, _ checks: inout CheckList
  ) {
    let key = leaf.publicKey.map { "a key on \($0.curve.rawValue)" } ?? "an unsupported key"
    let found = algorithm.map { "alg \(shown($0))" } ?? "no protected alg"
    checks.require(isSupported, .readerAlgorithmUnsupported, "\(found) with \(key) is not supported")
    guard isSupported else { return checks.notRun(.readerSignatureInvalid) }
    checks.require(
      isValid, .readerSignatureInvalid, "by \(found) with \(key): what was signed differs, or another key signed")
  }

  /// Deviations from the profile of readers (B.1.7). They do not make a reader less trusted.
  private func noteProfile(of leaf: Certificate, issuer: Certificate?, _ checks: inout CheckList, _ now: Timestamp) {
    let found = CertificateProfile.check(leaf, as: .readerAuthentication, issuer: issuer, at: now)
    for check in found where check.outcome == .warning {
      checks.expect(false, check.code, check.detail, isStrict: isStrict)
    }
  }
}

/// A DeviceRequest (ISO/IEC 18013-5:2021, 8.3.2.1.2.1; second edition) as received: the bytes of its signed parts, and
/// the signatures.
struct ReceivedDeviceRequest {
  struct Document {
    /// ItemsRequestBytes, tag 24 included.
    let itemsRequest: [UInt8]
    let readerAuth: CBORItem?
  }

  let documents: [Document]
  let readerAuthAll: [CBORItem]
  /// DeviceRequestInfoBytes, tag 24 included.
  let info: [UInt8]?

  /// The member that is at fault.
  struct Fault: Error {
    let detail: String
  }

  init(parsing bytes: [UInt8]) throws(Fault) {
    let item: CBORItem
    do {
      item = try CBORItem(parsing: bytes)
    } catch {
      throw Fault(detail: "\(error.code.rawValue) at byte \(error.offset)")
    }
    guard item.kind == .map else { throw Fault(detail: "it is no map") }
    guard let version = item[key: "version"]?.text, version.utf8.starts(with: "1.".utf8) else {
      throw Fault(detail: "version is not 1.0 or 1.1")
    }
    guard let list = item[key: "docRequests"]?.elements.map(Array.init), !list.isEmpty,
      list.count <= Limits.documents
    else { throw Fault(detail: "docRequests is no array of 1 to \(Limits.documents)") }
    var documents: [Document] = []
    for (index, document) in list.enumerated() {
      guard let itemsRequest = document[key: "itemsRequest"], itemsRequest.embedded?.kind == .map else {
        throw Fault(detail: "docRequests[\(index)].itemsRequest is no map in tag 24")
      }
      documents.append(
        Document(itemsRequest: Array(itemsRequest.encoded), readerAuth: document[key: "readerAuth"]))
    }
    self.documents = documents
    readerAuthAll = try Self.signatures(item[key: "readerAuthAll"])
    if let info = item[key: "deviceRequestInfo"] {
      guard info.embedded?.kind == .map else { throw Fault(detail: "deviceRequestInfo is no map in tag 24") }
      self.info = Array(info.encoded)
    } else {
      info = nil
    }
  }

  private static func signatures(_ item: CBORItem?) throws(Fault) -> [CBORItem] {
    guard let item else { return [] }
    guard let list = item.elements.map(Array.init), (1...Limits.documents).contains(list.count) else {
      throw Fault(detail: "readerAuthAll is no array of 1 to \(Limits.documents)")
    }
    return list
  }
}
