import Base
import Mock

extension CorpusMaker {
  func vector(_ made: ListCase) throws -> TestVector {
    let input = VectorInput(describing: try made.publish(authority, now))
    var features = [made.format.rawValue]
    if input.count >= Limits.listBytes { features.append("large-input") }
    if made.codes.isEmpty, !made.warnings.isEmpty { features.append("warnings") }
    return TestVector(
      id: made.id, description: made.summary, reference: made.clause, cases: made.cases, flags: made.flags,
      importance: made.importance, features: features.sorted(), validationTime: now, session: .list(try list(made)),
      request: [:], trustAnchors: [made.format.signer], policy: VectorPolicy(), input: input,
      expectation: made.expectation)
  }

  /// What is configured and remembered for a list.
  func list(_ made: ListCase) throws -> VectorList {
    var list = VectorList(format: made.format)
    switch made.format {
    case .vical:
      guard made.followsGood else { return list }
      let good = try MockVICAL.remembered(of: authority, at: now)
      list.last = .init(date: good.date.description, number: good.number, digest: good.digest)
    case .trustedEntities:
      list.issuance = [
        .init(type: MockTrustedEntityList.issuanceService, docTypes: MockTrustedEntityList.docTypes)
      ]
      list.revocation = [MockTrustedEntityList.revocationService]
      guard made.followsGood else { return list }
      let good = MockTrustedEntityList.remembered(at: now)
      list.last = .init(date: good.issued.description, number: good.number)
    }
    return list
  }
}
