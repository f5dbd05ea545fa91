import Base
import Longfellow
import Mdoc
import Mock
import Vectors

/// Every case of the corpus.
package enum Corpus {
  /// A variant of the document is made as a DeviceResponse in proximity, which every verifier can read. It is made in
  /// Apple's envelope too if a row of the Apple section (A…) names it, or if it is a control. Variants of an envelope
  /// are made in that envelope. `proofs` come apart.
  static var cases: [CorpusCase] {
    MockVariant.groups.filter { $0.name != proofGroup }.flatMap { group in
      group.variants.flatMap { variant in forms(of: variant, in: group.name).map { make(variant, group.name, $0) } }
    } + circumstances + policies + generated + revocation + pinnedSigners + underLists + overWeb
  }

  /// Every capability that a case of the corpus may need, sorted.
  package static var features: [String] {
    let needed = (cases + proofs).flatMap(\.allFeatures) + VectorList.Format.allCases.map(\.rawValue)
    return Set(needed + KnownCircuit.all.map(\.feature)).sorted()
  }

  private static func forms(of variant: MockVariant, in group: String) -> [CorpusCase.Form] {
    let isNamedForApple = variant.cases.contains { $0.hasPrefix("A") } || group == "controls"
    switch variant.applicability {
    case .appleInApp: return [.appleInApp]
    case .deviceMAC: return [.proximityMAC]
    case .anyProtocol, .withoutReaderKey: return isNamedForApple ? [.proximity, .appleInApp] : [.proximity]
    case .notAppleInApp: return [.proximity]
    case .annexC: return [.annexC]
    case .openID4VP, .openID4VPEncrypted, .openID4VPDigitalCredentials: return [.browser]
    case .openID4VPRedirect: return [.redirect]
    case .openID4VPClear: return [.openID4VP(protocolName: "openid4vp", isEncrypted: false)]
    case .annexB: return [.annexB]
    case .zeroKnowledge: return [.proximity]
    }
  }

  private static func make(_ variant: MockVariant, _ group: String, _ form: CorpusCase.Form) -> CorpusCase {
    let isSecond = form == .appleInApp && variant.applicability != .appleInApp
    return CorpusCase(variant, group: group, form: form, id: isSecond ? "\(variant.name)-in-app" : nil)
  }
}

/// Cases about the circumstances of an answer: when it is judged, by whom, and for which request.
extension Corpus {
  /// One right answer at the edges of the clock (row I23) and under different trust (T01, T25).
  static var circumstances: [CorpusCase] {
    let day: Int64 = 86_400
    let untilEnd = 30 * day
    let edges: [(String, Int64, [Code], Int64)] = [
      ("at-valid-until", untilEnd, [], Limits.clockSkew),
      ("at-valid-until-and-skew", untilEnd + Limits.clockSkew, [], Limits.clockSkew),
      ("past-valid-until-and-skew", untilEnd + Limits.clockSkew + 1, [.expired], Limits.clockSkew),
      ("past-valid-until-without-skew", untilEnd + 1, [.expired], 0),
      ("at-valid-from-without-skew", -day, [], 0),
      ("at-valid-from-less-skew", -day - Limits.clockSkew, [], Limits.clockSkew),
      ("before-valid-from-less-skew", -day - Limits.clockSkew - 1, [.signedInFuture, .notYetValid], Limits.clockSkew),
    ]
    let clock = edges.map { name, shift, codes, skew in
      CorpusCase.make(
        "clock-\(name)", group: "validity", "A right answer, judged \(name.replacingHyphens).", cases: "I23",
        codes: codes
      ) {
        $0.judgedAfter = shift
        $0.policy.clockSkew = skew
        $0.reference = "ISO/IEC 18013-5:2021, 9.3.1"
      }
    }
    return clock + [
      .make("trust-store-empty", group: "chains", "No anchor is trusted.", cases: "T01", codes: [.trustStoreEmpty]) {
        $0.anchors = []
      },
      .make(
        "mock-root-in-live-mode", group: "chains", "A mock authority's root, judged as a live server does.",
        cases: "T25", codes: [.testCertificate]
      ) {
        $0.anchors = [CorpusMaker.unscopedAnchor]
        $0.policy.trustsTestCertificates = false
      },
      .make(
        "anchor-unscoped", group: "chains", "The anchor is not limited to any document type.",
        warnings: [.profileAnchorUnscoped]
      ) { $0.anchors = [CorpusMaker.unscopedAnchor] },
      .make(
        "device-mac-good", group: "controls", "Nothing is wrong; the device sends a MAC and the reader has its key.",
        form: .proximityMAC),
    ]
  }

  /// The relying party's rules: strict mode, a minimum age, all documents.
  static var policies: [CorpusCase] {
    let strict = MockVariant.all.filter {
      $0.codes.isEmpty && !$0.warnings.isEmpty && $0.applicability == .anyProtocol
    }.map { variant in
      CorpusCase.make(
        "strict-\(variant.name)", group: "policy", variant.summary.droppingStop + ", in strict mode.",
        cases: variant.cases.joined(separator: " "), codes: variant.warnings, variant: variant
      ) { $0.policy.isStrict = true }
    }
    return strict + [
      .make("strict-good", group: "policy", "Nothing is wrong, in strict mode.") { $0.policy.isStrict = true },
      .make(
        "strict-elements-unrequested", group: "policy", "Elements that nobody asked for, in strict mode.",
        cases: "E13", codes: [.elementUnexpected], variant: .named("elements-unrequested") ?? .good
      ) { $0.policy.isStrict = true },
      .make(
        "expired-accepted", group: "policy", "An expired document, where the request accepts one.", cases: "E29",
        warnings: [.documentExpired], variant: .named("expiry-date-passed") ?? .good
      ) { $0.acceptsExpired = true },
      .make("minimum-age-reached", group: "policy", "A minimum age of 21, and age_over_21 is true.") {
        $0.minimumAge = 21
      },
      .make(
        "minimum-age-not-reached", group: "policy", "A minimum age of 65, and age_over_65 is false.",
        codes: [.ageBelowMinimum]
      ) {
        $0.minimumAge = 65
        $0.request.documents = $0.request.documents.map { document in
          var document = document
          document.ageOver = [65]
          return document
        }
      },
      .make("all-documents", group: "policy", "Both documents are asked for and returned.") {
        $0.request = .anyOf
        $0.requiresAllDocuments = true
      },
      .make(
        "all-documents-one-missing", group: "policy", "Both documents are asked for, one is returned.",
        codes: [.documentMissing]
      ) {
        $0.request = .anyOf
        $0.requiresAllDocuments = true
        $0.answersFirstOnly = true
      },
    ]
  }

  /// Large answers, which the file describes rather than stores (row C08).
  static var generated: [CorpusCase] {
    [CorpusCase.Form.proximity, .appleInApp].flatMap { form -> [CorpusCase] in
      let suffix = form == .appleInApp ? "-in-app" : ""
      let stage: VectorStage = form == .appleInApp ? .open : .parse
      let bodies: [(String, String, Code, [UInt8], Int)] = [
        ("body-10-megabytes", "Ten megabytes of zeros.", .cborInputTooLarge, [], 10 << 20),
        (
          "body-million-items", "An array of a million zeros.", .cborTooManyItems, [0x9a, 0x00, 0x0f, 0x42, 0x40],
          1_000_000
        ),
      ]
      return bodies.map { name, summary, code, head, zeros in
        CorpusCase.make(name + suffix, group: "framing", summary, cases: "C08", codes: [code], form: form) {
          $0.input = VectorInput(parts: (head.isEmpty ? [] : [.init(head)]) + [.init([0], times: zeros)])
          $0.stage = stage
        }
      }
    }
  }
}

extension String {
  fileprivate var replacingHyphens: String { String(map { $0 == "-" ? " " : $0 }) }

  fileprivate var droppingStop: String { hasSuffix(".") ? String(dropLast()) : self }
}

extension Corpus {
  /// Every revocation case of the mock authority.
  static var revocation: [CorpusCase] {
    MockRevocationCase.all.map { made in
      var vector = CorpusCase(made.variant, group: "revocation", form: .proximity)
      vector.policy.revocation = RevocationPolicy(made.policy)
      vector.policy.allowsJWTStatusLists = made.allowsJWT
      vector.publish = made.publications
      if made.allowsPlainHTTP { vector.anchors = [CorpusMaker.plainHTTPAnchor] }
      if made.keepsCRLsToHTTPS { vector.anchors = [CorpusMaker.httpsAnchor] }
      if made.codes.isEmpty, made.warnings.isEmpty { vector.reference = "ISO/IEC 18013-5:2021, 9.3.3" }
      return vector
    }
  }

  /// Cases in which the document signer itself is the anchor.
  static var pinnedSigners: [CorpusCase] {
    [
      .make("signer-pinned", group: "chains", "The signer itself is trusted, and no authority is.") {
        $0.anchors = [CorpusMaker.pinnedSigner]
        $0.features = ["pinned-signers"]
      },
      .make(
        "signer-pinned-other", group: "chains",
        "The signer that is trusted has another certificate, of the same name and key.", cases: "T02",
        codes: [.issuerUnknown], variant: .named("anchor-self-signature") ?? .good
      ) {
        $0.anchors = [CorpusMaker.pinnedSigner]
        $0.features = ["pinned-signers"]
      },
      .make(
        "signer-eku-missing-photo-id", group: "certificates",
        "The signer of a photo ID has no extended key usage, and the anchor's settings name none.",
        warnings: [.certificateExtendedKeyUsage, .profileAnchorUnscoped],
        variant: .named("signer-eku-missing") ?? .good
      ) {
        $0.anchors = [CorpusMaker.unscopedAnchor]
        $0.request = MockRequest(documents: [.standardPhotoID])
      },
    ]
      + CorpusMaker.signersWithoutUsages.map { lacking in
        .make(
          "signer-pinned-\(lacking.variant.dropFirst("signer-".count))", group: "chains",
          "The signer that is trusted has no \(lacking.words).", warnings: [lacking.code],
          variant: .named(lacking.variant) ?? .good
        ) {
          $0.anchors = [lacking.anchor]
          $0.features = ["pinned-signers"]
        }
      }
  }

  /// Right documents, judged under the anchors that a list of anchors adds.
  static var underLists: [CorpusCase] {
    let listed: [(name: String, summary: String, cases: String, codes: [Code])] = [
      ("vical-good", "The issuer is trusted because a VICAL lists it.", "", []),
      (
        "vical-doc-type-lacking", "The VICAL lists the issuer for another document type alone.", "V04",
        [.issuerNotTrustedForDocType]
      ),
      (
        "vical-entry-other-identifier", "The issuer's entry in the VICAL contradicts its certificate.", "",
        [.issuerUnknown]
      ),
      ("vical-bad-signature", "The VICAL that lists the issuer is not its provider's.", "V01", [.trustStoreEmpty]),
      ("lote", "The issuer is trusted because a list of trusted entities has it.", "", []),
      ("lote-direct-trust", "The signer itself is on a list of trusted entities.", "", []),
      ("lote-withdrawn", "The issuer's service on the list is withdrawn.", "", [.trustStoreEmpty]),
      ("lote-bad-signature", "The list of trusted entities is not its operator's.", "V01", [.trustStoreEmpty]),
    ]
    return listed.compactMap { listed in
      guard let list = ListCase.all.first(where: { $0.id == listed.name }) else { return nil }
      return .make(
        "document-\(listed.name)", group: "lists", listed.summary, cases: listed.cases, codes: listed.codes
      ) {
        $0.anchors = []
        $0.anchorList = list
        if listed.codes.isEmpty { $0.reference = list.clause }
      }
    }
  }
}

extension RevocationPolicy {
  init(_ policy: MockRevocationCase.Policy) {
    self =
      switch policy {
      case .requireGood: .requireGood
      case .allowUndetermined: .allowUndetermined
      case .off: .off
      }
  }
}

extension VectorPublication {
  init(_ made: MockPublication) {
    self.init()
    address = made.address
    switch made.reply {
    case .list(let bytes, let mediaType): (list, self.mediaType) = (VectorInput(describing: bytes), mediaType)
    case .fault(.unavailable): failure = .unavailable
    case .fault(.tooLarge): failure = .tooLarge
    }
  }
}
