import Base
import CBOR
import Cryptography

/// EncryptedResponse (ISO/IEC TS 18013-7, Annex C): `["dcapi", {"enc": bstr, "cipherText": bstr}]`, not yet opened.
struct EncryptedResponse {
  let encapsulatedKey: PublicKey
  let ciphertext: ArraySlice<UInt8>

  /// Notes each check; nil where one failed.
  init?(parsing bytes: [UInt8], checks: inout CheckList) {
    let item: CBORItem
    do throws(CBORError) {
      item = try CBORItem(parsing: bytes)
    } catch {
      checks.failed(error.code)
      return nil
    }
    let parts = item.elements.map { Array($0) } ?? []
    guard parts.count == 2, parts[0].isText(AnnexCChallenge.label),
      let encapsulatedKey = parts[1][key: "enc"]?.bytes, let ciphertext = parts[1][key: "cipherText"]?.bytes
    else {
      checks.failed(.envelopeMalformed)
      return nil
    }
    checks.passed(.envelopeMalformed)
    let point = try? PublicKey(curve: .p256, encoded: encapsulatedKey)
    checks.require(point != nil, .envelopeEncapsulatedKeyInvalid)
    guard let point else { return nil }
    self.encapsulatedKey = point
    self.ciphertext = ciphertext
  }
}
