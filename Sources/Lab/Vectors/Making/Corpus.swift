import Mock

/// Every case of the corpus.
enum Corpus {
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
