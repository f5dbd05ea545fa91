import Base
import CBOR
import COSE
import Cryptography

/// A list as a CBOR Web Token (ISO/IEC 18013-5, second edition, 12.3.6; RFC 8392): parsed, and nothing of it believed.
struct SignedCWT: SignedList {
  private let message: COSESign1
  /// The signer's certificate first; empty where the protected header has none.
  let chain: [ArraySlice<UInt8>]

  /// - Parameter types: what the protected header may give as the token's type.
  init(parsing bytes: [UInt8], types: [String]) throws(StatusListError) {
    let item: CBORItem
    do throws(CBORError) {
      item = try CBORItem(parsing: bytes, limits: Self.limits)
    } catch {
      throw StatusListError(cbor: error)
    }
    do throws(COSEError) {
      // Tagged as COSE_Sign1, and not as CWT (tag 61).
      message = try COSESign1(parsing: item, tag: COSESign1.tag)
    } catch {
      throw .invalid(Self.reason(error))
    }
    let headers = message.headers
    guard let type = headers.protectedParameter(COSEHeaders.Label.type)?.text,
      types.contains(where: { $0.hasSameBytes(as: type) })
    else { throw .invalid("the type in the protected header is not \(types[0])") }
    // Elsewhere than in the protected header a chain stands in neither list (12.3.6).
    chain = headers.protectedParameter(COSEHeaders.Label.x5chain) == nil ? [] : headers.x5chain ?? []
    if let x5t = headers.x5t, let leaf = chain.first {
      let sha256: Int64 = -16
      guard x5t.algorithm == sha256, x5t.hash.map({ HashAlgorithm.sha256.matches($0, digestOf: leaf) }) ?? false else {
        throw .invalid("x5t is not the signer's")
      }
    }
  }

  func claims(verifiedBy key: PublicKey) throws(StatusListError) -> any ListClaims {
    guard let payload = message.payload else { throw .invalid("the payload is detached") }
    switch message.verify(payload: payload.bytes ?? [], key: key) {
    case .valid: break
    case .invalid: throw .invalid("the signature does not verify")
    case .algorithmUnsupported: throw .invalid("the signature's algorithm is not supported")
    case .keyMismatch: throw .invalid("the signature's algorithm does not go with the signer's key")
    }
    return try unverifiedClaims()
  }

  func unverifiedClaims() throws(StatusListError) -> any ListClaims {
    guard let payload = message.payload, payload.bytes != nil else { throw .invalid("the payload is detached") }
    do throws(CBORError) {
      return try CWTClaims(CBORItem(parsingContentOf: payload, limits: Self.limits))
    } catch {
      throw StatusListError(cbor: error)
    }
  }

  private static func reason(_ error: COSEError) -> String {
    switch error {
    case .duplicateHeader: "a header parameter stands in both header maps"
    case .unsupportedCritical: "a critical header parameter is unknown"
    case .invalidCBOR(let code): "the protected header is \(code.rawValue)"
    case .malformed, .invalidKey: "not a COSE_Sign1 under tag 18 and no other"
    }
  }

  private static let limits = CBORLimits(bytes: Limits.listBytes, items: Limits.listItems)
}

extension StatusListError {
  init(cbor error: CBORError) {
    let isTooLarge = error.code == .cborInputTooLarge || error.code == .cborTooManyItems
    self.init(isTooLarge ? .listTooLarge : .statusListInvalid, error.code.rawValue)
  }
}
