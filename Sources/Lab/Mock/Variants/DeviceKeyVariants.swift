import Base
import CBOR
import Cryptography

extension MockVariant {
  /// Wrong device keys, and elements that a device may not sign (ISO/IEC 18013-5, 9.1.2.4).
  @MockVariantList static var deviceKey: [MockVariant] {
    key("device-key-missing", "DeviceKeyInfo has no deviceKey.") { $0["deviceKey"] = nil }
    key("device-key-off-curve", "The device key is not on its curve.") {
      $0.nested("deviceKey") {
        // Edwards keys have no y; a key that is too short is as wrong.
        $0[$0[-3] == nil ? -2 : -3] = .bytes($0[-3] == nil ? [1] : $0.bytes(-3).flippedAtEnd)
      }
    }
    key("device-key-private", "The device key carries its private part.") {
      $0.nested("deviceKey") { $0[COSEKey.privatePart] = .bytes([UInt8](repeating: 0x5a, count: 32)) }
    }
    key("device-key-short", "The device key's x lacks its first byte.") {
      $0.nested("deviceKey") { $0[-2] = .bytes(Array($0.bytes(-2).dropFirst())) }
    }
    key("device-key-type", "The device key says OKP, its curve is P-256.") {
      $0.nested("deviceKey") {
        $0[1] = 1
        $0[-1] = 1
      }
    }
    MockVariant(
      "device-key-of-issuer", "The device key is the document signer's.", cases: "K15",
      warnings: [.deviceKeySameAsIssuer], .setup { $0.deviceKey = $0.signer.key })
    MockVariant(
      "device-element-unauthorized", "The device signs an element without any authorisation.", cases: "K12",
      codes: [.deviceElementUnauthorized], .setup { $0.deviceSigns(authorizations: nil) })
    MockVariant(
      "device-element-other-authorized", "The device signs an element, and is authorised for another.", cases: "K12",
      codes: [.deviceElementUnauthorized],
      .setup { $0.deviceSigns(authorizations: ["dataElements": [.text(deviceNamespace): ["location"]]]) })
    MockVariant(
      "device-element-replaces-issuer", "The device signs, unauthorised, an element in the issuer's place.",
      cases: "K14", codes: [.deviceElementUnauthorized],
      .setup { setup in
        let element = setup.anyRequested
        setup.withheld.append(element)
        setup.deviceSigned = [(element.namespace, [(element.identifier, "Mallory")])]
      })
    MockVariant(
      "device-element-replaces-issuer-authorized",
      "The device signs, authorised, a requested element in the issuer's place; that never answers a request.",
      cases: "K14", codes: [.elementMissing],
      .setup { setup in
        let element = setup.anyRequested
        setup.withheld.append(element)
        setup.keyAuthorizations = ["nameSpaces": [.text(element.namespace)]]
        setup.deviceSigned = [(element.namespace, [(element.identifier, "Mallory")])]
      })
    MockVariant(
      "device-element-repeats-issuer", "The device signs, authorised, an element that the issuer signed too.",
      cases: "K14", codes: [.elementDuplicate],
      .setup { setup in
        let element = setup.anyRequested
        setup.keyAuthorizations = ["dataElements": [.text(element.namespace): [.text(element.identifier)]]]
        setup.deviceSigned = [(element.namespace, [(element.identifier, "Mallory")])]
      })
  }

  private static func key(
    _ name: String, _ summary: String, _ change: @escaping @Sendable (inout MapDraft) -> Void
  ) -> MockVariant {
    MockVariant(
      name, summary, cases: "K05", codes: [.deviceKeyInvalid], .mso { $0.nested("deviceKeyInfo", change) })
  }
}
