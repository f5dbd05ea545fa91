import Base
import Mock
import Vectors

/// One vector of a list of anchors to be made: the mock's list, and the result that a reader should come to.
struct ListCase: MockDeclared {
  let list: MockList
  var declaration: MockDeclaration
  /// Whether the good list of the same time has been accepted before this one.
  var followsGood: Bool

  var id: String { name }

  var format: VectorList.Format { list.kind == .vical ? .vical : .trustedEntities }

  private init(_ list: MockList) {
    self.list = list
    declaration = list.declaration
    followsGood = list.followsGood
  }

  /// Every list that the mock publishes. Two of them come again after they were accepted, and two older ones are also
  /// the first list that a reader sees.
  static let all: [ListCase] =
    published + ["vical-good", "lote"].flatMap(again)
    + ["vical-older", "lote-older-date"].flatMap(first)

  private static let published = MockList.ofAnchors.map { ListCase($0) }

  /// A copy of the published case of this name, changed; empty if there is none.
  private static func changed(_ name: String, _ change: (inout ListCase) -> Void) -> [ListCase] {
    published.filter { $0.name == name }.map { list in
      var list = list
      change(&list)
      return list
    }
  }

  private static func again(_ name: String) -> [ListCase] {
    changed(name) {
      $0.declaration.name += "-again"
      $0.declaration.summary = "The list that was accepted last comes again."
      $0.followsGood = true
    }
  }

  private static func first(_ name: String) -> [ListCase] {
    changed(name) {
      $0.declaration.name += "-first"
      $0.declaration.summary = "A list of yesterday is the first that is seen."
      $0.declaration.codes = []
      $0.declaration.cases = []
      $0.followsGood = false
    }
  }

  // MARK: What a vector says about itself

  var expectation: VectorExpectation {
    guard let first = codes.first else {
      return VectorExpectation(stage: .accepted, warnings: warnings.map(\.rawValue))
    }
    let isReadFirst = VectorStage.readInLists.contains(first) && !Self.readAfterSignature.contains(id)
    return VectorExpectation(stage: isReadFirst ? .parse : .authenticate, codes: codes.map(\.rawValue))
  }

  /// Ids of lists whose form is wrong inside the signed content.
  private static let readAfterSignature: Set<String> = [
    "vical-embedded", "vical-payload-trailing-byte", "vical-duplicate-member", "vical-without-version",
    "vical-without-provider", "vical-without-date", "vical-date-without-tag", "vical-number-of-text",
    "vical-too-many-items", "lote-member-twice", "lote-no-sequence-number", "lote-no-operator", "lote-no-next-update",
    "lote-bad-date", "lote-critical-extension", "lote-critical-entity-extension", "lote-critical-service-extension",
  ]

  var clause: String { (codes.first ?? warnings.first)?.registered?.entry.clause ?? format.clause }

  /// A limit is a choice of this project: another's may be wider.
  var importance: TestVector.Importance {
    let isLimit = codes == [.listTooLarge] || codes == [.cborTooManyItems]
    return isLimit || codes.isEmpty && !warnings.isEmpty ? .should : .must
  }
}

extension VectorList.Format {
  /// The name of the anchor file that the list's signer is under.
  var signer: String {
    switch self {
    case .vical: "vical-root"
    case .trustedEntities: "trusted-entities-root"
    }
  }

  fileprivate var clause: String {
    switch self {
    case .vical: "ISO/IEC 18013-5:2021, C.1"
    case .trustedEntities: "ETSI TS 119 602, 6"
    }
  }
}

extension CorpusMaker {
  func vector(_ made: ListCase) throws -> TestVector {
    let input = VectorInput(describing: try made.list.published(by: authority, now: now))
    var features = [made.format.rawValue]
    if input.count >= Limits.listBytes { features.append("large-input") }
    if made.codes.isEmpty, !made.warnings.isEmpty { features.append("warnings") }
    var vector = TestVector()
    vector.id = made.id
    vector.description = made.summary
    vector.reference = made.clause
    vector.cases = made.cases
    vector.flags = made.flags
    vector.importance = made.importance
    vector.features = features.sorted()
    vector.validationTime = now
    vector.session = .list(try list(made))
    vector.trustAnchors = [made.format.signer]
    vector.input = input
    vector.expectation = made.expectation
    return vector
  }

  /// The list's configuration, and the last list that was accepted.
  func list(_ made: ListCase) throws -> VectorList {
    var list = VectorList(format: made.format)
    switch made.format {
    case .vical:
      guard made.followsGood else { return list }
      let good = try MockList.remembered(.vical, of: authority, at: now)
      list.last = .init(date: good.date.description, number: good.number, digest: good.digest)
    case .trustedEntities:
      var service = VectorList.Service()
      service.type = MockList.issuanceService
      service.docTypes = MockList.docTypes
      list.issuance = [service]
      list.revocation = [MockList.revocationService]
      guard made.followsGood else { return list }
      let good = try MockList.remembered(.trustedEntities, of: authority, at: now)
      list.last = .init(date: good.date.description, number: good.number)
    }
    return list
  }
}
