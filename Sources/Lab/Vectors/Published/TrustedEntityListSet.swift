import Base
import Trust

/// Lists of trusted entities that were published without a signature: they can be read, and never be trusted.
struct TrustedEntityListSet: PublishedSet {
  let name = "lote"

  private static let providers = "eudi-refimpl-pid-providers-2026-03-16.json"
  private static let registrars = "webuild-wrpac-providers-lote.json"

  func isHere(_ folder: SuiteFolder) -> Bool { folder.has(Self.providers) }

  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase] {
    var cases: [PublishedCase] = []
    for file in [Self.providers, Self.registrars] where folder.has(file) {
      let bytes = try folder.read(file)
      cases.append(
        PublishedCase(
          file, "The payload is read.", reference: "ETSI TS 119 602, 6", codes: [],
          judge: { PublishedCase.Finding(isAccepted: (try? TrustedEntityList(parsing: bytes)) != nil) }))
    }
    let bytes = try folder.read(Self.providers)
    cases.append(
      PublishedCase(
        "profile", "The profile of providers of person identification data is not kept: services have no type.",
        reference: "ETSI TS 119 602, Annex D", codes: [.listDeviation],
        judge: {
          guard let list = try? TrustedEntityList(parsing: bytes) else { return .other("it can't be read") }
          return TrustedEntityListProfile.pidProviders.deviations(of: list).isEmpty
            ? .accepted : .refused([.listDeviation])
        }))
    return cases
  }
}
