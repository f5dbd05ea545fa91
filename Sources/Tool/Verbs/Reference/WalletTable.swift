import Base
import CBOR
import Cryptography
import Longfellow
import Mdoc
import Mock
import PKIX
import Presentation

/// The responses of wallets to each shape of request, for every set of elements that a person may have. Models of the
/// wallets' code compute the responses.
enum WalletTable {
  static var markdown: String {
    let models = WalletModel.all.filter(\.readsDeviceRequests)
    let rows = shapes.map { shape in
      [shape.label, shape.form] + models.map { cell(shape, $0) } + [Outcome(shape, shape.query, models[0]).text]
    }
    let wallets = WalletModel.all.map { wallet in
      [wallet.name, wallet.readsDeviceRequests ? "above" : "not run here", wallet.proofs?.rawValue ?? "not run here"]
    }
    return """
      Each row is a request with a choice, and the wallets' responses for every set of elements of a person. **All**: \
      if a set is sufficient, the wallet sends all its requested elements. A number counts the sufficient sets with \
      such a response. **In part**: the wallet also sends responses with too few elements, which the verifier rejects.

      \(MarkdownTable.text(["You ask for", "DeviceRequest"] + models.map(\.name) + ["OpenID4VP 1.0, 6.4"], rows))

      Wallets are models of published code, for `org-iso-mdoc` and in person; the last column is OpenID4VP as \
      specified, over every protocol.

      \(MarkdownTable.text(["Wallet", "DeviceRequest", "OpenID4VP, with `\"zk\": \"allowed\"`"], wallets))
      """
  }

  private static func cell(_ shape: Shape, _ wallet: WalletModel) -> String {
    let texts = [shape.unsigned, shape.signed].map { Outcome(shape, $0, wallet).text }
    return texts[0] == texts[1] ? texts[0] : "unsigned: \(texts[0]); signed: \(texts[1])"
  }

  // MARK: Requests

  /// A request in its unsigned, signed and DCQL forms.
  struct Shape: Sendable {
    let label: String
    let request: PresentationRequest
    let unsigned, signed, query: WalletModel.Request
    /// The version of the DeviceRequests, and the number of elements with substitutes.
    let form: String

    fileprivate init(_ label: String, _ documents: DocumentRequest..., all: Bool = false) {
      self.label = label
      request = PresentationRequest(documents: documents, requiresAllDocuments: all)
      let encoded = [DeviceRequest(request).encoded, (try? WalletTable.sign(request)) ?? []]
      (unsigned, signed, query) = (.device(encoded[0]), .device(encoded[1]), .dcql(DCQLQuery(request).json))
      let versions = encoded.compactMap { try? CBORItem(parsing: $0)[key: "version"]?.text }
      let substitutes = documents.flatMap { AcceptableElements($0).substitutes }.count { !$0.isEmpty }
      form =
        (Set(versions).count == 1 ? versions[0] : versions.joined(separator: ", signed "))
        + (substitutes == 0 ? "" : ", substitutes for \(substitutes)")
    }

    /// Each set of elements that a person may have, including the empty set.
    var holdings: [WalletModel.Held] {
      request.documents.reduce([[:]]) { found, document in
        let names = document.namedElements.flatMap { [$0.element] + $0.alternatives }.map(\.path)
        let sets = names.reduce([Set<[String]>()]) { sets, name in sets + sets.map { $0.union([name]) } }
        return found.flatMap { held in sets.map { held.merging([document.docType: $0]) { $1 } } }
      }
    }

    /// The person's documents that satisfy the request, each with the requested elements.
    func acceptable(of held: WalletModel.Held) -> WalletModel.Held {
      var found: WalletModel.Held = [:]
      for document in request.documents {
        let choices = document.namedElements.map { wanted in
          ([wanted.element] + wanted.alternatives).map(\.path).first { held[document.docType]?.contains($0) == true }
        }
        let isEnough = zip(choices, document.namedElements).allSatisfy { $0 != nil || !$1.isRequired }
        if isEnough, choices.contains(where: { $0 != nil }) { found[document.docType] = Set(choices.compactMap { $0 }) }
      }
      return request.requiresAllDocuments && found.count < request.documents.count ? [:] : found
    }
  }

  static let shapes: [Shape] = [
    Shape("six elements", document("rrrrrr")), Shape("five elements and an optional one", document("rrrrro")),
    Shape("one element and five optional ones, one of them kept", document("rokooo")),
    Shape("two elements and two optional ones, one of each with an alternative", document("rRoO")),
    Shape("three optional elements", document("ooo")), Shape("six optional elements", document("oooooo")),
    Shape(
      "any one of two documents, each of two elements and an optional one", document("rro"),
      document("rro", of: DocType.photoID)),
    Shape("both of these documents", document("rro"), document("rro", of: DocType.photoID), all: true),
    Shape("a proof of age, or the document", document("", ageOver: [18])),
  ]

  /// - Parameter kinds: one letter for each element: `r` for required, `o` for optional, or `k` for optional and
  ///   retained. A capital letter means that the element has an alternative.
  private static func document(_ kinds: String, of docType: String = DocType.mDL, ageOver: [Int] = [])
    -> DocumentRequest
  {
    let names = ["family_name", "given_name", "birth_date", "document_number", "sex", "height"]
    let elements = zip(kinds, names).map { kind, name in
      ElementRequest(
        ElementReference(Namespace.mDL, name), intentToRetain: kind == "k", isRequired: "rR".contains(kind),
        alternatives: kind.isUppercase ? [ElementReference(Namespace.mDL, name + "_latin1")] : [])
    }
    var document = DocumentRequest(docType: docType, elements: elements, ageOver: ageOver)
    if !ageOver.isEmpty {
      document.proofs = try? ProofRequest(of: document, isRequired: false, circuits: KnownCircuit.all)
    }
    return document
  }

  // MARK: Responses

  /// A wallet's responses to a request, for every set of elements that a person may have.
  struct Outcome {
    /// The number of sufficient sets, the number of these with a full response, and the number of all sets with another
    /// response.
    private(set) var enough = 0, full = 0, partial = 0

    init(_ shape: Shape, _ request: WalletModel.Request, _ wallet: WalletModel) {
      for held in shape.holdings {
        let response = (try? wallet.answer(request, holding: held)) ?? [:]
        let acceptable = shape.acceptable(of: held)
        let isEnough = shape.request.requiresAllDocuments ? response.count == acceptable.count : !response.isEmpty
        let isFull = isEnough && response.allSatisfy { acceptable[$0.key] == $0.value }
        enough += acceptable.isEmpty ? 0 : 1
        full += !acceptable.isEmpty && isFull ? 1 : 0
        partial += !isFull && !response.isEmpty ? 1 : 0
      }
    }

    var text: String { (full == enough ? "all" : "\(full) of \(enough)") + (partial > 0 ? ", and in part" : "") }
  }

  /// Only the signed content matters here, not who signed it.
  private static func sign(_ request: PresentationRequest) throws -> [UInt8] {
    let mock = try MockAuthority(seed: [1]).reader(
      dnsName: "shop.example", at: Timestamp(secondsSince1970: 1_795_000_000))
    let reader = try ReaderIdentity(key: mock.key, certificates: mock.certificates.map { try Certificate(der: $0) })
    let transcript = try SessionTranscript(encoded: [0x83, 0xf6, 0xf6, 0x80])
    return try DeviceRequest(request, signedBy: reader, over: transcript).encoded
  }
}

extension ElementReference { fileprivate var path: [String] { [namespace, identifier] } }
