import Base
import Mdoc

/// The documents that a relying party asks for, as its JSON has them: the creation of a session and
/// `mdoc verify --request` share it.
struct PresentationInput: Equatable, Sendable {
  var documents: [DocumentInput]
  var requiresAllDocuments: Bool
  var purposeHint: PurposeHint?

  static let shape = Shape.object(
    "PresentationRequest", "The documents that you ask for.", PresentationInput.init, documents { $0 },
    allDocuments { $0 }, purposeHint { $0 })

  typealias Getter<Root> = @Sendable (Root) -> PresentationInput

  static func documents<Root>(_ of: @escaping Getter<Root>) -> Field<Root, [DocumentInput]> {
    Field(
      "documents", { of($0).documents }, DocumentInput.shape.list(1...Limits.requestedDocuments),
      """
      The documents that you ask for. Any one of them is enough, unless `all_documents` is true. A type can occur \
      twice only if every protocol is OpenID4VP and none is `openid4vp-iso-18013-7-annex-b`. All documents together \
      ask for at most \(Limits.requestedElements) elements, alternatives included.
      """)
  }

  static func allDocuments<Root>(_ of: @escaping Getter<Root>) -> Field<Root, Bool> {
    .optional(
      "all_documents", { of($0).requiresAllDocuments }, .flag, or: false,
      """
      Whether all documents must come. `apple-in-app` returns one document, so there it must be false. Two documents \
      of one type must then each ask for `document_number`, required and without alternatives or `zk`.
      """)
  }

  static func purposeHint<Root>(_ of: @escaping Getter<Root>) -> Field<Root, PurposeHint?> {
    .optional(
      "purpose_hint", { of($0).purposeHint },
      .choice("PurposeHint", "Why you ask.", of: PurposeHint.allCases.map { ("\($0)", $0) }),
      "Why you ask, for wallets: `org-iso-mdoc` and `iso-18013-5-proximity` pass it on. Not with `apple-in-app`.")
  }
}

/// One document of a request.
struct DocumentInput: Equatable, Sendable {
  enum Proofs: String, CaseIterable, Sendable { case off, allowed, required }

  var docType: String
  var elements: [ElementInput]
  var ageOver: [Int]
  var minimumAge: Int?
  var acceptsExpired: Bool
  var retainDays: Int?
  var proofs: Proofs

  private static let age = Shape.whole(ProtocolFamily.inApp.ageThresholds)

  static let shape = Shape.object(
    "DocumentRequest", "A document that you ask for, and what of it.", DocumentInput.init,
    Field(
      "doc_type", \.docType, .text(),
      "The document type (ISO/IEC 18013-5), such as `org.iso.18013.5.1.mDL`. `mdoc catalogue` lists the known ones."),
    .optional(
      "elements", \.elements, ElementInput.shape.list(0...Limits.requestedElements), or: [],
      "The elements that you ask for, each once. One of `elements`, `age_over` and `minimum_age` must ask for something."
    ),
    .optional(
      "age_over", \.ageOver, age.list(0...Limits.requestedElements), or: [],
      """
      Ages in years; the result says of each whether the person has reached it. At most two different ages, counted \
      together with `minimum_age` and requested `age_over_NN` elements. From 1 to 99, or to 125 with `apple-in-app`, \
      where they cannot be asked for beside `age_in_years`.
      """),
    .optional(
      "minimum_age", \.minimumAge, age,
      """
      The age in years that the person must have reached; otherwise the response is rejected. Bounds are as for \
      `age_over`.
      """),
    .optional(
      "accept_expired", \.acceptsExpired, .flag, or: false,
      "Whether to accept, with a warning, a document whose returned `expiry_date` has passed."),
    .optional(
      "retain_days", \.retainDays, ElementInput.days,
      """
      Days for which you keep its elements of `intent_to_retain` true that do not say their own. At least one \
      element must have `intent_to_retain` true. The relying party's configuration may have a lower bound.
      """),
    .optional(
      "zk", \.proofs, .choice("ZeroKnowledge", "Whether a proof replaces a document."), or: .off,
      """
      Whether a zero-knowledge proof may, or must, replace the document. It proves one to four elements of one \
      namespace, without alternatives, and hides all others. Not with `apple-in-app` or \
      `openid4vp-iso-18013-7-annex-b`, nor under the revocation policy `require_good`.
      """))
}

/// One element of a document's request: by its namespace and identifier or, in-app, by Apple's name.
struct ElementInput: Equatable, Sendable {
  var namespace: String?
  var identifier: String?
  var appleElement: String?
  var intentToRetain: Bool
  var retainDays: Int?
  var isRequired: Bool
  var alternatives: [ElementReference]

  fileprivate static let days = Shape.whole(Int(Limits.retainDays.lowerBound)...Int(Limits.retainDays.upperBound))

  static let shape = Shape.object(
    "ElementRequest", "An element that you ask for.", ElementInput.init,
    .optional(
      "namespace", \.namespace, .text(),
      "The element's namespace, such as `org.iso.18013.5.1`. Required, unless there is an `apple_element`."),
    .optional(
      "identifier", \.identifier, .text(),
      "The element's name in its namespace, such as `given_name`. Required, unless there is an `apple_element`."),
    .optional(
      "apple_element", \.appleElement, .text(),
      """
      In place of `namespace` and `identifier`, with `apple-in-app` only: Apple's name, such as `givenName`. `mdoc \
      catalogue` lists the names of each document type.
      """),
    .optional(
      "intent_to_retain", \.intentToRetain, .flag, or: false,
      """
      Whether you will keep the value. Wallets tell the person, and no other element is ever retained. With \
      `apple-in-app`, all parts of one of Apple's elements must have the same intent.
      """),
    .optional(
      "retain_days", \.retainDays, days,
      """
      Days after which a kept value is erased. Only with `intent_to_retain` true. The relying party's configuration \
      may have a lower bound.
      """),
    .optional("required", \.isRequired, .flag, or: true, "Whether a response without the element is rejected."),
    .optional(
      "alternatives", \.alternatives, ElementReference.shape.list(1...Limits.elementAlternatives), or: [],
      """
      Other elements that satisfy the request in its place, the preferred one first, each once. They are kept as \
      long as it is. Not with `apple-in-app` or `openid4vp-iso-18013-7-annex-b`.
      """))
}

extension ElementReference {
  /// An element's full name in a request.
  package static let shape = Shape.object(
    "ElementName", "An element's full name.", ElementReference.init,
    Field("namespace", \.namespace, .text(), "The element's namespace."),
    Field("identifier", \.identifier, .text(), "The element's name in its namespace."))
}
