import Base
import CBOR
import Cryptography

extension MockVariant {
  /// Wrong device keys and device authentication (ISO/IEC 18013-5, 9.1.3).
  @MockVariantList static var deviceAuth: [MockVariant] {
    MockVariant(
      "device-signed-missing", "There is no deviceSigned.", cases: "K01", codes: [.deviceAuthMissing],
      .document { $0["deviceSigned"] = nil })
    MockVariant(
      "device-auth-empty", "DeviceAuth holds neither a signature nor a MAC.", cases: "K08", codes: [.deviceAuthMissing],
      .deviceSigned { $0["deviceAuth"] = [:] })
    signature("device-signature-zero", "The device signature is zero.") { $0.signature = .zeros($0.signature.count) }
    signature("device-signature-bit-flipped", "A bit of the device signature is turned over.") {
      $0.signature = $0.signature.flipped
    }
    signature("device-signature-der", "The device signature is DER instead of r‖s.", cases: "") {
      $0.signature = ecdsaSignatureDER($0.signature)
    }
    draft("device-signature-other-key", "Another device signed.", "K02", .deviceSignatureInvalid) {
      $0.key = try $0.seed.key("another device", on: $0.key.curve)
    }
    draft(
      "device-signature-other-transcript", "The device signed another session's transcript.", "K03",
      .deviceSignatureInvalid
    ) { $0.transcript = CBORValue.array([.null, .null, ["dcapi", .bytes(.zeros(32))]]).encoded() }
    draft("device-signature-other-doc-type", "The device signed another document type.", "", .deviceSignatureInvalid) {
      $0.docType = "org.example.other.1"
    }
    MockVariant(
      "device-signature-issuer-algorithm",
      "The device, which says ES256, signed with the hash of its issuer's algorithm, ES384.", cases: "K04",
      codes: [.deviceSignatureInvalid],
      .init(
        setup: {
          try $0.useSigner(on: .p384)
          $0.deviceKey = try $0.authority.seed.key("device/\($0.data.docType)", on: .p256)
        },
        deviceAuth: { draft in
          draft.signOnly()
          draft.changeSignature = { $0.hash = .sha384 }
        }))
    header("device-algorithm-absent", "No header names the device's algorithm.", .deviceAlgorithmUnsupported) {
      $0.protected[1] = nil
    }
    header("device-algorithm-unprotected", "Only the unprotected header names it.", .deviceAlgorithmUnsupported) {
      $0.unprotected[1] = $0.protected[1]
      $0.protected[1] = nil
    }
    header("device-algorithm-unknown", "The device's algorithm is not registered.", .deviceAlgorithmUnsupported) {
      $0.protected[1] = -7777
    }
    MockVariant(
      "device-es384-p256", "ES384, SHA-384, with a P-256 device key.", codes: [.deviceAlgorithmKeyMismatch],
      .init(
        setup: { $0.deviceKey = try $0.authority.seed.key("device/\($0.data.docType)", on: .p256) },
        deviceAuth: { draft in
          draft.signOnly()
          draft.changeSignature = {
            $0.protected[1] = .integer(COSEAlgorithm.es384)
            $0.hash = .sha384
          }
        }))
    MockVariant(
      "device-okp-es256", "The device key is Ed25519, the signature says ES256.", cases: "K05",
      codes: [.deviceAlgorithmKeyMismatch],
      .init(
        setup: { $0.deviceKey = try $0.authority.seed.key("device/\($0.data.docType)", on: .ed25519) },
        deviceAuth: { draft in
          draft.signOnly()
          draft.changeSignature = { $0.protected[1] = .integer(COSEAlgorithm.es256) }
        }))
    header("device-crit-unknown", "An unknown parameter of the device's header is critical.", .coseCritUnsupported) {
      $0.protected[2] = [-70_001]
      $0.protected[-70_001] = true
    }
    draft(
      "device-payload-other", "The device signature carries its payload, another session's.", "K10",
      .deviceAuthMalformed
    ) {
      $0.transcript = CBORValue.array([.null, .null, ["dcapi", .bytes(.zeros(32))]]).encoded()
      $0.changeSignature = { $0.presentedPayload = .bytes($0.payload) }
    }
    MockVariant(
      "device-namespaces-swapped", "DeviceNameSpaces was encoded anew after it was signed.", cases: "K11",
      codes: [.deviceSignatureInvalid],
      .init(
        deviceAuth: { $0.signOnly() },
        deviceSigned: { $0["nameSpaces"] = EncodingStyle.longForm.embed([:]) }))
    MockVariant(
      "device-mac", "The device sends a MAC, for which there is no reader key.", cases: "A13 K06",
      codes: [.deviceMacNotAllowed], applicability: .withoutReaderKey,
      .deviceAuth {
        $0.hasSignature = false
        $0.hasMAC = true
      })
    MockVariant(
      "device-auth-ambiguous", "The device sends a signature and a MAC.", cases: "K07", codes: [.deviceAuthAmbiguous],
      .deviceAuth {
        $0.hasSignature = true
        $0.hasMAC = true
      })
    mac("device-mac-truncated", "The MAC has its first 8 bytes only.", .deviceMacInvalid) { draft in
      draft.truncatedMAC = 8
    }
    mac("device-mac-hmac-256-64", "The MAC's algorithm is HMAC 256/64.", .deviceAlgorithmUnsupported) { draft in
      draft.changeMAC = { $0.protected[1] = 4 }
      draft.truncatedMAC = 8
    }
    mac(
      "device-mac-payload-other", "The MAC carries its payload, another session's.", cases: "K10",
      .deviceAuthMalformed
    ) { draft in
      draft.transcript = CBORValue.array([.null, .null, .null]).encoded()
      draft.changeMAC = { $0.isAttached = true }
    }
    mac("device-mac-other-key", "The MAC key was derived with another label.", .deviceMacInvalid) {
      $0.macKeyInfo = "SKDevice"
    }
    mac("device-mac-other-transcript", "The MAC is over another session's transcript.", .deviceMacInvalid) {
      $0.transcript = CBORValue.array([.null, .null, .null]).encoded()
    }
  }

  private static func signature(
    _ name: String, _ summary: String, cases: String = "K02", _ change: @escaping MockChange<[CBORValue]>
  ) -> MockVariant {
    MockVariant(name, summary, cases: cases, codes: [.deviceSignatureInvalid], .deviceSignatureParts(change))
  }

  private static func draft(
    _ name: String, _ summary: String, _ cases: String, _ code: Code,
    _ change: @escaping MockChange<DeviceAuthDraft>
  ) -> MockVariant {
    MockVariant(
      name, summary, cases: cases, codes: [code],
      .deviceAuth {
        $0.signOnly()
        try change(&$0)
      })
  }

  private static func header(
    _ name: String, _ summary: String, cases: String = "", _ code: Code,
    _ change: @escaping MockChange<COSESign1Draft>
  ) -> MockVariant {
    draft(name, summary, cases, code) { $0.changeSignature = change }
  }

  private static func mac(
    _ name: String, _ summary: String, cases: String = "K09", _ code: Code,
    _ change: @escaping MockChange<DeviceAuthDraft>
  ) -> MockVariant {
    MockVariant(
      name, summary, cases: cases, codes: [code], applicability: .deviceMAC,
      .deviceAuth {
        $0.hasSignature = false
        $0.hasMAC = true
        try change(&$0)
      })
  }
}

extension MockVariant {
  /// Wrong device keys, and elements that a device may not sign (ISO/IEC 18013-5, 9.1.2.4).
  @MockVariantList static var deviceKey: [MockVariant] {
    key("device-key-missing", "DeviceKeyInfo has no deviceKey.") { $0["deviceKey"] = nil }
    key("device-key-off-curve", "The device key is not on its curve.") {
      $0.nested("deviceKey") {
        // Edwards keys have no y coordinate. For them, an x that is too short is as wrong.
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
    use("device-key-algorithm-other", "The device key is for ES384, the device signs with ES256.", [3: -35])
    use("device-key-operations-other", "The device key may sign, and may not verify.", [4: [1]])
    use("device-key-agreement", "The device key is to agree secrets, and the device signs.", [3: -25, 4: [7, 8]])
    MockVariant(
      "device-mac-key-algorithm-other", "The device key is for ES256, and the device sends a MAC.", cases: "K05",
      codes: [.deviceAlgorithmKeyMismatch], applicability: .deviceMAC, .deviceKeyUse([3: -7], sendsMAC: true))
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

  private static func use(_ name: String, _ summary: String, _ members: [Int64: CBORValue]) -> MockVariant {
    MockVariant(name, summary, cases: "K05", codes: [.deviceAlgorithmKeyMismatch], .deviceKeyUse(members))
  }

  private static func key(
    _ name: String, _ summary: String, _ change: @escaping @Sendable (inout MapDraft) -> Void
  ) -> MockVariant {
    MockVariant(
      name, summary, cases: "K05", codes: [.deviceKeyInvalid], .mso { $0.nested("deviceKeyInfo", change) })
  }
}

extension MockMutation {
  /// A device key on P-256 that says what it is for: `alg` (label 3) and `key_ops` (4) (RFC 9052, 7.1).
  static func deviceKeyUse(_ members: [Int64: CBORValue], sendsMAC: Bool = false) -> Self {
    .init(
      setup: { if !sendsMAC { $0.deviceKey = try $0.authority.seed.key("device/\($0.data.docType)", on: .p256) } },
      mso: { mso in
        mso.nested("deviceKeyInfo") { info in
          info.nested("deviceKey") { key in
            for (label, value) in members.sorted(by: { $0.key < $1.key }) { key[Int(label)] = value }
          }
        }
      },
      deviceAuth: {
        $0.hasSignature = !sendsMAC
        $0.hasMAC = sendsMAC
      })
  }
}
