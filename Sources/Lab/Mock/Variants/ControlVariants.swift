import Base
import CBOR
import Cryptography

extension MockVariant {
  /// Right answers that are unusual. They find a verifier that rejects too much.
  @MockVariantList static var controls: [MockVariant] {
    good
    MockVariant(
      "cbor-long-form", "Heads are eight bytes long and map entries in no particular order.", cases: "P01",
      .init(setup: { $0.style = .longForm }, style: .longForm))
    MockVariant(
      "cbor-unsorted-keys", "The entries of an item stand in another order than that of the standard.", cases: "P01",
      .items { try $0.changeTarget { $0.fields.entries.reverse() } })
    MockVariant(
      "cbor-long-tag", "The head of an item's tag 24 has four bytes of argument.", cases: "P01",
      .items { try $0.changeTarget { $0.tagHead = [0xda, 0x00, 0x00, 0x00, 0x18] } })
    MockVariant(
      "cbor-indefinite-lengths", "Arrays and maps have indefinite lengths.", cases: "P02",
      .init(setup: { $0.style = .indefinite }, style: .indefinite))
    MockVariant(
      "cbor-chunked-text", "Arrays and maps have indefinite lengths, text strings come in chunks.", cases: "P02",
      .init(setup: { $0.style = .chunked }, style: .chunked))
    MockVariant(
      "digests-sha-384", "Digests are SHA-384.",
      .setup { $0.useDigests(.sha384) })
    MockVariant(
      "digests-sha-512", "Digests are SHA-512.",
      .setup { $0.useDigests(.sha512) })
    for curve in Curve.allCases where curve.family != .montgomery {
      MockVariant(
        "issuer-\(label(curve))", "The document signer's key is on \(curve.rawValue).",
        .setup { try $0.useSigner(on: curve) })
      MockVariant(
        "device-\(label(curve))", "The device key is on \(curve.rawValue); the device signs.",
        .init(
          setup: { $0.deviceKey = try $0.authority.seed.key("device/\($0.data.docType)", on: curve) },
          deviceAuth: { $0.signOnly() }))
    }
    MockVariant(
      "algorithms-fully-specified", "Both signatures name their algorithms by RFC 9864 (such as -9).",
      .init(
        issuerAuth: { $0.protected[1] = .integer(COSEAlgorithm.fullySpecified(for: $0.key.curve)) },
        deviceAuth: { draft in
          draft.changeSignature = { $0.protected[1] = .integer(COSEAlgorithm.fullySpecified(for: $0.key.curve)) }
        }))
    MockVariant(
      "response-version-1.1", "The DeviceResponse has version 1.1.", .response { $0.fields["version"] = "1.1" })
    MockVariant(
      "unknown-members", "DeviceResponse, document, IssuerSigned and MSO have members that no standard names.",
      .init(
        mso: { $0["org.example.future"] = ["a", 1] },
        document: { document in
          document["org.example.future"] = true
          document.nested("issuerSigned") { $0["org.example.future"] = .null }
        },
        response: { $0.fields["org.example.future"] = [1, 2, 3] }))
    MockVariant(
      "x5chain-array", "The x5chain of one certificate is an array.",
      .issuerAuth { $0.unprotected[33] = .array([$0.unprotected[33] ?? .null]) })
    MockVariant(
      "x5chain-protected", "The x5chain stands in the protected header only.", cases: "I07",
      .issuerAuth {
        $0.protected[33] = $0.unprotected[33]
        $0.unprotected[33] = nil
      })
    MockVariant(
      "x5t", "The certificate's right SHA-256 thumbprint stands beside it.",
      .issuerAuth { $0.unprotected[34] = [-16, .bytes(HashAlgorithm.sha256.hash($0.unprotected.bytes(33)))] })
    MockVariant(
      "several-namespaces", "Elements of another namespace are returned too.", cases: "E13",
      .setup { setup in
        for namespace in setup.data.namespaces where namespace.name != setup.mainNamespace {
          for element in namespace.elements { setup.added.append((namespace.name, element.identifier)) }
        }
      })
    MockVariant(
      "elements-unrequested", "Two elements were added that nobody asked for.", cases: "E13",
      .setup { setup in
        let namespace = setup.mainNamespace
        let requested = setup.requested.elements.map(\.identifier)
        let elements = setup.data.namespaces.first { $0.name == namespace }?.elements ?? []
        for element in elements.filter({ !requested.contains($0.identifier) }).prefix(2) {
          setup.added.append((namespace, element.identifier))
        }
      })
    MockVariant(
      "age-by-higher-threshold", "Asked for 21, the document attests only age_over_25 = true.", cases: "E25",
      request: .ageOnly, .setup { $0.data.ageThresholds = [25] })
    MockVariant(
      "age-by-lower-threshold", "Asked for 21, the document of a 16 year old attests only age_over_18 = false.",
      cases: "E25", request: .ageOnly,
      .setup {
        $0.data[$0.mainNamespace, "birth_date"] = .fullDate($0.now.date.shifted(years: -16))
        $0.data.ageThresholds = [18]
      })
    MockVariant(
      "birth-date-tdate", "The birth date is a date with a time.",
      .setup { setup in
        guard let day = setup.data[setup.mainNamespace, "birth_date"]?.calendarDay else { return }
        setup.data[setup.mainNamespace, "birth_date"] = .tdate(Timestamp(date: day))
      })
    MockVariant(
      "expected-update", "The validity has the optional expectedUpdate.",
      .setup { $0.validity.expectedUpdate = .tdate($0.now + 20 * Seconds.day) })
    MockVariant(
      "dates-with-fraction", "The validity's dates have fractions of a second.", cases: "I21",
      .setup { setup in
        func fraction(_ seconds: Int64) -> CBORValue {
          .tagged(0, .text("\((setup.now + seconds).description.dropLast()).123456Z"))
        }
        setup.validity.signed = fraction(-Seconds.day)
        setup.validity.validFrom = fraction(-Seconds.day)
        setup.validity.validUntil = fraction(30 * Seconds.day)
      })
    MockVariant(
      "portrait-35-kilobytes", "The portrait has 35,000 bytes.",
      .setup { $0.data = $0.data.resizingPortrait(to: 35_000) })
    MockVariant(
      "device-key-compressed", "The device key's y coordinate is its sign alone.",
      .mso { mso in
        mso.nested("deviceKeyInfo") { info in
          info.nested("deviceKey") { key in
            if let last = key.bytes(-3).last { key[-3] = .bool(last & 1 == 1) }
          }
        }
      })
    MockVariant(
      "device-key-use", "The device key says that it is for ES256 and may verify.",
      .deviceKeyUse([3: .integer(COSEAlgorithm.es256), 4: [2]]))
    MockVariant(
      "device-mac-key-use",
      "The device key is for ECDH-ES with HKDF-256 and may do nothing else; the device sends a MAC.",
      applicability: .deviceMAC, .deviceKeyUse([3: -25, 4: []], sendsMAC: true))
    MockVariant(
      "device-element-authorized-by-namespace", "The device signs an element of a namespace it is authorised for.",
      cases: "K13", .setup { $0.deviceSigns(authorizations: ["nameSpaces": [.text(deviceNamespace)]]) })
    MockVariant(
      "device-element-authorized-by-name", "The device signs an element that it is authorised for by name.",
      .setup { $0.deviceSigns(authorizations: ["dataElements": [.text(deviceNamespace): ["transaction"]]]) })
  }

  private static func label(_ curve: Curve) -> String {
    switch curve {
    case .p256: "p256"
    case .p384: "p384"
    case .p521: "p521"
    default: curve.rawValue.lowercased()
    }
  }
}

extension AnswerSetup {
  /// Makes the device sign one element of its own.
  mutating func deviceSigns(authorizations: CBORValue?) {
    keyAuthorizations = authorizations
    deviceSigned = [(deviceNamespace, [("transaction", "approved")])]
  }
}

extension DeviceAuthDraft {
  mutating func signOnly() {
    hasSignature = true
    hasMAC = false
  }
}
