import Base
import CBOR
import COSE
import Cryptography
import PKIX

/// Verifies a VICAL, an untagged COSE_Sign1 (ISO/IEC 18013-5, C.1), and finds the anchors that it makes trusted. The
/// result depends only on the bytes, the configured source and the time.
public struct VICALVerifier: Sendable {
  public let source: TrustListSource

  public init(source: TrustListSource) { self.source = source }

  /// - Parameter last: the mark of the last list that was accepted from this source; nil if there is none.
  public func evaluate(
    _ bytes: [UInt8], at now: Timestamp, after last: AcceptedListMark? = nil
  ) -> TrustListEvaluation<VICAL> {
    evaluation(of: bytes, at: now, after: last)
  }
}

/// A verified VICAL (ISO/IEC 18013-5, C.2). Only `VICALVerifier`, in this file, makes a `VICAL`.
public struct VICAL: Sendable {
  public let contents: VICALContents

  fileprivate init(verified contents: VICALContents) { self.contents = contents }
}

extension VICALVerifier: TrustListFormat {
  var settings: TrustListSource { source }

  static let signerRole = CertificateRole.vicalSigner

  static let codes: [Code] = [
    .listMalformed, .listTooLarge, .listSignerUntrusted, .listSignerProfile, .listAlgorithmUnsupported,
    .listSignatureInvalid, .listVersionUnsupported, .listCriticalExtension, .listIssuedInFuture, .listExpired,
    .listRollback, .listEntryMalformed, .listEntryMismatch, .listDeviation,
  ]

  private static let bounds = CBORLimits(bytes: Limits.listBytes)

  static func open(_ bytes: [UInt8]) throws(TrustListError) -> COSESign1 {
    do {
      return try COSESign1(parsing: CBORItem(parsing: bytes, limits: bounds))
    } catch COSEError.unsupportedCritical {
      throw .criticalExtension("the header has an unknown critical parameter")
    } catch let error as CBORError {
      throw TrustListError(error)
    } catch {
      throw .malformed("not an untagged COSE_Sign1")
    }
  }

  static func signerChain(of message: COSESign1) throws(TrustListError) -> [ArraySlice<UInt8>] {
    guard message.payload?.bytes != nil else { throw .malformed("the payload is detached") }
    return message.headers.x5chain ?? []
  }

  func checkSignature(
    of message: COSESign1, by path: SignerPath, key: PublicKey, at now: Timestamp, into checks: inout CheckList
  ) {
    let verdict = message.verify(payload: message.payload?.bytes ?? [], key: key)
    func words() -> String { message.words(verdict, key: key, "the key of \(path.signer?.label ?? "the signer")") }
    switch verdict {
    case .valid:
      checks.passed(.listSignatureInvalid)
      let links = path.certificates.count
      if path.isTrusted, links > 1, message.headers.x5chain?.count ?? 0 >= links {
        checks.warned(.listDeviation, "x5chain carries a root")
      }
    case .invalid: checks.failed(.listSignatureInvalid, words())
    case .algorithmUnsupported, .keyMismatch: checks.failed(.listAlgorithmUnsupported, words())
    }
  }

  func read(_ message: COSESign1) throws(TrustListError) -> VICAL {
    VICAL(verified: try Self.contents(of: message))
  }

  /// The contents of the list, read whether or not its signature is valid.
  static func contents(of message: COSESign1) throws(TrustListError) -> VICALContents {
    guard let payload = message.payload else { throw .malformed("the payload is detached") }
    let content: CBORItem
    do throws(CBORError) {
      content = try CBORItem(parsingContentOf: payload, limits: bounds)
    } catch {
      throw TrustListError(error)
    }
    return try VICALContents(reading: content)
  }

  func mark(of list: VICAL, in message: COSESign1, _ bytes: [UInt8]) -> AcceptedListMark {
    AcceptedListMark(
      issued: list.contents.date, number: list.contents.issueID,
      digest: HashAlgorithm.sha256.hash(message.payload?.bytes ?? []))
  }

  func judge(
    _ list: VICAL, _ mark: AcceptedListMark, signedBy signer: Certificate, after last: AcceptedListMark?,
    at now: Timestamp, into checks: inout CheckList
  ) -> ListedTrust {
    let contents = list.contents
    checks.append(contents.findings)
    checks.require(contents.expiry.map { now <= $0 } ?? true, .listExpired, contents.expiry.map { "since \($0)" })
    let isOlder = last.map { Self.isOlder(mark, than: $0) } ?? false
    checks.require(
      !isOlder, .listRollback, last.map { "issued at \(mark.issued), accepted before: \($0.issued)" })
    var listed = ListedTrust(end: contents.expiry, leftOut: contents.leftOut)
    let name = source.name.isEmpty ? "" : source.name + ": "
    for entry in contents.entries {
      listed.add(
        entry.certificate, docTypes: entry.docTypes, of: source,
        named: "\(name)VICAL of \(contents.provider), \(contents.date), entry \(entry.number)")
    }
    return listed
  }

  /// True if one list was issued before the other. The date decides. If both lists have the same second, the number
  /// decides.
  private static func isOlder(_ mark: AcceptedListMark, than other: AcceptedListMark) -> Bool {
    guard mark.issued == other.issued, mark.digest != other.digest, let number = mark.number, let last = other.number
    else { return mark.issued < other.issued }
    return number < last
  }
}

extension TrustListError {
  fileprivate init(_ error: CBORError) {
    let detail = error.code.rawValue
    self = error.code == .cborTooManyItems ? .tooLarge(detail) : .malformed(detail)
  }
}
