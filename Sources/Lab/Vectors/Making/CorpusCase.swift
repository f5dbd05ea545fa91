import Base
import Mock

/// One vector to be made: a variant of the mock wallet, and under which circumstances it answers and is judged.
struct CorpusCase: Sendable {
  /// How the answer travels.
  enum Form: Sendable, Hashable {
    case appleInApp, proximity, proximityMAC, annexC
    case openID4VP(protocolName: String, isEncrypted: Bool = true, usesMAC: Bool = false)
  }

  var id: String
  var group: String
  var variant: MockVariant
  var form: Form
  var summary: String
  var cases: [String]
  var codes: [Code]
  var warnings: [Code]
  var request: MockRequest
  /// Members that only some requests have, beside those of the mock request.
  var minimumAge: Int?
  var requiresAllDocuments = false
  var policy = VectorPolicy()
  /// The wallet answers as if only the first document had been asked for.
  var answersFirstOnly = false
  /// Seconds from when the answer is made to when it is judged.
  var judgedAfter: Int64 = 0
  /// In place of those that the answer needs.
  var anchors: [String]?
  /// In place of the wallet's answer.
  var input: VectorInput?
  /// In place of the one that the codes have by themselves.
  var stage: VectorStage?
  var reference: String?
  var features: [String] = []
  /// What is served while the answer is judged.
  var publish: (@Sendable (MockAuthority, Timestamp) throws -> [MockPublication])?
  /// The list whose anchors are trusted, by its case in the group of lists.
  var anchorList: ListCase?

  init(_ variant: MockVariant, group: String, form: Form, id: String? = nil) {
    self.id = id ?? variant.name
    self.group = group
    self.variant = variant
    self.form = form
    summary = variant.summary
    cases = variant.cases
    codes = variant.codes
    warnings = variant.warnings
    request = variant.request
  }

  /// A case of its own around a right answer, or another variant.
  static func make(
    _ id: String, group: String, _ summary: String, cases: String = "", codes: [Code] = [], warnings: [Code] = [],
    variant: MockVariant = .good, form: Form = .proximity, change: (inout CorpusCase) -> Void = { _ in }
  ) -> CorpusCase {
    var made = CorpusCase(variant, group: group, form: form, id: id)
    made.summary = summary
    made.cases = cases.split(separator: " ").map(String.init)
    made.codes = codes
    made.warnings = warnings
    change(&made)
    return made
  }
}
