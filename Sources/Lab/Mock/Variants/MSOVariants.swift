import Base
import CBOR

extension MockVariant {
  /// Wrong mobile security objects with a right signature (ISO/IEC 18013-5, 9.1.2.4).
  @MockVariantList static var mobileSecurityObject: [MockVariant] {
    MockVariant(
      "mso-not-tag24", "The payload is the bare MSO.", cases: "I09", codes: [.msoMalformed],
      .issuerAuth { $0.setPayload($0.content.value) })
    MockVariant(
      "mso-tag24-text", "The payload's tag 24 holds text.", cases: "I09 C10", codes: [.msoMalformed],
      .issuerAuth { $0.setPayload(.tagged(24, "mobile security object")) })
    MockVariant(
      "mso-doc-type", "The MSO is for another document type.", cases: "I11", codes: [.msoDocTypeMismatch],
      .mso { $0["docType"] = "org.example.other.1" })
    MockVariant(
      "mso-version-9.9", "The MSO has version 9.9.", cases: "I12", codes: [.msoVersionUnsupported],
      .mso { $0["version"] = "9.9" })
    MockVariant(
      "mso-version-integer", "The MSO's version is a number.", codes: [.msoMalformed], .mso { $0["version"] = 1 })
    MockVariant(
      "mso-digests-md5", "The digest algorithm is MD5.", cases: "I14", codes: [.digestAlgorithmUnsupported],
      .init(
        digests: { draft in
          for index in draft.namespaces.indices {
            draft.namespaces[index].digests = draft.namespaces[index].digests.map {
              ($0.id, Array($0.digest.prefix(16)))
            }
          }
        },
        mso: { $0["digestAlgorithm"] = "MD5" }))
    MockVariant(
      "mso-digests-sha-1", "The digest algorithm is SHA-1, and so are the digests.", cases: "I14",
      codes: [.digestAlgorithmUnsupported],
      .setup { $0.useDigests(.sha1) })
    MockVariant(
      "mso-digests-lower-case", "The digest algorithm is written sha-256.", cases: "I14",
      codes: [.digestAlgorithmUnsupported], .mso { $0["digestAlgorithm"] = "sha-256" })
    for member in ["valueDigests", "deviceKeyInfo", "docType", "validityInfo"] {
      MockVariant(
        "mso-without-\(dashed(member))", "The MSO lacks \(member).", cases: member == "validityInfo" ? "I22" : "",
        codes: [.msoMalformed], .mso { $0[member] = nil })
    }
    for member in ["signed", "validFrom", "validUntil"] {
      MockVariant(
        "mso-without-\(dashed(member))", "The validity lacks \(member).", cases: "I22", codes: [.msoMalformed],
        .mso { $0.nested("validityInfo") { $0[member] = nil } })
    }
    MockVariant(
      "mso-digest-id-text", "A namespace that is not returned has a text for a digest identifier.",
      codes: [.msoMalformed],
      .mso { $0.nested("valueDigests") { $0["org.example"] = ["0": .bytes([UInt8](repeating: 0, count: 32))] } })
    MockVariant(
      "mso-digest-text", "A namespace that is not returned has a text for a digest.", codes: [.msoMalformed],
      .mso { $0.nested("valueDigests") { $0["org.example"] = [0: "digest"] } })
    date("mso-date-offset", "A date has an offset instead of Z.") { now in
      .tagged(0, .text("\((now + 30 * Seconds.day).description.dropLast())+00:00"))
    }
    date("mso-date-lower-case", "A date is written in lower case.") { now in
      .tagged(0, .text((now + 30 * Seconds.day).description.lowercased()))
    }
    date("mso-date-epoch", "A date is seconds since 1970 (tag 1).") { now in
      .tagged(1, .integer((now + 30 * Seconds.day).secondsSince1970))
    }
    date("mso-date-untagged", "A date lacks its tag.") { now in .text((now + 30 * Seconds.day).description) }
    date("mso-date-impossible", "A date is 30 February.") { now in
      .tagged(0, .text("\(now.date.year + 1)-02-30T00:00:00Z"))
    }
    date("mso-date-leap-second", "A date has second 60.") { now in
      .tagged(0, .text("\((now + 30 * Seconds.day).date)T23:59:60Z"))
    }
  }

  private static func date(
    _ name: String, _ summary: String, _ validUntil: @escaping @Sendable (Timestamp) -> CBORValue
  ) -> MockVariant {
    MockVariant(
      name, summary, cases: "I21", codes: [.msoMalformed], .setup { $0.validity.validUntil = validUntil($0.now) })
  }

  /// Writes `validFrom` as `valid-from`.
  private static func dashed(_ member: String) -> String {
    member.reduce(into: "") { $0 += $1.isUppercase ? "-\($1.lowercased())" : String($1) }
  }
}

extension MockVariant {
  /// Wrong dates (ISO/IEC 18013-5, 9.3.1), given in seconds from the time of the answer.
  @MockVariantList static var validity: [MockVariant] {
    dates(
      "mso-expired", "The MSO expired an hour ago.", "I15", [.expired], signed: -31 * Seconds.day,
      from: -31 * Seconds.day, until: -Seconds.hour)
    dates(
      "mso-not-yet-valid", "The MSO becomes valid in an hour.", "I16", [.notYetValid], signed: -Seconds.day,
      from: Seconds.hour, until: 30 * Seconds.day)
    dates(
      "mso-signed-in-future", "The MSO was signed, and becomes valid, in an hour.", "I17",
      [.signedInFuture, .notYetValid], signed: Seconds.hour, from: Seconds.hour, until: 30 * Seconds.day)
    dates(
      "mso-valid-before-signed", "The MSO was valid before it was signed.", "I18", [.validityInconsistent],
      signed: -Seconds.day, from: -2 * Seconds.day, until: 30 * Seconds.day)
    dates(
      "mso-until-equals-from", "The MSO's validity has no length.", "I19", [.validityInconsistent],
      signed: -Seconds.day, from: 0, until: 0)
    dates(
      "mso-until-before-from", "The MSO's validity ends before it begins, both within the allowed skew.", "I19",
      [.validityInconsistent], signed: -Seconds.day, from: 20, until: -20)
    MockVariant(
      "mso-signed-before-certificate", "The MSO was signed before its signer's certificate became valid.",
      cases: "I20 T06", codes: [.signedOutsideCertificate],
      .setup {
        $0.signer.certificate.notBefore = $0.now - 12 * Seconds.hour
        $0.setValidity(signed: -Seconds.day, from: -Seconds.day, until: 30 * Seconds.day)
      })
    MockVariant(
      "mso-signed-after-certificate", "The MSO was signed after its signer's certificate had expired.",
      cases: "I20 T06", codes: [.certificateExpired, .signedOutsideCertificate],
      warnings: [.validityExceedsCertificate],
      .setup {
        $0.signer.certificate.notAfter = $0.now - 2 * Seconds.day
        $0.setValidity(signed: -Seconds.day, from: -Seconds.day, until: 30 * Seconds.day)
      })
    MockVariant(
      "mso-exceeds-certificate", "The MSO is valid for longer than its signer's certificate.",
      warnings: [.validityExceedsCertificate],
      .setup { $0.validity.validUntil = .tdate($0.signer.certificate.notAfter + Seconds.day) })
    edge("skew-until-1", "The MSO expired one second ago.", [], until: -1)
    edge("skew-until-limit", "The MSO expired as long ago as clocks may differ.", [], until: -Limits.clockSkew)
    edge(
      "skew-until-over", "The MSO expired a second more ago than clocks may differ.", [.expired],
      until: -Limits.clockSkew - 1)
    edge("skew-from-1", "The MSO becomes valid in one second.", [], from: 1)
    edge("skew-from-limit", "The MSO becomes valid in as much time as clocks may differ.", [], from: Limits.clockSkew)
    edge(
      "skew-from-over", "The MSO becomes valid in a second more than clocks may differ.", [.notYetValid],
      from: Limits.clockSkew + 1)
  }

  private static func dates(
    _ name: String, _ summary: String, _ cases: String, _ codes: [Code], signed: Int64, from: Int64, until: Int64,
    needsFixedClock: Bool = false
  ) -> MockVariant {
    MockVariant(
      name, summary, cases: cases, codes: codes, needsFixedClock: needsFixedClock,
      .setup { $0.setValidity(signed: signed, from: from, until: until) })
  }

  private static func edge(
    _ name: String, _ summary: String, _ codes: [Code], from: Int64 = -Seconds.day, until: Int64 = 30 * Seconds.day
  ) -> MockVariant {
    dates(name, summary, "I23", codes, signed: -Seconds.day, from: from, until: until, needsFixedClock: true)
  }
}
