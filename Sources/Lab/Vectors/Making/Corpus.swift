import Base
import Mock

/// Every case of the corpus.
package enum Corpus {
  /// The rows of the list of negative cases that a code answers: those of all cases in which it is to fail, or to warn.
  package static func rows(of code: Code) -> [String] { rowsByCode[code] ?? [] }

  private static let rowsByCode: [Code: [String]] = {
    let declared = cases.map(\.declaration) + ListCase.all.map(\.declaration)
    var rows: [Code: Set<String>] = [:]
    for made in declared {
      for code in made.codes + made.warnings { rows[code, default: []].formUnion(made.cases) }
    }
    return rows.mapValues { $0.sorted() }
  }()

  /// A document-level variant comes as a DeviceResponse in proximity, which every verifier can read; in Apple's
  /// envelope come those that are about it, those that a row of that section names, and the controls.
  static var cases: [CorpusCase] {
    MockVariant.groups.flatMap { group in
      group.variants.flatMap { variant in forms(of: variant, in: group.name).map { make(variant, group.name, $0) } }
    } + circumstances + policies + generated + revocation + pinnedSigners + underLists + overWeb
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
    case .annexB: return [.annexB]
    }
  }

  private static func make(_ variant: MockVariant, _ group: String, _ form: CorpusCase.Form) -> CorpusCase {
    let isSecond = form == .appleInApp && variant.applicability != .appleInApp
    return CorpusCase(variant, group: group, form: form, id: isSecond ? "\(variant.name)-in-app" : nil)
  }
}

/// Cases that are not in the answer but around it: when it is judged, by whom, and for which request.
extension Corpus {
  /// The clock's edges (row I23) and trust (T01, T25), on one right answer.
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

  /// Rules of the relying party: strict mode, a minimum age, all documents.
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

  /// Bodies that are described rather than stored (row C08).
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
