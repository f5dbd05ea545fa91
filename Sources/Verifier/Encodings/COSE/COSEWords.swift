import Base
import CBOR
import Cryptography

// The words of a refusal: what stands in a message in place of what must stand there.

extension COSEHeaders {
  /// The `alg` that counts, or where it is instead: `alg (label 1) is ES256 (-7)`.
  package var algorithmWords: String {
    let name = "alg (label 1)"
    guard let item = protectedParameter(Label.algorithm) else {
      return parameter(Label.algorithm) == nil
        ? "\(name) is missing" : "\(name) stands in the unprotected header, where it does not count"
    }
    guard let identifier = item.integer else { return "\(name) is \(item.form)" }
    return "\(name) is "
      + (SignatureAlgorithm(coseIdentifier: identifier).map { "\($0.name) (\(identifier))" } ?? "\(identifier)")
  }

  /// Why `x5chain` gives no certificate.
  package var x5chainFault: String {
    guard let item = parameter(Label.x5chain) else {
      return hasTextLabel(Label.x5chain)
        ? "x5chain stands under the text \"33\", not under the number 33" : "x5chain (label 33) is missing"
    }
    let wanted = "must be one certificate as a byte string, or an array of such"
    guard let elements = item.elements.map(Array.init) else {
      return "x5chain (label 33) is \(item.form): it \(wanted)"
    }
    let fault = elements.enumerated().first { $1.bytes?.isEmpty ?? true }
    return "x5chain (label 33) " + (fault.map { "has \($1.form) at index \($0)" } ?? "is an empty array")
      + ": it \(wanted)"
  }
}

extension COSESign1 {
  /// Why the signature is refused: the algorithm, the key's curve, and the signature's length where it is wrong.
  ///
  /// - Parameters:
  ///   - name: the key's: `the device key`.
  ///   - message: what should be signed: `over this session's transcript`.
  package func words(_ verdict: Verdict, key: PublicKey, _ name: String, _ message: String = "") -> String {
    switch verdict {
    case .valid: return "valid"
    case .algorithmUnsupported: return "\(headers.algorithmWords): not one of the standard's"
    case .keyMismatch: return "\(headers.algorithmWords), and \(name) is on \(key.curve.rawValue)"
    case .invalid:
      let expected = key.curve.signatureLength ?? 0
      guard signature.count == expected else {
        let form = signature.first == 0x30 ? ", in DER by its look," : ""
        return
          "the signature has \(signature.count) bytes\(form) where \(name), on \(key.curve.rawValue), makes \(expected)"
      }
      return
        "\(headers.algorithmWords), and the signature does not verify with \(name), on \(key.curve.rawValue)\(message)"
    }
  }
}

extension CBORItem {
  /// The item's form, without its value.
  fileprivate var form: String {
    switch kind {
    case .text: text.flatMap(Base64.decodeEither) == nil ? "a text" : "a text, base64 by its look"
    case .bytes: "an empty byte string"
    case .array: "an array"
    default: "a CBOR \(kind)"
    }
  }
}
